import { type InventoryItem, isPetstoreError, type Reason } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { State } from '../observable.ts'
import {
  adjustRows,
  type Batch,
  batchesOf,
  newBatch,
  type QuantityChange,
  sendBatch,
} from './adjustment-batch.ts'
import type { SaveContext } from './own-request.ts'
import type { StockRow } from './stock-model.ts'
import type { UndoHistory, UndoStep } from './undo-history.ts'

/** The state that the user saw when they decided on a change. */
export type EntryState = Pick<InventoryItem, 'quantity' | 'status'>

export type EditState =
  /** Steps of one that are collected into one change. */
  | { readonly kind: 'stepping'; readonly target: number; readonly delta: number; readonly reason: Reason }
  | { readonly kind: 'saving'; readonly target: number }
  /** `step` undoes it; `undefined` if nothing is left to undo. */
  | { readonly kind: 'saved'; readonly step: UndoStep | undefined }
  | {
      readonly kind: 'failed'
      readonly target: number
      readonly seen: EntryState
      readonly reason: string
      /** Set if the change was a difference. */
      readonly adjustment?: {
        readonly delta: number
        readonly reason: Reason
        readonly sent: Batch | undefined
      }
      /** The request to repeat first, if the change was a new quantity. */
      readonly unsettled?: Batch | undefined
    }
  | {
      readonly kind: 'conflict'
      readonly target: number
      readonly theirs: EntryState
      /** The row when the conflict was found, which may be older than `theirs`. */
      readonly row: StockRow | undefined
    }

export type Edits = ReadonlyMap<bigint, EditState>

const SAVED_FOR_MS = 2_500
/** Steps are sent when none follows within this time. */
const STEPS_MERGE_MS = 1_200
/** Arrow keys may pass several reasons before the right one. */
const REASON_CHOSEN_MS = 2_500
export const MAX_QUANTITY = Number.MAX_SAFE_INTEGER

/** Saves changes of single rows, one at a time for each pet, and reports the state of each. */
export class StockEditor extends State<Edits> {
  readonly #context: SaveContext
  readonly #history: UndoHistory
  /** The quantity to save after the one that is being saved. */
  readonly #next = new Map<bigint, number>()
  /** Removes the state `saved`, or sends collected steps. */
  readonly #timers = new Map<bigint, ReturnType<typeof setTimeout>>()

  constructor(context: SaveContext, history: UndoHistory) {
    super(new Map())
    this.#context = context
    this.#history = history
    context.stock.subscribe(() => this.#followConflicts())
  }

  /**
   * Sets the quantity if the entry still has the one that the user saw. `unsettled` is an earlier request without a
   * response, which is repeated first. Resolves when nothing is left to send.
   */
  async save(petId: bigint, target: number, seen: EntryState, unsettled?: Batch): Promise<EditState> {
    if (this.get().get(petId)?.kind === 'saving') {
      this.#next.set(petId, target)
      this.#show(petId, { kind: 'saving', target })
      return { kind: 'saving', target }
    }
    const made: QuantityChange[] = []
    let expected = seen.quantity
    let batch = unsettled ?? newSave(petId, target, expected)
    let wanted = quantityIn(batch)
    let outcome: Exclude<EditState, { kind: 'saving' }>
    if (wanted !== target) this.#next.set(petId, target)
    while (true) {
      this.#show(petId, { kind: 'saving', target: this.#next.get(petId) ?? wanted })
      try {
        const result = await saveIfUnchanged(this.#context, petId, batch)
        const next = this.#next.get(petId)
        if ('theirs' in result) {
          const row = this.#context.stock.find(petId)
          outcome = { kind: 'conflict', target: next ?? wanted, theirs: result.theirs, row }
          break
        }
        made.push(result.change)
        expected = result.change.after
        outcome = { kind: 'saved', step: undefined }
        this.#next.delete(petId)
        if (next === undefined || next === expected) break
        wanted = next
        batch = newSave(petId, wanted, expected)
      } catch (error) {
        if (this.#context.signal.aborted) return { kind: 'saving', target: wanted }
        const isUnsettled = isPetstoreError(error) && error.mayHaveBeenMade
        outcome = {
          kind: 'failed',
          target: this.#next.get(petId) ?? wanted,
          seen: { ...seen, quantity: expected },
          reason: failureWords(error),
          unsettled: isUnsettled ? { ...batch, isRepeat: true } : undefined,
        }
        break
      }
    }
    this.#next.delete(petId)
    const step = this.#history.record(made)
    if (outcome.kind === 'saved') outcome = { kind: 'saved', step }
    this.#context.stock.publishNow()
    this.#show(petId, outcome)
    return outcome
  }

  isSaving(): boolean {
    return [...this.get().values()].some(({ kind }) => kind === 'saving' || kind === 'stepping')
  }

  /** Changes the shown quantity, never below 0. Steps in quick succession are sent as one change. */
  step(petId: bigint, by: number): void {
    const row = this.#context.stock.find(petId)
    if (row === undefined) return
    const edit = this.get().get(petId)
    const shown = shownQuantity(row, edit)
    const target = Math.min(MAX_QUANTITY, Math.max(0, shown + by))
    if (target === shown) return
    if (edit?.kind === 'saving') return void this.save(petId, target, row)
    const before = edit?.kind === 'stepping' ? edit : { delta: 0, reason: 'corrected' as const }
    const delta = before.delta + target - shown
    // The reasons to add units are not those to take them.
    const reason = Math.sign(delta) === Math.sign(before.delta) ? before.reason : 'corrected'
    this.#show(petId, delta === 0 ? undefined : { kind: 'stepping', target, delta, reason })
    if (delta !== 0) this.#later(petId, STEPS_MERGE_MS, () => void this.sendSteps(petId))
  }

  setReason(petId: bigint, reason: Reason): void {
    const edit = this.get().get(petId)
    if (edit?.kind !== 'stepping') return
    this.#show(petId, { ...edit, reason })
    this.#later(petId, REASON_CHOSEN_MS, () => void this.sendSteps(petId))
  }

  /** Does not send the collected steps until `sendSteps`: the user is choosing a reason. */
  holdSteps(petId: bigint): void {
    if (this.get().get(petId)?.kind === 'stepping') clearTimeout(this.#timers.get(petId))
  }

  async sendSteps(petId: bigint): Promise<void> {
    const edit = this.get().get(petId)
    if (edit?.kind === 'stepping') await this.#adjust(petId, edit.delta, edit.reason)
  }

  /**
   * Changes the quantity by a difference, after the change that is being saved. It is right whatever others do, and
   * refused if too few are left.
   */
  async adjust(petId: bigint, delta: number): Promise<EditState | undefined> {
    await this.sendSteps(petId)
    await this.#whenSaved(petId)
    return this.#adjust(petId, delta, 'corrected')
  }

  /** `sent` is an earlier request without a response. */
  async #adjust(petId: bigint, delta: number, reason: Reason, sent?: Batch): Promise<EditState | undefined> {
    const { signal, stock } = this.#context
    const [batch] = sent === undefined ? batchesOf([{ petId, delta }], { reason }) : [sent]
    const seen = stock.find(petId)
    if (seen === undefined || batch === undefined) return undefined
    const target = seen.quantity + delta
    this.#show(petId, { kind: 'saving', target })
    const [made] = await adjustRows(this.#context, batch, { stop: new AbortController(), cancel: signal })
    if (made === undefined || signal.aborted) return undefined
    const next = this.#next.get(petId)
    this.#next.delete(petId)
    const outcome: EditState =
      'after' in made
        ? { kind: 'saved', step: this.#history.record([made]) }
        : {
            kind: 'failed',
            target,
            seen,
            reason: made.reason,
            adjustment: { delta, reason, sent: made.unsettled },
          }
    stock.publishNow()
    this.#show(petId, outcome)
    const now = stock.find(petId)
    return next === undefined || now === undefined ? outcome : this.save(petId, next, now)
  }

  /** Tries a failed change again, over the state that the user saw then. */
  async retry(petId: bigint): Promise<void> {
    const edit = this.get().get(petId)
    if (edit?.kind !== 'failed') return
    const { adjustment } = edit
    if (adjustment === undefined) await this.save(petId, edit.target, edit.seen, edit.unsettled)
    else await this.#adjust(petId, adjustment.delta, adjustment.reason, adjustment.sent)
  }

  /** Sets the user's quantity, but only over the one that the conflict showed. */
  async setMine(petId: bigint): Promise<void> {
    const edit = this.get().get(petId)
    if (edit?.kind !== 'conflict') return
    if (edit.target === edit.theirs.quantity) this.dismiss(petId)
    else await this.save(petId, edit.target, edit.theirs)
  }

  dismiss(petId: bigint): void {
    if (this.get().get(petId)?.kind !== 'saving') this.#show(petId, undefined)
  }

  /** A conflict ends when the pet has the user's quantity, or is gone. Until then it shows the latest quantity. */
  #followConflicts(): void {
    for (const [petId, edit] of this.get()) {
      if (edit.kind !== 'conflict') continue
      const row = this.#context.stock.find(petId)
      if (row === edit.row) continue
      const isOver = row === undefined || row.quantity === edit.target
      this.#show(petId, isOver ? undefined : { ...edit, theirs: row, row })
    }
  }

  async #whenSaved(petId: bigint): Promise<void> {
    while (this.get().get(petId)?.kind === 'saving') {
      await new Promise<void>((resolve) => {
        const unsubscribe = this.subscribe(() => {
          unsubscribe()
          resolve()
        })
      })
    }
  }

  #show(petId: bigint, state: EditState | undefined): void {
    clearTimeout(this.#timers.get(petId))
    this.#timers.delete(petId)
    const edits = new Map(this.get())
    if (state === undefined) edits.delete(petId)
    else edits.set(petId, state)
    this.setValue(edits)
    if (state?.kind === 'saved') this.#later(petId, SAVED_FOR_MS, () => this.#show(petId, undefined))
  }

  #later(petId: bigint, ms: number, run: () => void): void {
    clearTimeout(this.#timers.get(petId))
    this.#timers.set(petId, setTimeout(run, ms))
  }
}

/** The quantity that a row shows while it is changed. */
export function shownQuantity(
  { quantity }: Pick<StockRow, 'quantity'>,
  state: EditState | undefined,
): number {
  return state?.kind === 'saving' || state?.kind === 'stepping' ? state.target : quantity
}

function newSave(petId: bigint, quantity: number, expected: number): Batch {
  return newBatch([{ petId, quantity, expected }], { reason: 'corrected' })
}

function quantityIn({ changes }: Batch): number {
  const [change] = changes
  if (change === undefined || 'delta' in change) throw new Error('a saved quantity is one count')
  return change.quantity
}

/** Sets a quantity only if the entry still has the one that the user saw. Throws if the service does. */
async function saveIfUnchanged(
  context: SaveContext,
  petId: bigint,
  batch: Batch,
): Promise<{ readonly change: QuantityChange } | { readonly theirs: EntryState }> {
  const { client, stock, signal } = context
  try {
    const [change] = await sendBatch(context, batch)
    if (change === undefined) throw new Error('the adjustment has no line')
    return { change }
  } catch (error) {
    if (!isPetstoreError(error, 'precondition_failed')) throw error
  }
  const { quantity, status } = await client.inventory.get(petId, { signal })
  const isThere = quantity === quantityIn(batch)
  // While events arrive, they are newer than this response.
  if (stock.get().connection !== 'live') stock.apply({ petId, quantity, status }, !isThere)
  if (isThere) return { change: { petId, before: quantity, after: quantity, effect: 'applied' } }
  return { theirs: { quantity, status } }
}
