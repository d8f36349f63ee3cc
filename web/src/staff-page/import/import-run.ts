import { type FailedPart, isPetstoreError, type PetstoreClient, type PetUpsert } from '@petstore/client'
import { nameKey } from '../../../../server/src/core/transfer/rows.ts'
import type { Categories } from '../data/catalog/categories.ts'
import { catalogFailure } from '../data/failure-words.ts'
import { Observable, type Readable } from '../data/observable.ts'
import { adjustRows, batchesOf, GONE } from '../data/stock/adjustment-batch.ts'
import type { SaveContext } from '../data/stock/own-request.ts'
import type { Session } from '../session/session.ts'
import type { ImportPlan, PetBatch, PetLine } from './import-plan.ts'

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

interface ImportContext {
  readonly client: Pick<PetstoreClient, 'categories' | 'pets'>
  readonly saving: SaveContext
  readonly categories: Categories
}

/** The limit of the service for the reference of a change. */
const MAX_REFERENCE = 200

const runs = new WeakMap<Session, ImportRun>()

/** The import of a session. It continues while the user looks at another view. */
export function importOf(session: Session): ImportRun {
  const { client, saving, categories } = session
  const run = runs.get(session) ?? new ImportRun({ client, saving, categories })
  runs.set(session, run)
  return run
}

/** Imports the lines of a plan, batch by batch. If it is stopped, the saved batches stay saved. */
export class ImportRun implements Readable<ImportProgress | undefined> {
  readonly #progress = new Observable<ImportProgress | undefined>(undefined)
  readonly #context: ImportContext
  #stopping = new AbortController()
  /** The ids of the categories that the import has added, by the key of their name. */
  #newCategories = new Map<string, bigint>()

  readonly get = this.#progress.get
  readonly subscribe = this.#progress.subscribe

  constructor(context: ImportContext) {
    this.#context = context
  }

  isRunning(): boolean {
    const phase = this.get()?.phase
    return phase === 'running' || phase === 'stopping'
  }

  async start(plan: ImportPlan, fileName: string): Promise<void> {
    if (this.isRunning()) return
    this.#stopping = new AbortController()
    this.#progress.set({
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
    if (!this.isRunning()) this.#progress.set(undefined)
  }

  async #addCategories(plan: ImportPlan): Promise<void> {
    const { client, categories, saving } = this.#context
    this.#newCategories = new Map()
    for (const { id, name } of plan.categories) {
      if (this.#isStopped()) return
      try {
        const category = id === undefined ? { name } : { id, name }
        const added = await client.categories.create(category, { signal: saving.signal })
        this.#newCategories.set(nameKey(name), added.id)
        categories.take(added)
      } catch (error) {
        // Somebody else may have added the category meanwhile.
        if (!isPetstoreError(error, 'already_exists')) this.#stopping.abort(catalogFailure(error, 'pet'))
      }
    }
  }

  /** The service saves all pets of a batch or none. The lines that it refuses are taken out, and the rest is sent again. */
  async #savePets(batch: PetBatch): Promise<void> {
    const { client, saving } = this.#context
    let rest = this.#withoutOutdated(this.#withoutFailed(batch))
    while (rest.length > 0 && !this.#isStopped()) {
      try {
        const pets = rest.map((line) => this.#withCategory(line))
        await client.pets.upsert({ pets }, { signal: saving.signal })
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

  #withCategory({ pet, newCategory }: PetLine): PetUpsert {
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
    const { stock } = this.#context.saving
    const isOutdated = ({ pet: { id }, type }: PetLine) =>
      id !== undefined && (type === 'added') === (stock.find(id) !== undefined)
    this.#fail(
      batch.filter(isOutdated).map(({ line, name, pet, type }) => ({
        line,
        name,
        reason:
          type === 'added' ? `Somebody else added pet ${pet.id} meanwhile. Import the file again.` : GONE,
      })),
    )
    return batch.filter((line) => !isOutdated(line))
  }

  async #changeQuantities(plan: ImportPlan, fileName: string): Promise<void> {
    const { saving } = this.#context
    const lines = new Map(plan.lines.map((line) => [line.pet.id, line]))
    const changes = this.#withoutFailed(plan.lines).flatMap(({ quantity }) => quantity ?? [])
    const reference = fileName.replace(/\p{Cc}/gu, '').slice(0, MAX_REFERENCE)
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
    return this.#stopping.signal.aborted || this.#context.saving.signal.aborted
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
    if (before === undefined || this.#context.saving.signal.aborted) return
    const { signal } = this.#stopping
    this.#progress.set({
      ...before,
      ...changes,
      stoppedBy: signal.aborted ? String(signal.reason) : undefined,
    })
  }
}

/** How many lines need no further request. */
function completed(batch: PetBatch, type: PetLine['type']): number {
  return batch.filter((line) => line.type === type && line.isRelease !== true && line.quantity === undefined)
    .length
}

/** The lines that the service refuses; none if the whole request failed. */
function refusedLines(error: unknown, batch: PetBatch): readonly FailedLine[] {
  const details = isPetstoreError(error) ? error.details : []
  return details.flatMap((detail) => {
    const refused = batch[detail.index]
    if (refused === undefined) return []
    return [{ line: refused.line, name: refused.name, reason: refusalWords(detail, refused) }]
  })
}

function refusalWords({ field, message }: FailedPart, { pet }: PetLine): string {
  return field === 'categoryId' && pet.categoryId !== undefined
    ? `Category ${pet.categoryId} was removed meanwhile. Import the file again.`
    : message
}
