import { type ErrorDetail, isPetstoreError } from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { State } from '../observable.ts'
import {
  type Batch,
  batchesOf,
  GONE,
  type Purpose,
  type QuantityChange,
  type RowChange,
  refusalWords,
  sendPossible,
} from './adjustment-batch.ts'
import type { SaveContext } from './own-request.ts'
import type { UndoHistory, UndoStep } from './undo-history.ts'

export interface BulkAction {
  readonly kind: 'set' | 'add' | 'subtract'
  readonly amount: number
  readonly purpose: Purpose
}

/** A pet that was not changed, or may not have been. */
export interface LeftOut {
  readonly petId: bigint
  readonly reason: string
}

export interface BulkProgress {
  readonly total: number
  readonly changed: number
  /** How many had the quantity already. */
  readonly unchanged: number
  readonly leftOut: readonly LeftOut[]
  readonly phase: 'running' | 'done'
  /** Undoes the change, once it is done. */
  readonly step: UndoStep | undefined
}

/** Changes several rows at once. One job runs at a time, and reports its outcome. */
export class BulkChanges extends State<BulkProgress | undefined> {
  readonly #context: SaveContext
  readonly #history: UndoHistory

  constructor(context: SaveContext, history: UndoHistory) {
    super(undefined)
    this.#context = context
    this.#history = history
  }

  isRunning(): boolean {
    return this.get()?.phase === 'running'
  }

  clear(): void {
    if (!this.isRunning()) this.setValue(undefined)
  }

  /** Changes these pets. A `set` leaves pets alone that others change meanwhile. */
  async run(action: BulkAction, petIds: Iterable<bigint>): Promise<void> {
    if (this.isRunning()) return
    const { stock, signal } = this.#context
    const made: QuantityChange[] = []
    const leftOut: LeftOut[] = []
    const changes: RowChange[] = []
    let unchanged = 0
    for (const petId of petIds) {
      const seen = stock.find(petId)
      const change = seen === undefined ? undefined : changeOf(action, petId, seen.quantity)
      if (seen === undefined) leftOut.push({ petId, reason: GONE })
      else if (change === undefined) unchanged++
      else changes.push(change)
    }
    const total = changes.length + unchanged + leftOut.length
    const show = (phase: BulkProgress['phase'], step?: UndoStep) => {
      const counts = { total, changed: made.length, unchanged, leftOut: [...leftOut] }
      if (!signal.aborted) this.setValue({ ...counts, phase, step })
    }
    for (const batch of batchesOf(changes, action.purpose)) {
      show('running')
      const outcome = await this.#send(batch)
      made.push(...outcome.made)
      leftOut.push(...outcome.leftOut)
      if (outcome.isLast) break
    }
    const handled = new Set([...made, ...leftOut].map(({ petId }) => petId))
    for (const { petId } of changes) if (!handled.has(petId)) leftOut.push({ petId, reason: NOT_SENT })
    stock.publishNow()
    show('done', signal.aborted ? undefined : this.#history.record(made))
  }

  async #send(batch: Batch): Promise<Outcome> {
    try {
      const { made, skipped } = await sendPossible(this.#context, batch)
      return { made, leftOut: skipped.flatMap((detail) => refusalOf(batch, detail)), isLast: false }
    } catch (error) {
      const details = isPetstoreError(error) ? error.details : []
      const refused = new Map(details.map((detail) => [detail.index, detail]))
      const leftOut = batch.changes.map((change, index): LeftOut => {
        const detail = refused.get(index)
        const reason = detail === undefined ? notChangedWords(error) : refusalWords(change, detail)
        return { petId: change.petId, reason }
      })
      return { made: [], leftOut, isLast: details.length === 0 }
    }
  }
}

interface Outcome {
  readonly made: readonly QuantityChange[]
  readonly leftOut: readonly LeftOut[]
  /** The request failed for a reason that is not about its pets, so no other is sent. */
  readonly isLast: boolean
}

const NOT_SENT = 'It was not changed, because an earlier request failed.'

function refusalOf({ changes }: Batch, detail: ErrorDetail): LeftOut[] {
  const change = changes[detail.index]
  return change === undefined ? [] : [{ petId: change.petId, reason: refusalWords(change, detail) }]
}

/** `undefined` if the row already has the quantity. */
function changeOf({ kind, amount }: BulkAction, petId: bigint, seen: number): RowChange | undefined {
  if (kind === 'set') return seen === amount ? undefined : { petId, quantity: amount, expected: seen }
  return amount === 0 ? undefined : { petId, delta: kind === 'add' ? amount : -amount }
}

/** Why a change was not made that the service did not refuse itself. */
function notChangedWords(error: unknown): string {
  if (!isPetstoreError(error)) return failureWords(error)
  if (error.mayHaveBeenMade) return 'It may have been changed. Look at its history before you try again.'
  return error.details.length > 0 ? 'It was not changed, because others were refused.' : failureWords(error)
}
