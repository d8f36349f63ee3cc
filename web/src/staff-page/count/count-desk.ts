import { isPetstoreError } from '@petstore/client'
import { failureWords } from '../data/failure-words.ts'
import { Observable, type Readable } from '../data/observable.ts'
import { type Batch, MAX_CHANGES, newBatch, refusedOf, sendBatch } from '../data/stock/adjustment-batch.ts'
import type { SaveContext } from '../data/stock/own-request.ts'
import { MAX_QUANTITY } from '../data/stock/stock-editor.ts'
import type { QuantityChange } from '../data/stock/undo-history.ts'
import { readReference } from '../quantity/purpose-fields.tsx'
import type { CountEntry, CountHead, KeptCount } from './kept-count.ts'
import type { Scope } from './scope.ts'

export interface CountState {
  /** `undefined` where no count is under way. */
  readonly head: CountHead | undefined
  /** Not to be changed; `version` grows when it has changed. */
  readonly entries: ReadonlyMap<bigint, CountEntry>
  readonly version: number
  /** Those that the service did not change, since they are not what they were when they were counted. */
  readonly refused: ReadonlySet<bigint>
  /** How far applying it is; `undefined` where it is not being applied. */
  readonly applying: { readonly done: number; readonly total: number } | undefined
  /** Why it was not applied, or not all of it. */
  readonly failure: string | undefined
  /** False where this browser has no room to keep it. */
  readonly isKept: boolean
}

/** What to do with one that changed between counting and applying. */
export type Resolution =
  /** What changed was gone, or there, when it was counted: the count stands. */
  | 'as counted'
  /** It changed after it was counted: the difference that was found stands, on what there is now. */
  | 'keep the change'
  | 'count again'

interface DeskContext {
  readonly saving: SaveContext
  readonly kept: KeptCount
  /** Reads the stock anew, where no events tell of it. */
  readonly reloadStock: () => void
}

/**
 * A count under way. Every step is kept in the browser at once, so it goes on after a reload and without a network;
 * what is applied is kept under the key of its request before it is sent, and never applied twice.
 */
export class CountDesk implements Readable<CountState> {
  readonly #context: DeskContext
  readonly #state: Observable<CountState>
  #entries: Map<bigint, CountEntry>

  readonly get: () => CountState
  readonly subscribe: Readable<CountState>['subscribe']

  constructor(context: DeskContext) {
    this.#context = context
    const head = context.kept.readHead()
    this.#entries = head === undefined ? new Map() : context.kept.readEntries()
    this.#state = new Observable<CountState>({
      ...{ head, entries: this.#entries, version: 0, refused: new Set() },
      ...{ applying: undefined, failure: undefined, isKept: true },
    })
    this.get = this.#state.get
    this.subscribe = this.#state.subscribe
  }

  /** Takes over what another tab has made of it. */
  readonly readAgain = (): void => {
    if (this.get().applying !== undefined) return
    const head = this.#context.kept.readHead()
    this.#entries = head === undefined ? new Map() : this.#context.kept.readEntries()
    this.#change({ head })
  }

  begin(scope: Scope): void {
    this.#context.kept.clear()
    this.#entries = new Map()
    this.#keepHead({ scope, startedAt: Date.now(), reference: '', sent: undefined, applied: [] })
  }

  /** Ends it; what was not applied is given up. */
  end(): void {
    this.#context.kept.clear()
    this.#entries = new Map()
    this.#change({ head: undefined, failure: undefined, refused: new Set() })
  }

  setReference(reference: string): void {
    const { head } = this.get()
    if (head !== undefined) this.#keepHead({ ...head, reference })
  }

  /** One more of a pet was seen. Gives how many that are now. */
  addOne(petId: bigint): number | undefined {
    const before = this.#entries.get(petId)
    if (before === undefined || before.isApplied) return this.set(petId, 1)
    if (before.quantity === MAX_QUANTITY) return undefined
    this.#keepEntries([[petId, { ...before, quantity: before.quantity + 1 }]])
    return before.quantity + 1
  }

  /** So many are there. What the page shows of it now is what it was counted against. */
  set(petId: bigint, quantity: number): number | undefined {
    const row = this.#context.saving.stock.find(petId)
    if (row === undefined) return undefined
    this.#keepEntries([[petId, { quantity, expected: row.quantity, isApplied: false }]])
    return quantity
  }

  /** As if it had not been counted. */
  forget(petId: bigint): void {
    this.#keepEntries([[petId, undefined]])
  }

  resolve(petIds: readonly bigint[], resolution: Resolution): void {
    const { stock } = this.#context.saving
    this.#keepEntries(
      petIds.flatMap((petId): [bigint, CountEntry | undefined][] => {
        const entry = this.#entries.get(petId)
        const now = stock.find(petId)?.quantity
        if (entry === undefined || now === undefined || resolution === 'count again')
          return [[petId, undefined]]
        const quantity = resolution === 'as counted' ? entry.quantity : withChange(entry, now)
        return quantity === undefined ? [] : [[petId, { quantity, expected: now, isApplied: false }]]
      }),
    )
  }

  /** Whether it is not what it was when it was counted. */
  isChanged(petId: bigint, entry: CountEntry): boolean {
    if (entry.isApplied) return false
    const row = this.#context.saving.stock.find(petId)
    return row?.quantity !== entry.expected || this.get().refused.has(petId)
  }

  /** Applies all that was counted and has not changed since, as few requests as it takes, one after the other. */
  async apply(): Promise<void> {
    if (this.get().applying !== undefined || this.get().head === undefined) return
    const total = this.#entries.size - [...this.#entries.values()].filter(({ isApplied }) => isApplied).length
    let done = 0
    this.#change({ applying: { done, total }, failure: undefined })
    for (let batch = this.#next(); batch !== undefined; batch = this.#next()) {
      const isAnswered = await this.#send(batch)
      if (!isAnswered) break
      done += batch.changes.length
      this.#change({ applying: { done, total } })
    }
    this.#context.saving.stock.publishNow()
    this.#change({ applying: undefined })
  }

  /** What has no answer yet goes first, as it was; then those that can be applied. */
  #next(): Batch | undefined {
    const { head } = this.get()
    if (head === undefined || this.#context.saving.signal.aborted) return undefined
    if (head.sent !== undefined) return head.sent
    const ready = Array.from(this.#entries)
      .filter(([petId, entry]) => !entry.isApplied && !this.isChanged(petId, entry))
      .slice(0, MAX_CHANGES)
      .map(([petId, { quantity, expected }]) => ({ petId, quantity, expected }))
    if (ready.length === 0) return undefined
    return newBatch(ready, { reason: 'counted', reference: readReference(head.reference) })
  }

  /** Whether the service has answered: only then the next one may go. */
  async #send(batch: Batch): Promise<boolean> {
    const { saving } = this.#context
    this.#keepSent(batch)
    try {
      this.#made(await sendBatch(saving, batch, saving.signal))
      return true
    } catch (error) {
      const refused = refusedOf(error, batch)
      if (refused.size > 0) {
        this.#refuse(batch, new Set(Array.from(refused.keys(), ({ petId }) => petId)))
        return true
      }
      const isAnswered = isPetstoreError(error) && !error.mayHaveBeenMade
      if (isAnswered) this.#keepSent(undefined)
      else this.#keepSent({ ...batch, isRepeat: true })
      const what = isPetstoreError(error) ? failureWords(error) : 'No answer came.'
      const after = 'Some of it may have been applied: applying it again tells, and changes nothing twice.'
      this.#change({ failure: isAnswered ? what : `${what} ${after}` })
      return false
    }
  }

  #made(changes: readonly QuantityChange[]): void {
    const corrected = changes.filter(({ before, after }) => before !== after)
    const difference = corrected.reduce((sum, { before, after }) => sum + after - before, 0)
    const batch = { at: Date.now(), pets: changes.length, corrected: corrected.length, difference }
    this.#settle(changes)
    this.#keepSent(undefined, (head) => ({ ...head, applied: [...head.applied, batch] }))
  }

  /** Marks what the stock says by now; one that was counted anew meanwhile is not it. */
  #settle(changes: readonly Pick<QuantityChange, 'petId' | 'after'>[]): void {
    this.#keepEntries(
      changes.flatMap(({ petId, after }): [bigint, CountEntry][] => {
        const entry = this.#entries.get(petId)
        if (entry === undefined || entry.quantity !== after) return []
        return [[petId, { quantity: after, expected: after, isApplied: true }]]
      }),
    )
  }

  /** Where an answer was lost, what is as it was counted was applied then: there is nothing left to do. */
  #refuse({ changes, isRepeat }: Batch, refused: ReadonlySet<bigint>): void {
    const { stock } = this.#context.saving
    const there = changes.flatMap((change) => {
      const isThere = 'quantity' in change && stock.find(change.petId)?.quantity === change.quantity
      return isRepeat && isThere && refused.has(change.petId)
        ? [{ petId: change.petId, after: change.quantity }]
        : []
    })
    this.#settle(there)
    const settled = new Set(there.map(({ petId }) => petId))
    const left = [...refused].filter((petId) => !settled.has(petId))
    this.#keepSent(undefined)
    this.#change({ refused: new Set([...this.get().refused, ...left]) })
    if (stock.get().connection !== 'live') this.#context.reloadStock()
  }

  #keepSent(sent: Batch | undefined, and = (head: CountHead): CountHead => head): void {
    const { head } = this.get()
    if (head !== undefined) this.#keepHead(and({ ...head, sent }))
  }

  #keepHead(head: CountHead): void {
    const isKept = this.#context.kept.writeHead(head)
    this.#change({ head, ...(isKept ? {} : { isKept }) })
  }

  #keepEntries(changes: readonly (readonly [bigint, CountEntry | undefined])[]): void {
    const refused = new Set(this.get().refused)
    for (const [petId, entry] of changes) {
      if (entry === undefined) this.#entries.delete(petId)
      else this.#entries.set(petId, entry)
      refused.delete(petId)
    }
    const isKept = this.#context.kept.writeEntries(
      this.#entries,
      changes.map(([petId]) => petId),
    )
    this.#change({ refused, ...(isKept ? {} : { isKept }) })
  }

  #change(changes: Partial<CountState>): void {
    const before = this.get()
    this.#state.set({ ...before, ...changes, entries: this.#entries, version: before.version + 1 })
  }
}

/** The count with what changed since it was made; `undefined` where that would be less than nothing. */
export function withChange({ quantity, expected }: CountEntry, now: number): number | undefined {
  const changed = quantity + now - expected
  return changed >= 0 && changed <= MAX_QUANTITY ? changed : undefined
}
