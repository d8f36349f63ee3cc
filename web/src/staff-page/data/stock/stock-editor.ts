import { isPetstoreError } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { Observable, type Readable } from '../observable.ts'
import { adjustRows, type Batch, batchesOf, type Purpose } from './adjustment-batch.ts'
import { type EntryState, saveIfUnchanged } from './conditional-save.ts'
import type { SaveContext } from './own-request.ts'
import type { UndoHistory, UndoStep } from './undo-history.ts'

/** How a change of one row stands. */
export type EditState =
  | { readonly kind: 'saving'; readonly target: number }
  /** `step` undoes it; `undefined` where nothing is left to undo. */
  | { readonly kind: 'saved'; readonly step: UndoStep | undefined }
  | {
      readonly kind: 'failed'
      readonly target: number
      readonly seen: EntryState
      readonly reason: string
      readonly undoes: UndoStep | undefined
      readonly unsettled: Unsettled | undefined
      /** Where it was to be changed by a difference. */
      readonly adjustment?: { readonly delta: number; readonly sent: Batch | undefined }
    }
  | { readonly kind: 'conflict'; readonly target: number; readonly theirs: EntryState }

/** An attempt that may have been made: sent again with its key, it tells, and is made once at most. */
interface Unsettled {
  readonly quantity: number
  readonly idempotencyKey: string
}

export type Edits = ReadonlyMap<bigint, EditState>

/** A difference that is typed into a row says no more than that. */
const CORRECTED: Purpose = { reason: 'corrected' }
/** How long a row says that it was saved. */
const SAVED_FOR_MS = 2_500
export const MAX_QUANTITY = Number.MAX_SAFE_INTEGER

interface SaveOptions {
  /** An undo is not recorded: undoing twice would do it again. It takes its step out of the history. */
  readonly undoes?: UndoStep | undefined
  /** What is to be settled first. */
  readonly unsettled?: Unsettled | undefined
}

/** Saves changes of single rows, one at a time for each pet, and tells how each stands. */
export class StockEditor implements Readable<Edits> {
  readonly #context: SaveContext
  readonly #history: UndoHistory
  readonly #edits = new Observable<Edits>(new Map())
  /** What a pet that is being saved is to be set to next. */
  readonly #next = new Map<bigint, number>()
  readonly #clearing = new Map<bigint, ReturnType<typeof setTimeout>>()

  readonly get = this.#edits.get
  readonly subscribe = this.#edits.subscribe

  constructor(context: SaveContext, history: UndoHistory) {
    this.#context = context
    this.#history = history
  }

  /** Sets the quantity if the entry still is what was seen. Resolves when nothing of it is under way any more. */
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
          outcome = { kind: 'conflict', target: this.#next.get(petId) ?? wanted, theirs: result.theirs }
          break
        }
        state = result.item
        // What is asked for while an undo is under way is a change of its own.
        if (undoes !== undefined && wanted === target) before = target
        outcome = { kind: 'saved', step: undefined }
      } catch (error) {
        if (this.#context.signal.aborted) return { kind: 'saving', target: wanted }
        const next = this.#next.get(petId) ?? wanted
        const failure = { target: next, seen: state, reason: failureWords(error) }
        outcome = {
          ...{ kind: 'failed', ...failure, undoes: next === target ? undoes : undefined },
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
    return [...this.get().values()].some(({ kind }) => kind === 'saving')
  }

  /** Adds to what the row shows, never below 0; quick steps are saved together. */
  async step(petId: bigint, delta: number): Promise<void> {
    const row = this.#context.stock.find(petId)
    if (row === undefined) return
    const edit = this.get().get(petId)
    const shown = edit?.kind === 'saving' ? edit.target : row.quantity
    const target = Math.min(MAX_QUANTITY, Math.max(0, shown + delta))
    if (target !== shown) await this.save(petId, target, row)
  }

  /**
   * Changes it by a difference, which is right whatever others do; refused where too few are left. It goes behind what
   * is being saved. `sent` is an earlier attempt that may have been made.
   */
  async adjust(petId: bigint, delta: number, sent?: Batch): Promise<EditState | undefined> {
    const { signal, stock } = this.#context
    await this.#whenSaved(petId)
    const [batch] = sent === undefined ? batchesOf([{ petId, delta }], CORRECTED) : [sent]
    const seen = stock.find(petId)
    if (seen === undefined || batch === undefined) return undefined
    const target = seen.quantity + delta
    this.#show(petId, { kind: 'saving', target })
    const [made] = await adjustRows(this.#context, batch, { begun: new AbortController(), letGo: signal })
    if (made === undefined || signal.aborted) return undefined
    const next = this.#next.get(petId)
    this.#next.delete(petId)
    const failure = { target, seen, undoes: undefined, unsettled: undefined }
    const outcome: EditState =
      'after' in made
        ? { kind: 'saved', step: this.#history.record([made]) }
        : { kind: 'failed', ...failure, reason: made.reason, adjustment: { delta, sent: made.unsettled } }
    stock.publishNow()
    this.#show(petId, outcome)
    const now = stock.find(petId)
    return next === undefined || now === undefined ? outcome : this.save(petId, next, now)
  }

  /** Tries once more what failed, on the state that the user saw then; what may have been made is settled first. */
  async retry(petId: bigint): Promise<void> {
    const edit = this.get().get(petId)
    if (edit?.kind !== 'failed') return
    if (edit.adjustment === undefined) await this.save(petId, edit.target, edit.seen, edit)
    else await this.adjust(petId, edit.adjustment.delta, edit.adjustment.sent)
  }

  /** Sets it after all, but only over what the conflict showed. */
  async setMine(petId: bigint): Promise<void> {
    const edit = this.get().get(petId)
    if (edit?.kind !== 'conflict') return
    if (edit.target === edit.theirs.quantity) this.dismiss(petId)
    else await this.save(petId, edit.target, edit.theirs)
  }

  /** Leaves the entry as it is. */
  dismiss(petId: bigint): void {
    if (this.get().get(petId)?.kind !== 'saving') this.#show(petId, undefined)
  }

  clear(): void {
    for (const timer of this.#clearing.values()) clearTimeout(timer)
    this.#clearing.clear()
    this.#next.clear()
    this.#edits.set(new Map())
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
    clearTimeout(this.#clearing.get(petId))
    this.#clearing.delete(petId)
    const edits = new Map(this.get())
    if (state === undefined) edits.delete(petId)
    else edits.set(petId, state)
    this.#edits.set(edits)
    if (state?.kind === 'saved') {
      this.#clearing.set(
        petId,
        setTimeout(() => this.#show(petId, undefined), SAVED_FOR_MS),
      )
    }
  }
}

function unsettledIn(error: unknown, quantity: number): Unsettled | undefined {
  if (!isPetstoreError(error) || !error.mayHaveBeenMade || error.idempotencyKey === undefined)
    return undefined
  return { quantity, idempotencyKey: error.idempotencyKey }
}
