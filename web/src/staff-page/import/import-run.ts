import { isPetstoreError, MAX_LENGTHS } from '@petstore/client'
import { nameKey } from '../../../../server/src/core/transfer/rows.ts'
import type { Categories } from '../data/catalog/categories.ts'
import { catalogFailure } from '../data/failure-words.ts'
import { State } from '../data/observable.ts'
import { adjustRows, batchesOf, GONE } from '../data/stock/adjustment-batch.ts'
import type { SaveContext } from '../data/stock/own-request.ts'
import { perSession } from '../session/work-frame.tsx'
import type { ImportPlan, PetBatch, PetFields, PetLine } from './import-plan.ts'

export interface FailedLine {
  readonly line: number
  readonly name: string
  readonly reason: string
}

export interface ImportProgress {
  readonly fileName: string
  readonly phase: 'running' | 'stopping' | 'done'
  /** How many pets the import adds or changes if no line fails. */
  readonly total: number
  readonly added: number
  readonly changed: number
  readonly failed: readonly FailedLine[]
  /** Why the import stopped early. */
  readonly stoppedBy: string | undefined
}

/** Imports the lines of a plan, batch by batch. If it is stopped, the saved batches stay saved. */
export class ImportRun extends State<ImportProgress | undefined> {
  readonly #saving: SaveContext
  readonly #categories: Categories
  #stopping = new AbortController()
  /** The ids of the categories that the import has added, by the key of their name. */
  #newCategories = new Map<string, bigint>()

  constructor(saving: SaveContext, categories: Categories) {
    super(undefined)
    this.#saving = saving
    this.#categories = categories
  }

  isRunning(): boolean {
    const phase = this.get()?.phase
    return phase === 'running' || phase === 'stopping'
  }

  async start(plan: ImportPlan, fileName: string): Promise<void> {
    if (this.isRunning()) return
    this.#stopping = new AbortController()
    this.setValue({
      fileName,
      phase: 'running',
      total: plan.lines.length,
      added: 0,
      changed: 0,
      failed: [],
      stoppedBy: undefined,
    })
    const askBeforeLeaving = (event: BeforeUnloadEvent) => event.preventDefault()
    globalThis.addEventListener?.('beforeunload', askBeforeLeaving)
    try {
      await this.#addCategories(plan)
      for (const batch of plan.batches) await this.#savePets(batch)
      await this.#changeQuantities(plan, fileName)
    } finally {
      globalThis.removeEventListener?.('beforeunload', askBeforeLeaving)
      this.#update({ phase: 'done' })
    }
  }

  /** Sends no further request; waits for the response to the current one. */
  stop(): void {
    if (this.get()?.phase !== 'running') return
    this.#stopping.abort('you stopped it')
    this.#update({ phase: 'stopping' })
  }

  /** Forgets the finished import, so that the view offers the next one. */
  clear(): void {
    if (!this.isRunning()) this.setValue(undefined)
  }

  async #addCategories(plan: ImportPlan): Promise<void> {
    const { client, signal } = this.#saving
    this.#newCategories = new Map()
    for (const { id, name } of plan.categories) {
      if (this.#isStopped()) return
      try {
        const added = await client.categories.create({ id, name }, { signal })
        this.#newCategories.set(nameKey(name), added.id)
        this.#categories.take(added)
      } catch (error) {
        // Somebody else may have added the category meanwhile. Its id is known only if the file has it.
        if (id === undefined || !isPetstoreError(error, 'already_exists'))
          this.#stopping.abort(catalogFailure(error, 'category'))
      }
    }
  }

  /** The service saves all pets of a batch or none. The lines that it refuses are taken out, and the rest is sent again. */
  async #savePets(batch: PetBatch): Promise<void> {
    const { client, signal } = this.#saving
    let rest = this.#withoutOutdated(this.#withoutFailed(batch))
    while (rest.length > 0 && !this.#isStopped()) {
      try {
        const pets = rest.map((line) => this.#withCategory(line))
        await client.pets.upsert({ pets }, { signal })
        this.#count({ added: completed(rest, 'added'), changed: completed(rest, 'changed') })
        return
      } catch (error) {
        const refused = refusedLines(error, rest)
        if (refused.length === 0) this.#stopping.abort(catalogFailure(error, 'pet'))
        this.#fail(refused)
        rest = this.#withoutFailed(rest)
      }
    }
  }

  #withCategory({ pet, newCategory }: PetLine): PetFields {
    if (newCategory === undefined) return pet
    const categoryId = this.#newCategories.get(nameKey(newCategory))
    if (categoryId === undefined) throw new Error(`the category ${newCategory} was not added`)
    return { ...pet, categoryId }
  }

  #withoutFailed<Line extends { readonly line: number }>(lines: readonly Line[]): readonly Line[] {
    const failed = new Set(this.get()?.failed.map(({ line }) => line))
    return lines.filter(({ line }) => !failed.has(line))
  }

  /** A batch would overwrite a pet that somebody else added meanwhile, and add a removed pet again. */
  #withoutOutdated(batch: PetBatch): PetBatch {
    const { stock } = this.#saving
    const isOutdated = ({ pet: { id }, type }: PetLine) =>
      id !== undefined && (type === 'added') === (stock.find(id) !== undefined)
    const outdated = batch.filter(isOutdated)
    this.#fail(
      outdated.map(({ line, name, pet, type }) => {
        const existing = `Somebody else added pet ${pet.id} meanwhile. Import the file again.`
        return { line, name, reason: type === 'added' ? existing : GONE }
      }),
    )
    return batch.filter((line) => !outdated.includes(line))
  }

  async #changeQuantities(plan: ImportPlan, fileName: string): Promise<void> {
    const saving = this.#saving
    const lines = new Map(plan.lines.map((line) => [line.pet.id, line]))
    const changes = this.#withoutFailed(plan.lines).flatMap(({ quantity }) => quantity ?? [])
    const reference = fileName.replace(/\p{Cc}/gu, '').slice(0, MAX_LENGTHS.InventoryAdjustment.reference)
    for (const batch of batchesOf(changes, { reason: 'corrected', reference })) {
      if (this.#isStopped()) break
      const outcomes = await adjustRows(saving, batch, { stop: this.#stopping, cancel: saving.signal })
      const failed = outcomes.flatMap((outcome) => {
        const line = lines.get(outcome.petId)
        if (!('why' in outcome) || line === undefined) return []
        return [{ line: line.line, name: line.name, reason: outcome.reason }]
      })
      this.#count({ added: 0, changed: outcomes.length - failed.length })
      this.#fail(failed)
    }
    saving.stock.publishNow()
  }

  #isStopped(): boolean {
    return this.#stopping.signal.aborted || this.#saving.signal.aborted
  }

  #count(saved: Pick<ImportProgress, 'added' | 'changed'>): void {
    const { added = 0, changed = 0 } = this.get() ?? {}
    this.#update({ added: added + saved.added, changed: changed + saved.changed })
  }

  #fail(lines: readonly FailedLine[]): void {
    this.#update({ failed: [...(this.get()?.failed ?? []), ...lines] })
  }

  #update(changes: Partial<ImportProgress>): void {
    const before = this.get()
    if (before === undefined || this.#saving.signal.aborted) return
    const { signal } = this.#stopping
    this.setValue({
      ...before,
      ...changes,
      stoppedBy: signal.aborted ? String(signal.reason) : undefined,
    })
  }
}

/** The import of a session. It continues while the user looks at another view. */
export const importOf = perSession(({ saving, categories }) => new ImportRun(saving, categories))

/** How many lines need no further request. */
function completed(batch: PetBatch, type: PetLine['type']): number {
  return batch.filter((line) => line.type === type && line.isRelease !== true && line.quantity === undefined)
    .length
}

/** The lines that the service refuses; none if the whole request failed. */
function refusedLines(error: unknown, batch: PetBatch): readonly FailedLine[] {
  const details = isPetstoreError(error) ? error.details : []
  return details.flatMap(({ index, field, message }) => {
    const refused = batch[index]
    if (refused === undefined) return []
    const { line, name, pet } = refused
    const removed = `Category ${pet.categoryId} was removed meanwhile. Import the file again.`
    const isRemoved = field === 'categoryId' && pet.categoryId !== undefined
    return [{ line, name, reason: isRemoved ? removed : message }]
  })
}
