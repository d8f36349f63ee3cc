import { isPetstoreError } from '@petstore/client'
import { failureWords } from '../session/failure-words.ts'
import { type EntryState, type SaveContext, saveIfUnchanged, sendOwn } from './conditional-save.ts'
import { Observable, type Readable } from './observable.ts'
import type { QuantityChange, UndoHistory, UndoStep } from './undo-history.ts'

export type BulkAction =
  | { readonly kind: 'set' | 'add' | 'subtract'; readonly amount: number }
  /** Each back to what it was. */
  | { readonly kind: 'undo'; readonly changes: readonly QuantityChange[] }

/** A pet that was not changed, or of which that is not known. */
export interface LeftOut {
  readonly petId: bigint
  readonly why: 'conflict' | 'failed' | 'stopped'
  readonly reason: string
  /** It may have been changed all the same. */
  readonly isUncertain?: true
}

export interface BulkProgress {
  readonly action: BulkAction
  readonly total: number
  readonly changed: number
  /** They had the quantity already. */
  readonly unchanged: number
  readonly leftOut: readonly LeftOut[]
  readonly phase: 'running' | 'stopping' | 'done'
  /** What undoes it, once it is done. */
  readonly step: UndoStep | undefined
}

interface Task {
  readonly petId: bigint
  readonly seen: EntryState
  /** What to set it to, or by how much to change it. */
  readonly target: number | { readonly delta: number }
}

interface Tally {
  readonly made: QuantityChange[]
  unchanged: number
  readonly leftOut: LeftOut[]
}

/** A browser has six connections to one host, and the event stream holds one of them. */
const AT_A_TIME = 4
/** How long a stop waits for what is on its way before it lets go of it. */
const STOP_GRACE_MS = 2_000
/** Often enough to see it move; a state for each of 10,000 rows would be drawn for nothing. */
const SHOW_EVERY_MS = 80

/** Changes several rows at once: one such job at a time, which can be stopped, and which tells what came of it. */
export class BulkChanges implements Readable<BulkProgress | undefined> {
  readonly #context: SaveContext
  readonly #history: UndoHistory
  readonly #progress = new Observable<BulkProgress | undefined>(undefined)
  #stopping = new AbortController()
  #lastShown = 0

  readonly get = this.#progress.get
  readonly subscribe = this.#progress.subscribe

  constructor(context: SaveContext, history: UndoHistory) {
    this.#context = context
    this.#history = history
  }

  /** Changes these pets. What they have now is what the user saw: a `set` leaves alone what others change meanwhile. */
  async run(action: BulkAction, petIds: Iterable<bigint>): Promise<void> {
    if (!this.isRunning()) await this.#run(action, petIds, [])
  }

  /** Each back to what it was, where nobody has changed it since. Where nothing came of it, it can be undone still. */
  async undo(step: UndoStep): Promise<void> {
    if (this.isRunning()) return
    const { changes } = step
    const { changed, leftOut } = await this.#run({ kind: 'undo', changes }, changes.map(petIdOf), [])
    if (changed > 0 || leftOut.every(({ why }) => why === 'conflict')) this.#history.take(step)
  }

  isRunning(): boolean {
    const phase = this.get()?.phase
    return phase === 'running' || phase === 'stopping'
  }

  /** `before` were left out of an earlier run, and are told of once more. */
  async #run(
    action: BulkAction,
    petIds: Iterable<bigint>,
    before: readonly LeftOut[],
  ): Promise<BulkProgress> {
    const tasks = this.#tasksOf(action, petIds)
    const stopping = new AbortController()
    this.#stopping = stopping
    const { signal } = this.#context
    const letGo = AbortSignal.any([signal, after(STOP_GRACE_MS, stopping.signal)])
    const tally: Tally = { made: [], unchanged: 0, leftOut: [...before] }
    const total = tasks.length + before.length
    const show = (phase: BulkProgress['phase'], step?: UndoStep): BulkProgress => {
      this.#lastShown = Date.now()
      const { made, unchanged, leftOut } = tally
      const counts = { total, changed: made.length, unchanged, leftOut: [...leftOut] }
      const progress = { action, ...counts, phase, step }
      if (!signal.aborted) this.#progress.set(progress)
      return progress
    }
    show('running')
    const waiting = tasks.values()
    const work = async () => {
      for (const task of waiting) {
        count(
          tally,
          stopping.signal.aborted ? notBegun(task, stopping.signal) : await this.#change(task, letGo),
        )
        if (Date.now() - this.#lastShown > SHOW_EVERY_MS)
          show(stopping.signal.aborted ? 'stopping' : 'running')
      }
    }
    await Promise.all(Array.from({ length: AT_A_TIME }, work))
    const isRecorded = action.kind !== 'undo' && !signal.aborted
    return show('done', isRecorded ? this.#history.record(tally.made) : undefined)
  }

  /** Begins no more changes; those that are on their way are waited for a moment. */
  stop(): void {
    const progress = this.get()
    if (progress?.phase !== 'running') return
    this.#stopping.abort('you stopped before its turn')
    this.#progress.set({ ...progress, phase: 'stopping' })
  }

  /** Those that were left out and may be tried again once more, on what they have now. */
  async retry(): Promise<void> {
    const progress = this.get()
    if (progress?.phase !== 'done') return
    const again = new Set(retryable(progress))
    const rest = progress.leftOut.filter((one) => !again.has(one))
    await this.#run(progress.action, [...again].map(petIdOf), rest)
  }

  clear(): void {
    if (this.get()?.phase === 'done' || this.#context.signal.aborted) this.#progress.set(undefined)
  }

  #tasksOf(action: BulkAction, petIds: Iterable<bigint>): Task[] {
    const undone = new Map(
      action.kind === 'undo' ? action.changes.map((change) => [change.petId, change]) : [],
    )
    return [...petIds].flatMap((petId): Task[] => {
      const seen = this.#context.stock.find(petId)
      if (seen === undefined) return []
      if (action.kind === 'set') return [{ petId, seen, target: action.amount }]
      if (action.kind === 'add') return [{ petId, seen, target: { delta: action.amount } }]
      if (action.kind === 'subtract') return [{ petId, seen, target: { delta: -action.amount } }]
      const change = undone.get(petId)
      if (change === undefined) return []
      const { status } = seen
      return [{ petId, seen: { quantity: change.after, status }, target: change.before }]
    })
  }

  /** Adding and taking is right whatever others do, so only a `set` can meet a conflict. */
  async #change({ petId, seen, target }: Task, signal: AbortSignal): Promise<QuantityChange | LeftOut> {
    try {
      if (typeof target === 'object') return await this.#adjust(petId, target.delta, signal)
      if (target === seen.quantity) return { petId, before: target, after: target }
      const outcome = await saveIfUnchanged(this.#context, { petId, quantity: target, seen, signal })
      if (outcome.kind === 'saved') return { petId, before: seen.quantity, after: target }
      const reason = `Somebody else set it to ${outcome.theirs.quantity} meanwhile; it was left at that.`
      return { petId, why: 'conflict', reason }
    } catch (error) {
      if (signal.aborted) {
        const reason = 'It was on its way when you stopped: it may have been changed or not.'
        return { petId, why: 'stopped', reason, isUncertain: true }
      }
      if (typeof target === 'object' && isPetstoreError(error) && error.mayHaveBeenMade) {
        const reason = 'No answer came, so it may have been changed or not. Look at the history of the pet.'
        return { petId, why: 'failed', reason, isUncertain: true }
      }
      // None of the others would fare better.
      if (isPetstoreError(error, 'forbidden')) this.#stopping.abort('this key may not change anything')
      if (isPetstoreError(error, 'insufficient_stock')) {
        const reason = `There were not enough to take ${-(target as { delta: number }).delta}.`
        return { petId, why: 'failed', reason }
      }
      return { petId, why: 'failed', reason: failureWords(error) }
    }
  }

  async #adjust(petId: bigint, delta: number, signal: AbortSignal): Promise<QuantityChange> {
    const { client, stock } = this.#context
    const guess = (stock.find(petId)?.quantity ?? 0) + delta
    const send = () => client.adjustInventory({ petId, delta }, { reason: 'corrected', signal })
    const { quantity } = await sendOwn(this.#context, petId, guess, send)
    return { petId, before: quantity - delta, after: quantity }
  }
}

/** Those that may be tried again: what may have been added must not be added once more, but it can be set. */
export function retryable({ action, leftOut }: BulkProgress): readonly LeftOut[] {
  const canRepeat = action.kind === 'set' || action.kind === 'undo'
  return leftOut.filter(({ isUncertain }) => canRepeat || !isUncertain)
}

function petIdOf({ petId }: { readonly petId: bigint }): bigint {
  return petId
}

function count(tally: Tally, result: QuantityChange | LeftOut): void {
  if ('why' in result) tally.leftOut.push(result)
  else if (result.before === result.after) tally.unchanged++
  else tally.made.push(result)
}

function notBegun({ petId }: Task, stopped: AbortSignal): LeftOut {
  return { petId, why: 'stopped', reason: `It was not changed: ${stopped.reason}.` }
}

/** Ends some time after another signal does. */
function after(ms: number, signal: AbortSignal): AbortSignal {
  const later = new AbortController()
  signal.addEventListener('abort', () => setTimeout(() => later.abort(), ms), { once: true })
  return later.signal
}
