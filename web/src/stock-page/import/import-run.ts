import { isPetstoreError, type PetstoreClient } from '@petstore/client'
import { catalogFailure } from '../pets/catalog-failure.ts'
import type { Categories } from '../pets/categories.ts'
import { adjustRows, batchesOf } from '../stock/adjustment-batch.ts'
import { Observable, type Readable } from '../stock/observable.ts'
import type { SaveContext } from '../stock/own-request.ts'
import { requestsOf } from './import-cost.ts'
import type { ImportPlan } from './import-plan.ts'

export interface FailedLine {
  readonly line: number
  readonly name: string
  readonly reason: string
}

export interface ImportProgress {
  readonly fileName: string
  readonly phase: 'running' | 'stopping' | 'done'
  /** Requests, done and to be done. */
  readonly done: number
  readonly total: number
  readonly added: number
  readonly changed: number
  readonly failed: readonly FailedLine[]
  /** Why it ended before its end. */
  readonly stoppedBy: string | undefined
}

interface ImportContext {
  readonly client: Pick<PetstoreClient, 'categories' | 'pets'>
  readonly saving: SaveContext
  readonly categories: Categories
}

/** One request for one line; what it brings is counted where it succeeds. */
interface Step {
  readonly line: number
  readonly name: string
  readonly act: () => Promise<unknown>
  readonly counts?: 'added' | 'changed'
}

/** So that a way that is long does not add up. */
const AT_A_TIME = 4
/** How long the reference of a change may be. */
const MAX_REFERENCE = 200

/** Brings the lines of a plan into the store, one after the other: it can be stopped, and what is in stays in. */
export class ImportRun implements Readable<ImportProgress | undefined> {
  readonly #progress = new Observable<ImportProgress | undefined>(undefined)
  readonly #context: ImportContext
  #stopping = new AbortController()

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
      ...{ fileName, phase: 'running', done: 0, total: requestsOf(plan) },
      ...{ added: 0, changed: 0, failed: [], stoppedBy: undefined },
    })
    const leaving = (event: BeforeUnloadEvent) => event.preventDefault()
    globalThis.addEventListener?.('beforeunload', leaving)
    try {
      // Each needs what came before it: a category its pets, a barcode that somebody lets go of.
      for (const steps of this.#stepsOf(plan)) await this.#work(steps)
      await this.#changeQuantities(plan, fileName)
    } finally {
      globalThis.removeEventListener?.('beforeunload', leaving)
      this.#update({ phase: 'done' })
    }
  }

  /** Begins nothing more; what is on its way is waited for. */
  stop(): void {
    if (this.get()?.phase !== 'running') return
    this.#stopping.abort('you stopped it')
    this.#update({ phase: 'stopping' })
  }

  /** Makes room for another one. */
  clear(): void {
    if (!this.isRunning()) this.#progress.set(undefined)
  }

  #stepsOf({ categories, releases, changed, added }: ImportPlan): readonly (readonly Step[])[] {
    const { client, categories: known } = this.#context
    const lineOf = new Map(changed.map(({ petId, line, name }) => [petId, { line, name }]))
    return [
      categories.map((id) => ({
        ...{ line: 0, name: `Category ${id}` },
        act: async () => known.take(await client.categories.create({ id, name: `Category ${id}` })),
      })),
      releases.map((petId) => ({
        ...(lineOf.get(petId) ?? { line: 0, name: `Pet ${petId}` }),
        act: () => client.pets.update(petId, { barcode: null }),
      })),
      changed
        .filter(({ update }) => Object.keys(update).length > 0)
        .map(({ line, name, petId, update, quantity }) => ({
          ...{ line, name, act: () => client.pets.update(petId, update) },
          // One whose quantity is to change as well is counted with that.
          ...(quantity === undefined ? { counts: 'changed' as const } : {}),
        })),
      added.map(({ line, pet }) => ({
        ...{ line, name: pet.name, act: () => client.pets.create(pet), counts: 'added' as const },
      })),
    ]
  }

  async #work(steps: readonly Step[]): Promise<void> {
    const left = [...steps]
    const worker = async () => {
      for (let step = left.shift(); step !== undefined; step = left.shift()) {
        if (this.#isOver()) return
        await this.#make(step)
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, worker))
  }

  async #make({ line, name, act, counts }: Step): Promise<void> {
    try {
      await act()
      this.#count(1, counts === undefined ? {} : { [counts]: 1 })
    } catch (error) {
      if (isGeneral(error)) this.#stopping.abort(catalogFailure(error, 'pet'))
      this.#count(1, {}, [{ line, name, reason: catalogFailure(error, 'pet') }])
    }
  }

  async #changeQuantities({ changed }: ImportPlan, fileName: string): Promise<void> {
    const { saving } = this.#context
    const lines = new Map(changed.map((one) => [one.petId, one]))
    const changes = changed.flatMap(({ quantity }) => quantity ?? [])
    const reference = fileName.replace(/\p{Cc}/gu, '').slice(0, MAX_REFERENCE)
    for (const batch of batchesOf(changes, { reason: 'corrected', reference })) {
      if (this.#isOver()) return
      const stopping = { begun: this.#stopping, letGo: saving.signal }
      const outcomes = await adjustRows(saving, batch, stopping)
      const failed = outcomes.flatMap((outcome) =>
        'why' in outcome ? [{ ...nameIn(lines, outcome.petId), reason: outcome.reason }] : [],
      )
      this.#count(1, { changed: outcomes.length - failed.length }, failed)
    }
    saving.stock.publishNow()
  }

  #isOver(): boolean {
    return this.#stopping.signal.aborted || this.#context.saving.signal.aborted
  }

  #count(
    done: number,
    made: { readonly added?: number; readonly changed?: number },
    failed: readonly FailedLine[] = [],
  ): void {
    const before = this.get()
    if (before === undefined) return
    this.#update({
      done: before.done + done,
      added: before.added + (made.added ?? 0),
      changed: before.changed + (made.changed ?? 0),
      failed: failed.length === 0 ? before.failed : [...before.failed, ...failed],
    })
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

/** None of the other lines would fare better. */
function isGeneral(error: unknown): boolean {
  return (
    isPetstoreError(error) &&
    ['forbidden', 'unauthorized', 'connection_failed', 'service_unavailable', 'key_banned'].includes(
      error.code,
    )
  )
}

function nameIn(
  lines: ReadonlyMap<bigint, { readonly line: number; readonly name: string }>,
  petId: bigint,
): { readonly line: number; readonly name: string } {
  const { line, name } = lines.get(petId) ?? { line: 0, name: `Pet ${petId}` }
  return { line, name }
}
