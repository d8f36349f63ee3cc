import { Observable, type Readable } from '../observable.ts'
import {
  adjustRows,
  type Batch,
  batchesOf,
  GONE,
  isRemembered,
  type LeftOut,
  notBegun,
  type Purpose,
  type RowChange,
} from './adjustment-batch.ts'
import type { SaveContext } from './own-request.ts'
import type { QuantityChange, UndoHistory, UndoStep } from './undo-history.ts'

export type BulkAction =
  | { readonly kind: 'set' | 'add' | 'subtract'; readonly amount: number; readonly purpose: Purpose }
  /** Each back to what it was. */
  | { readonly kind: 'undo'; readonly step: UndoStep }

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

interface Tally {
  readonly made: QuantityChange[]
  unchanged: number
  readonly leftOut: LeftOut[]
}

/** What is to be sent, and what is known before anything is. */
interface Plan {
  readonly batches: readonly Batch[]
  readonly tally: Tally
}

/** How long a stop waits for what is on its way before it lets go of it. */
const STOP_GRACE_MS = 2_000
/** Changes several rows at once: one such job at a time, which can be stopped, and which tells what came of it. */
export class BulkChanges implements Readable<BulkProgress | undefined> {
  readonly #context: SaveContext
  readonly #history: UndoHistory
  readonly #progress = new Observable<BulkProgress | undefined>(undefined)
  #stopping = new AbortController()

  readonly get = this.#progress.get
  readonly subscribe = this.#progress.subscribe

  constructor(context: SaveContext, history: UndoHistory) {
    this.#context = context
    this.#history = history
  }

  /** Changes these pets. What they have now is what the user saw: a `set` leaves alone what others change meanwhile. */
  async run(action: BulkAction, petIds: Iterable<bigint>): Promise<void> {
    if (!this.isRunning()) await this.#run(action, this.#plan(action, petIds))
  }

  /** Each back to what it was, where nobody has changed it since. Where nothing came of it, it can be undone still. */
  async undo(step: UndoStep): Promise<void> {
    if (this.isRunning()) return
    const last = this.get()
    const isUnsettled = last?.leftOut.some(({ unsettled }) => unsettled !== undefined) === true
    if (isUnsettled && last.action.kind === 'undo' && last.action.step === step) return this.retry()
    await this.run({ kind: 'undo', step }, step.changes.map(petIdOf))
  }

  isRunning(): boolean {
    const phase = this.get()?.phase
    return phase === 'running' || phase === 'stopping'
  }

  async #run(action: BulkAction, { batches, tally }: Plan): Promise<void> {
    const begun = new AbortController()
    this.#stopping = begun
    const { signal } = this.#context
    const stopping = { begun, letGo: AbortSignal.any([signal, after(STOP_GRACE_MS, begun.signal)]) }
    const toSend = batches.reduce((sum, { changes }) => sum + changes.length, 0)
    const total = toSend + tally.unchanged + tally.leftOut.length
    const show = (phase: BulkProgress['phase'], step?: UndoStep) => {
      const { made, unchanged, leftOut } = tally
      const counts = { total, changed: made.length, unchanged, leftOut: [...leftOut] }
      if (!signal.aborted) this.#progress.set({ action, ...counts, phase, step })
    }
    for (const batch of batches) {
      show(begun.signal.aborted ? 'stopping' : 'running')
      const outcomes = begun.signal.aborted
        ? notBegun(batch.changes, stopping)
        : await adjustRows(this.#context, batch, stopping)
      for (const outcome of outcomes) count(tally, outcome)
    }
    this.#context.stock.publishNow()
    show('done', signal.aborted ? undefined : this.#record(action, tally))
  }

  /** Gives what undoes it. An undo takes out what it undid, or cannot undo any more. */
  #record(action: BulkAction, { made, leftOut }: Tally): UndoStep | undefined {
    if (action.kind !== 'undo') return this.#history.record(made, action.purpose.reference)
    const isOver = made.length > 0 || leftOut.every(({ why }) => why === 'conflict' || why === 'gone')
    if (isOver) this.#history.take(action.step)
    return undefined
  }

  /** Begins no more changes; those that are on their way are waited for a moment. */
  stop(): void {
    const progress = this.get()
    if (progress?.phase !== 'running') return
    this.#stopping.abort('you stopped before its turn')
    this.#progress.set({ ...progress, phase: 'stopping' })
  }

  /** Tries those again that were left out and may be: what is not settled as it was, all others on what they have now. */
  async retry(): Promise<void> {
    const progress = this.get()
    if (progress?.phase !== 'done') return
    const again = new Set(retryable(progress))
    const unsettled = new Set([...again].flatMap((one) => one.unsettled ?? []))
    const anew = [...again].filter((one) => one.unsettled === undefined)
    const { batches, tally } = this.#plan(progress.action, anew.map(petIdOf))
    tally.leftOut.push(...progress.leftOut.filter((one) => !again.has(one)))
    await this.#run(progress.action, { batches: [...unsettled, ...batches], tally })
  }

  clear(): void {
    if (this.get()?.phase === 'done' || this.#context.signal.aborted) this.#progress.set(undefined)
  }

  #plan(action: BulkAction, petIds: Iterable<bigint>): Plan {
    const tally: Tally = { made: [], unchanged: 0, leftOut: [] }
    const changeOf = changesOf(action)
    const changes: RowChange[] = []
    for (const petId of petIds) {
      const seen = this.#context.stock.find(petId)
      const change = seen === undefined ? 'gone' : changeOf(petId, seen.quantity)
      if (change === 'gone') tally.leftOut.push({ petId, why: 'gone', reason: GONE })
      else if (change === undefined) tally.unchanged++
      else changes.push(change)
    }
    return { batches: batchesOf(changes, purposeOf(action)), tally }
  }
}

/** Those that may be tried again: not what is gone, nor what may have been added so long ago that nobody remembers. */
export function retryable({ action, leftOut }: BulkProgress): readonly LeftOut[] {
  const isConditional = action.kind === 'set' || action.kind === 'undo'
  return leftOut.filter(
    ({ why, unsettled }) =>
      why !== 'gone' && (unsettled === undefined || isConditional || isRemembered(unsettled)),
  )
}

/** What an action asks of a row with this quantity; `undefined` where there is nothing to do. */
function changesOf(action: BulkAction): (petId: bigint, seen: number) => RowChange | undefined {
  if (action.kind === 'undo') {
    const undone = new Map(action.step.changes.map((change) => [change.petId, change]))
    return (petId) => {
      const change = undone.get(petId)
      if (change === undefined) throw new Error(`pet ${petId} is not part of what is undone`)
      return { petId, quantity: change.before, expected: change.after }
    }
  }
  const { kind, amount } = action
  if (kind === 'set') {
    return (petId, seen) => (seen === amount ? undefined : { petId, quantity: amount, expected: seen })
  }
  const delta = kind === 'add' ? amount : -amount
  return (petId) => (amount === 0 ? undefined : { petId, delta })
}

function purposeOf(action: BulkAction): Purpose {
  if (action.kind !== 'undo') return action.purpose
  const { reference } = action.step
  return { reason: 'corrected', reference: reference === undefined ? 'undo' : `undo of ${reference}` }
}

function petIdOf({ petId }: { readonly petId: bigint }): bigint {
  return petId
}

function count(tally: Tally, outcome: QuantityChange | LeftOut): void {
  if ('why' in outcome) tally.leftOut.push(outcome)
  else if (outcome.before === outcome.after) tally.unchanged++
  else tally.made.push(outcome)
}

/** Ends some time after another signal does. */
function after(ms: number, signal: AbortSignal): AbortSignal {
  const later = new AbortController()
  signal.addEventListener('abort', () => setTimeout(() => later.abort(), ms), { once: true })
  return later.signal
}
