import { MAX_LENGTHS } from '@petstore/client'
import { Draft, type DraftFormat } from '../data/draft.ts'
import { KeptWork, keptCount, keptFields, keptId, keptRows, keptText } from '../data/kept-work.ts'
import { Observable } from '../data/observable.ts'
import type { Batch, QuantityChange } from '../data/stock/adjustment-batch.ts'
import type { SaveContext } from '../data/stock/own-request.ts'
import { MAX_QUANTITY } from '../data/stock/stock-editor.ts'
import { readReference } from '../quantity/purpose-fields.tsx'
import type { KeyOwner } from '../session/session.ts'
import { perSession } from '../session/work-frame.tsx'
import type { CountEntry, Scope } from './scope.ts'

export interface CountHead {
  readonly scope: Scope
  /** The expected stock is hidden until the review. */
  readonly isBlind: boolean
  readonly reference: string
}

export interface AppliedBatch {
  readonly changes: readonly QuantityChange[]
}

/** What to do with a pet whose stock changed between counting and applying. */
export type Resolution =
  /** The stock changed before the pet was counted: the count is right. */
  | 'as counted'
  /** The stock changed after the pet was counted: the difference that was found is applied to the new stock. */
  | 'keep the change'
  | 'count again'

const FORMAT: DraftFormat<CountEntry, CountHead> = {
  reason: 'counted',
  parts: 64,
  writeLine: ({ quantity, expected, isApplied }) => [quantity, expected, isApplied ? 1 : 0],
  readLine: ([counted, seen, isApplied]) => {
    const quantity = keptCount(counted)
    const expected = keptCount(seen)
    if (quantity === undefined || expected === undefined) return undefined
    return { quantity, expected, isApplied: isApplied === 1 }
  },
  writeHead: ({ scope, isBlind, reference }) => ({ scope: writeScope(scope), isBlind, reference }),
  readHead: ({ scope, isBlind, reference }) => {
    const known = readScope(scope)
    if (known === undefined) return undefined
    return { scope: known, isBlind: isBlind === true, reference: keptText(reference) }
  },
}

export class CountDraft extends Draft<CountEntry, CountHead> {
  /** The adjustments that were made since the page was loaded. */
  readonly applied = new Observable<readonly AppliedBatch[]>([])
  /** `undefined` unless the count is being applied. */
  readonly progress = new Observable<{ readonly done: number; readonly total: number } | undefined>(undefined)
  readonly #reloadStock: () => void

  constructor(saving: SaveContext, kept: KeptWork, reloadStock: () => void) {
    super(saving, kept, FORMAT)
    this.#reloadStock = reloadStock
  }

  begin(scope: Scope, isBlind = false): void {
    this.clear()
    this.setHead({ scope, isBlind, reference: '' })
  }

  override clear(): void {
    super.clear()
    this.applied.set([])
  }

  setReference(reference: string): void {
    const { head } = this.get()
    if (head !== undefined) this.setHead({ ...head, reference })
  }

  /** Counts one more of a pet. Returns its count, or `undefined` if it cannot be counted. */
  addOne(petId: bigint): number | undefined {
    const entry = this.get().lines.get(petId)
    if (entry === undefined || entry.isApplied) return this.set(petId, 1)
    if (entry.quantity === MAX_QUANTITY) return undefined
    this.setLines([[petId, { ...entry, quantity: entry.quantity + 1 }]])
    return entry.quantity + 1
  }

  /** Sets the count of a pet, over the stock that the page shows now. */
  set(petId: bigint, quantity: number): number | undefined {
    const row = this.saving.stock.find(petId)
    if (row === undefined) return undefined
    this.setLines([[petId, { quantity, expected: row.quantity, isApplied: false }]])
    return quantity
  }

  remove(petId: bigint): void {
    this.setLines([[petId, undefined]])
  }

  resolve(petIds: readonly bigint[], resolution: Resolution): void {
    const { lines } = this.get()
    this.setLines(
      petIds.flatMap((petId): [bigint, CountEntry | undefined][] => {
        const entry = lines.get(petId)
        const now = this.saving.stock.find(petId)?.quantity
        if (entry === undefined || now === undefined || resolution === 'count again') {
          return [[petId, undefined]]
        }
        const quantity = resolution === 'as counted' ? entry.quantity : withChange(entry, now)
        return quantity === undefined ? [] : [[petId, { quantity, expected: now, isApplied: false }]]
      }),
    )
  }

  /** Whether the stock has changed since the pet was counted. */
  isChanged(petId: bigint, entry: CountEntry): boolean {
    if (entry.isApplied) return false
    return this.saving.stock.find(petId)?.quantity !== entry.expected || this.get().refused.has(petId)
  }

  /** Applies every count whose stock has not changed since, with as few requests as possible, one after the other. */
  async apply(): Promise<void> {
    if (this.progress.get() !== undefined || this.get().head === undefined) return
    const total = [...this.get().lines.values()].filter(({ isApplied }) => !isApplied).length
    let done = 0
    this.progress.set({ done, total })
    for (let batch = this.#nextBatch(); batch !== undefined; batch = this.#nextBatch()) {
      const isAnswered = await this.#sendBatch(batch)
      if (!isAnswered) break
      done += batch.changes.length
      this.progress.set({ done, total })
    }
    this.progress.set(undefined)
  }

  /** An adjustment was undone: its counts can be applied again. */
  reopen(batch: AppliedBatch): void {
    this.setLines(
      batch.changes.map(({ petId, before, after }) => [
        petId,
        { quantity: after, expected: before, isApplied: false },
      ]),
    )
    this.applied.set(this.applied.get().filter((other) => other !== batch))
  }

  /** A batch whose response was lost is sent again first. */
  #nextBatch(): Batch | undefined {
    const { head, sent, lines } = this.get()
    if (head === undefined || this.saving.signal.aborted) return undefined
    if (sent !== undefined) return sent
    const ready = Array.from(lines)
      .filter(([petId, entry]) => !entry.isApplied && !this.isChanged(petId, entry))
      .slice(0, MAX_LENGTHS.InventoryAdjustment.changes)
      .map(([petId, { quantity, expected }]) => ({ petId, quantity, expected }))
    return ready.length === 0 ? undefined : this.newBatch(ready, readReference(head.reference))
  }

  /** Returns whether the service has answered, so that the next batch may be sent. */
  async #sendBatch(batch: Batch): Promise<boolean> {
    const result = await this.send(batch, (changes) => {
      this.#markApplied(changes)
      this.applied.set([...this.applied.get(), { changes }])
    })
    if (result === 'refused') this.#settleRefused(batch)
    return result === 'made' || result === 'refused'
  }

  /** A pet that was counted again in the meantime is not applied yet. */
  #markApplied(
    changes: readonly (Pick<QuantityChange, 'petId' | 'after'> & Partial<QuantityChange>)[],
  ): void {
    const { lines } = this.get()
    this.setLines(
      changes.flatMap(({ petId, after, effect }): [bigint, CountEntry][] => {
        const isSettled = effect === 'superseded' || lines.get(petId)?.quantity === after
        if (!isSettled) return []
        return [[petId, { quantity: after, expected: after, isApplied: true }]]
      }),
    )
  }

  /** If a repeated batch is refused for a pet that is as counted, the first attempt has set it. */
  #settleRefused({ changes, isRepeat }: Batch): void {
    const { stock } = this.saving
    const { lines, refused } = this.get()
    if (isRepeat) {
      const settled = changes.flatMap(({ petId }) => {
        const counted = lines.get(petId)?.quantity
        const isSet = counted !== undefined && stock.find(petId)?.quantity === counted
        return isSet && refused.has(petId) ? [{ petId, after: counted }] : []
      })
      this.#markApplied(settled)
    }
    if (stock.get().connection !== 'live') this.#reloadStock()
  }
}

export const countOf = perSession(({ saving, feed }, owner: KeyOwner) => {
  const kept = new KeptWork(owner.id, 'count')
  const count = new CountDraft(saving, kept, () => void feed.reload())
  kept.onChangeElsewhere(count.reload, saving.signal)
  return count
})

/** The count plus the change of the stock since then; `undefined` if that is not a possible quantity. */
export function withChange({ quantity, expected }: CountEntry, now: number): number | undefined {
  const changed = quantity + now - expected
  return changed >= 0 && changed <= MAX_QUANTITY ? changed : undefined
}

function writeScope({ category, query }: Scope): unknown {
  return { category: category && [String(category.id), category.name], query }
}

function readScope(value: unknown): Scope | undefined {
  const { category, query } = keptFields(value)
  if (typeof query !== 'string') return undefined
  const [[id, name] = []] = keptRows([category])
  const categoryId = keptId(id)
  return { category: categoryId === undefined ? undefined : { id: categoryId, name: keptText(name) }, query }
}
