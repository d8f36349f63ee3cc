import { isPetstoreError, type Reason } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { State } from '../observable.ts'
import {
  type Batch,
  newBatch,
  type QuantityChange,
  type RowChange,
  refusalWords,
  refusedOf,
  sendBatch,
} from './adjustment-batch.ts'
import type { SaveContext } from './own-request.ts'
import type { StockRow } from './stock-model.ts'
import type { UndoHistory, UndoStep } from './undo-history.ts'

export type EditState =
  /** Steps of one that are collected into one change. */
  | { readonly kind: 'stepping'; readonly target: number; readonly delta: number; readonly reason: Reason }
  | { readonly kind: 'saving'; readonly target: number }
  /** `step` undoes it; `undefined` if nothing is left to undo. */
  | { readonly kind: 'saved'; readonly step: UndoStep | undefined }
  | FailedEdit
  | {
      readonly kind: 'conflict'
      readonly target: number
      /** The quantity that somebody else has set. */
      readonly theirs: number
      /** The row when the conflict was found, which may be older than `theirs`. */
      readonly row: StockRow | undefined
    }

interface FailedEdit {
  readonly kind: 'failed'
  readonly reason: string
  /** To send again. If its response was lost, it has the key of the first attempt. */
  readonly batch: Batch
  /** The quantity that was typed meanwhile, to be saved after it. */
  readonly typed: number | undefined
}

export type Edits = ReadonlyMap<bigint, EditState>

type Result =
  | { readonly type: 'made'; readonly change: QuantityChange }
  /** Somebody else changed it first; nothing was saved. */
  | { readonly type: 'conflict'; readonly theirs: number }
  | { readonly type: 'failed'; readonly reason: string; readonly unsettled?: Batch | undefined }

const UNSETTLED = 'It may have been changed: trying again tells, and changes it once at most.'
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
  /** The quantity to save after the change that is being saved. */
  readonly #next = new Map<bigint, number>()
  /** Removes the state `saved`, or sends collected steps. */
  readonly #timers = new Map<bigint, ReturnType<typeof setTimeout>>()

  constructor(context: SaveContext, history: UndoHistory) {
    super(new Map())
    this.#context = context
    this.#history = history
    context.stock.subscribe(() => this.#followConflicts())
  }

  /** Sets the quantity if it still is the one that the user saw. Resolves when nothing is left to send. */
  async save(petId: bigint, target: number, expected: number): Promise<EditState> {
    if (this.get().get(petId)?.kind === 'saving') {
      this.#next.set(petId, target)
      this.#show(petId, { kind: 'saving', target })
      return { kind: 'saving', target }
    }
    return this.#send(newBatch([{ petId, quantity: target, expected }], { reason: 'corrected' }))
  }

  /** Sends one change, and then the quantity that was typed meanwhile. */
  async #send(batch: Batch): Promise<EditState> {
    const { signal, stock } = this.#context
    const change = changeOf(batch)
    const { petId } = change
    const quantity = 'delta' in change ? (stock.find(petId)?.quantity ?? 0) + change.delta : change.quantity
    this.#show(petId, { kind: 'saving', target: this.#next.get(petId) ?? quantity })
    const result = await this.#resultOf(batch)
    const typed = this.#next.get(petId)
    this.#next.delete(petId)
    if (signal.aborted) return { kind: 'saving', target: typed ?? quantity }
    const step = result.type === 'made' ? this.#history.record([result.change]) : undefined
    stock.publishNow()
    const expected = this.#expectedAfter(petId, result)
    if (typed !== undefined && expected !== undefined && typed !== expected) {
      this.#show(petId, undefined)
      return this.save(petId, typed, expected)
    }
    const target = typed ?? quantity
    const state: EditState =
      result.type === 'made'
        ? { kind: 'saved', step }
        : result.type === 'conflict'
          ? { kind: 'conflict', target, theirs: result.theirs, row: stock.find(petId) }
          : {
              kind: 'failed',
              reason: result.reason,
              batch: result.unsettled ?? newBatch(batch.changes, batch.purpose),
              typed,
            }
    this.#show(petId, state)
    return state
  }

  /** The quantity that the user saw when they typed the next one; `undefined` if a conflict or a lost response comes first. */
  #expectedAfter(petId: bigint, result: Result): number | undefined {
    if (result.type === 'made') return result.change.after
    const isRefused = result.type === 'failed' && result.unsettled === undefined
    return isRefused ? this.#context.stock.find(petId)?.quantity : undefined
  }

  async #resultOf(batch: Batch): Promise<Result> {
    try {
      const [change] = await sendBatch(this.#context, batch)
      if (change === undefined) throw new Error('a change has no line')
      return { type: 'made', change }
    } catch (error) {
      const change = changeOf(batch)
      const detail = refusedOf(error, batch).get(change)
      if (detail?.code === 'precondition_failed' && 'quantity' in change) return this.#conflictOf(change)
      if (detail !== undefined) return { type: 'failed', reason: refusalWords(change, detail) }
      const reason = failureWords(error)
      if (!isPetstoreError(error) || !error.mayHaveBeenMade) return { type: 'failed', reason }
      return { type: 'failed', reason: `${reason} ${UNSETTLED}`, unsettled: { ...batch, isRepeat: true } }
    }
  }

  /** Reads the quantity that somebody else has set. */
  async #conflictOf({ petId, quantity }: RowChange & { readonly quantity: number }): Promise<Result> {
    const { client, signal, stock } = this.#context
    try {
      const current = await client.inventory.get(petId, { signal })
      // While events arrive, they are newer than this response.
      if (stock.get().connection !== 'live') stock.apply(current, true)
      const theirs = current.quantity
      if (theirs !== quantity) return { type: 'conflict', theirs }
      return { type: 'made', change: { petId, before: theirs, after: theirs, effect: 'applied' } }
    } catch (error) {
      return { type: 'failed', reason: failureWords(error) }
    }
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
    if (edit?.kind === 'saving') return void this.save(petId, target, row.quantity)
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
    if (edit?.kind === 'stepping')
      await this.#send(newBatch([{ petId, delta: edit.delta }], { reason: edit.reason }))
  }

  /**
   * Changes the quantity by a difference, after the change that is being saved. It is right whatever others do, and
   * refused if too few are left.
   */
  async adjust(petId: bigint, delta: number): Promise<EditState> {
    await this.sendSteps(petId)
    await this.#whenSaved(petId)
    return this.#send(newBatch([{ petId, delta }], { reason: 'corrected' }))
  }

  /** Tries a failed change again, over the quantity that the user saw then. */
  async retry(petId: bigint): Promise<void> {
    const edit = this.get().get(petId)
    if (edit?.kind !== 'failed') return
    if (edit.typed !== undefined) this.#next.set(petId, edit.typed)
    await this.#send(edit.batch)
  }

  /** Sets the user's quantity, but only over the one that the conflict showed. */
  async setMine(petId: bigint): Promise<void> {
    const edit = this.get().get(petId)
    if (edit?.kind !== 'conflict') return
    if (edit.target === edit.theirs) this.dismiss(petId)
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
      this.#show(petId, isOver ? undefined : { ...edit, theirs: row.quantity, row })
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

/** What the user wants instead of the present quantity: a quantity, or a difference. */
export function wantedBy({
  typed,
  batch,
}: FailedEdit): { readonly quantity: number } | { readonly delta: number } {
  return typed === undefined ? changeOf(batch) : { quantity: typed }
}

function changeOf({ changes: [change] }: Batch): RowChange {
  if (change === undefined) throw new Error('a batch has no change')
  return change
}
