import { MAX_LENGTHS } from '@petstore/client'
import { Observable } from '../data/observable.ts'
import { type QuantityChange, randomId } from '../data/stock/adjustment-batch.ts'
import { MAX_QUANTITY } from '../data/stock/stock-editor.ts'
import { showToast } from '../data/toasts.ts'
import { Draft, type WorkPlace } from '../data/work/draft.ts'
import type { WorkDocument } from '../data/work/work-document.ts'
import { readReference } from '../quantity/purpose-fields.tsx'
import { workPlaceOf } from '../session/device-work.ts'
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

/** What was counted. Without a head, no count was begun. */
export class CountDraft extends Draft<CountHead | undefined, CountEntry> {
  /** The adjustments that were made since the page was loaded. */
  readonly applied = new Observable<readonly AppliedBatch[]>([])
  /** `undefined` unless the count is being applied. */
  readonly progress = new Observable<{ readonly done: number; readonly total: number } | undefined>(undefined)
  readonly #reloadStock: () => void

  constructor(place: WorkPlace, reloadStock: () => void) {
    super(place, 'count', undefined)
    this.#reloadStock = reloadStock
    const leave = place.outbox.subscribe(() => this.#reopenRefused())
    place.saving.signal.addEventListener('abort', leave)
    this.#reopenRefused()
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
  isChanged(petId: bigint, { isApplied, expected }: CountEntry): boolean {
    if (isApplied) return false
    const isRefused = this.get().refusal?.pets.some((refused) => refused.petId === petId) === true
    return isRefused || this.saving.stock.find(petId)?.quantity !== expected
  }

  /** Applies every count whose stock has not changed since, with as few requests as possible, one after the other. */
  async apply(): Promise<void> {
    if (this.progress.get() !== undefined) return
    const total = [...this.get().lines.values()].filter(({ isApplied }) => !isApplied).length
    let done = 0
    this.progress.set({ done, total })
    for (let ready = this.#ready(); ready.length > 0; ready = this.#ready()) {
      if (!(await this.#applySome(ready))) break
      done += ready.length
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

  #ready(): readonly (readonly [bigint, CountEntry])[] {
    const { lines } = this.get()
    if (this.saving.signal.aborted) return []
    return [...lines]
      .filter(([petId, entry]) => !entry.isApplied && !this.isChanged(petId, entry))
      .slice(0, MAX_LENGTHS.InventoryAdjustment.changes)
  }

  /** Returns whether the service has answered, so that more may be sent. */
  async #applySome(ready: readonly (readonly [bigint, CountEntry])[]): Promise<boolean> {
    const { head, id: countId } = this.get()
    const id = randomId()
    const changes = ready.map(([petId, { quantity, expected }]) => ({ petId, quantity, expected }))
    const purpose = { reason: 'counted', reference: readReference(head?.reference ?? '') } as const
    const sent = this.sentWork(id, changes, purpose)
    const lines = new Map(ready)
    const outcome = await this.outbox.send(id, (documents) => {
      const draft = this.draftIn(documents)
      // Another tab has applied them.
      if (draft.id !== countId || ready.some(([petId]) => draft.lines.get(petId)?.isApplied !== false)) return
      documents.set(id, { slot: id, id, kind: 'count', head: countId, lines, sent })
      const refusal = draft.refusal && { ...draft.refusal, message: '' }
      documents.set(draft.slot, { ...draft, lines: withLines(draft.lines, lines, true), refusal })
    })
    if (outcome.type === 'waiting') {
      const text = 'The count is kept here, and applied when the service can be reached.'
      showToast({ name: 'work', text })
    } else if (outcome.type === 'booked') this.#showApplied(outcome.changes)
    else if (this.saving.stock.get().connection !== 'live') this.#reloadStock()
    return outcome.type === 'booked' || (outcome.type === 'refused' && outcome.refusal.pets.length > 0)
  }

  /** A pet that was counted again in the meantime is not applied yet. */
  #showApplied(changes: readonly QuantityChange[]): void {
    const { lines } = this.get()
    this.setLines(
      changes.flatMap(({ petId, after }): [bigint, CountEntry][] =>
        lines.get(petId)?.isApplied === true
          ? [[petId, { quantity: after, expected: after, isApplied: true }]]
          : [],
      ),
    )
    this.applied.set([...this.applied.get(), { changes }])
  }

  /** A refused document becomes part of the count again, even if another tab has sent it. */
  #reopenRefused(): void {
    const isRefused = ({ head, refusal }: WorkDocument, { id }: WorkDocument) =>
      refusal !== undefined && id !== '' && head === id
    const draft = this.get()
    if (![...this.outbox.get().values()].some((document) => isRefused(document, draft))) return
    void this.outbox.edit((documents) => {
      for (const document of [...documents.values()]) {
        const { lines, refusal, ...count } = this.draftIn(documents)
        if (!isRefused(document, { lines, ...count })) continue
        documents.delete(document.slot)
        const pets = [...(refusal?.pets ?? []), ...(document.refusal?.pets ?? [])]
        documents.set(count.slot, {
          ...count,
          // A document of this count has lines of this count.
          lines: withLines(lines, document.lines as typeof lines, false),
          refusal: document.refusal && { ...document.refusal, pets },
        })
      }
    })
  }
}

type Entries = ReadonlyMap<bigint, CountEntry>

function withLines(lines: Entries, changed: Entries, isApplied: boolean): Entries {
  return new Map([
    ...lines,
    ...Array.from(changed, ([petId, entry]) => [petId, { ...entry, isApplied }] as const),
  ])
}

export const countOf = perSession(
  (session, owner: KeyOwner) => new CountDraft(workPlaceOf(session, owner), () => void session.feed.reload()),
)

/** The count plus the change of the stock since then; `undefined` if that is not a possible quantity. */
export function withChange({ quantity, expected }: CountEntry, now: number): number | undefined {
  const changed = quantity + now - expected
  return changed >= 0 && changed <= MAX_QUANTITY ? changed : undefined
}
