import { entryTag, etagOf, type InventoryItem, isPetstoreError, type Reason } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { State } from '../observable.ts'
import { adjustRows, type Batch, batchesOf } from './adjustment-batch.ts'
import { type SaveContext, sendOwn } from './own-request.ts'
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
  | (SaveOptions & {
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
    })
  | {
      readonly kind: 'conflict'
      readonly target: number
      readonly theirs: EntryState
      /** The row when the conflict was found, which may be older than `theirs`. */
      readonly row: StockRow | undefined
    }

/** A request without a response. Sent again with its key, it takes effect at most once. */
interface Unsettled {
  readonly quantity: number
  readonly idempotencyKey: string
}

export type Edits = ReadonlyMap<bigint, EditState>

const SAVED_FOR_MS = 2_500
/** Steps are sent when none follows within this time. */
const STEPS_MERGE_MS = 1_200
/** Arrow keys may pass several reasons before the right one. */
const REASON_CHOSEN_MS = 2_500
export const MAX_QUANTITY = Number.MAX_SAFE_INTEGER

interface SaveOptions {
  /** An undo is not recorded; it removes its step from the history. */
  readonly undoes?: UndoStep | undefined
  /** The request to repeat first. */
  readonly unsettled?: Unsettled | undefined
}

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

  /** Sets the quantity if the entry still is in the state that the user saw. Resolves when nothing is left to send. */
  async save(
    petId: bigint,
    target: number,
    seen: EntryState,
    { undoes, unsettled }: SaveOptions = {},
  ): Promise<EditState> {
    if (this.get().get(petId)?.kind === 'saving') {
      this.#next.set(petId, target)
      this.#show(petId, { kind: 'saving', target })
      return { kind: 'saving', target }
    }
    let state = seen
    let wanted = unsettled?.quantity ?? target
    let idempotencyKey = unsettled?.idempotencyKey
    let before = seen.quantity
    let outcome: Exclude<EditState, { kind: 'saving' }>
    if (wanted !== target) this.#next.set(petId, target)
    do {
      this.#show(petId, { kind: 'saving', target: this.#next.get(petId) ?? wanted })
      try {
        const save = { petId, quantity: wanted, seen: state, idempotencyKey }
        const result = await saveIfUnchanged(this.#context, save)
        if (undoes !== undefined) this.#history.take(undoes)
        if (result.kind === 'conflict') {
          outcome = {
            kind: 'conflict',
            target: this.#next.get(petId) ?? wanted,
            theirs: result.theirs,
            row: this.#context.stock.find(petId),
          }
          break
        }
        state = result.item
        // A quantity that is typed during an undo is a change of its own.
        if (undoes !== undefined && wanted === target) before = target
        outcome = { kind: 'saved', step: undefined }
      } catch (error) {
        if (this.#context.signal.aborted) return { kind: 'saving', target: wanted }
        const next = this.#next.get(petId) ?? wanted
        outcome = {
          kind: 'failed',
          target: next,
          seen: state,
          reason: failureWords(error),
          undoes: next === target ? undoes : undefined,
          unsettled: unsettledIn(error, wanted),
        }
        break
      }
      idempotencyKey = undefined
      wanted = this.#next.get(petId) ?? state.quantity
      this.#next.delete(petId)
    } while (wanted !== state.quantity)
    this.#next.delete(petId)
    const step = this.#history.record([{ petId, before, after: state.quantity }])
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
    if (adjustment === undefined) await this.save(petId, edit.target, edit.seen, edit)
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

function unsettledIn(error: unknown, quantity: number): Unsettled | undefined {
  if (!isPetstoreError(error) || !error.mayHaveBeenMade || error.idempotencyKey === undefined)
    return undefined
  return { quantity, idempotencyKey: error.idempotencyKey }
}

type SaveOutcome =
  | { readonly kind: 'saved'; readonly item: InventoryItem }
  /** Somebody else changed it first; nothing was saved. */
  | { readonly kind: 'conflict'; readonly theirs: EntryState }

interface Save {
  readonly petId: bigint
  readonly quantity: number
  readonly seen: EntryState
  /** The key of an earlier attempt whose response was lost. */
  readonly idempotencyKey?: string | undefined
}

/** Sets a quantity only if the entry still is in the state that the user saw. Throws if the service does. */
async function saveIfUnchanged(context: SaveContext, save: Save): Promise<SaveOutcome> {
  const { client, stock, signal } = context
  const { petId, quantity, seen } = save
  const item = await write(context, save, entryTag(seen))
  if (item !== undefined) return { kind: 'saved', item }
  let current = await client.inventory.get(petId, { signal })
  if (current.quantity === seen.quantity && current.status === seen.status) {
    // It was changed and changed back, or the format of tags differs. The key of the first attempt would get 412 again.
    const second = await write(context, { petId, quantity, seen }, etagOf(current))
    if (second !== undefined) return { kind: 'saved', item: second }
    current = await client.inventory.get(petId, { signal })
  }
  // An earlier attempt may have been made, although its response was lost.
  const isThere = current.quantity === quantity
  // While events arrive, they are newer than this response.
  if (stock.get().connection !== 'live') stock.apply(current, !isThere)
  if (isThere) return { kind: 'saved', item: current }
  return { kind: 'conflict', theirs: { quantity: current.quantity, status: current.status } }
}

/** Returns `undefined` if the entry has another tag. */
async function write(
  context: SaveContext,
  { petId, quantity, idempotencyKey }: Save,
  ifMatch: string | undefined,
): Promise<InventoryItem | undefined> {
  const { client, signal } = context
  try {
    const [item] = await sendOwn(context, {
      targets: [{ petId, quantity }],
      isRepeat: idempotencyKey !== undefined,
      send: async () => [
        await client.inventory.set(petId, { quantity }, { ifMatch, idempotencyKey, signal }),
      ],
    })
    return item
  } catch (error) {
    if (isPetstoreError(error, 'precondition_failed')) return undefined
    throw error
  }
}
