import { State } from '../observable.ts'
import {
  adjustRows,
  type Batch,
  batchesOf,
  GONE,
  isRemembered,
  type LeftOut,
  notSent,
  type Purpose,
  type QuantityChange,
  type RowChange,
} from './adjustment-batch.ts'
import type { SaveContext } from './own-request.ts'
import type { UndoHistory, UndoStep } from './undo-history.ts'

export interface BulkAction {
  readonly kind: 'set' | 'add' | 'subtract'
  readonly amount: number
  readonly purpose: Purpose
}

export interface BulkProgress {
  readonly action: BulkAction
  readonly total: number
  readonly changed: number
  /** How many had the quantity already. */
  readonly unchanged: number
  readonly leftOut: readonly LeftOut[]
  readonly phase: 'running' | 'stopping' | 'done'
  /** Undoes the change, once it is done. */
  readonly step: UndoStep | undefined
}

interface Tally {
  readonly made: QuantityChange[]
  unchanged: number
  readonly leftOut: LeftOut[]
}

interface Plan {
  readonly batches: readonly Batch[]
  readonly tally: Tally
}

/** How long a stop waits for requests in flight before it aborts them. */
const STOP_GRACE_MS = 2_000

/** Changes several rows at once. One job runs at a time; it can be stopped, and reports its outcome. */
export class BulkChanges extends State<BulkProgress | undefined> {
  readonly #context: SaveContext
  readonly #history: UndoHistory
  #stopping = new AbortController()

  constructor(context: SaveContext, history: UndoHistory) {
    super(undefined)
    this.#context = context
    this.#history = history
  }

  /** Changes these pets. A `set` leaves pets alone that others change meanwhile. */
  async run(action: BulkAction, petIds: Iterable<bigint>): Promise<void> {
    if (!this.isRunning()) await this.#run(action, this.#plan(action, petIds))
  }

  isRunning(): boolean {
    const phase = this.get()?.phase
    return phase === 'running' || phase === 'stopping'
  }

  async #run(action: BulkAction, { batches, tally }: Plan): Promise<void> {
    const stop = new AbortController()
    this.#stopping = stop
    const { signal } = this.#context
    const stopping = { stop, cancel: AbortSignal.any([signal, after(STOP_GRACE_MS, stop.signal)]) }
    const toSend = batches.reduce((sum, { changes }) => sum + changes.length, 0)
    const total = toSend + tally.unchanged + tally.leftOut.length
    const show = (phase: BulkProgress['phase'], step?: UndoStep) => {
      const { made, unchanged, leftOut } = tally
      const counts = { total, changed: made.length, unchanged, leftOut: [...leftOut] }
      if (!signal.aborted) this.setValue({ action, ...counts, phase, step })
    }
    for (const batch of batches) {
      show(stop.signal.aborted ? 'stopping' : 'running')
      const outcomes = stop.signal.aborted
        ? notSent(batch.changes, stopping)
        : await adjustRows(this.#context, batch, stopping)
      for (const outcome of outcomes) count(tally, outcome)
    }
    this.#context.stock.publishNow()
    show('done', signal.aborted ? undefined : this.#history.record(tally.made))
  }

  /** Sends no more changes, and waits a moment for those in flight. */
  stop(): void {
    const progress = this.get()
    if (progress?.phase !== 'running') return
    this.#stopping.abort('you stopped before its turn')
    this.setValue({ ...progress, phase: 'stopping' })
  }

  /** Retries the pets that were left out: requests without a response unchanged, the others over their present state. */
  async retry(): Promise<void> {
    const progress = this.get()
    if (progress?.phase !== 'done') return
    const retried = new Set(retryable(progress))
    const unsettled = new Set([...retried].flatMap((each) => each.unsettled ?? []))
    const others = [...retried].filter((each) => each.unsettled === undefined)
    const { batches, tally } = this.#plan(progress.action, others.map(petIdOf))
    tally.leftOut.push(...progress.leftOut.filter((each) => !retried.has(each)))
    await this.#run(progress.action, { batches: [...unsettled, ...batches], tally })
  }

  clear(): void {
    if (this.get()?.phase === 'done') this.setValue(undefined)
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
    return { batches: batchesOf(changes, action.purpose), tally }
  }
}

/** The pets that can be retried: not those that are gone, nor additions whose idempotency key has expired. */
export function retryable({ action, leftOut }: BulkProgress): readonly LeftOut[] {
  return leftOut.filter(
    ({ why, unsettled }) =>
      why !== 'gone' && (unsettled === undefined || action.kind === 'set' || isRemembered(unsettled)),
  )
}

/** The change of a row with this quantity; `undefined` if there is nothing to do. */
function changesOf({ kind, amount }: BulkAction): (petId: bigint, seen: number) => RowChange | undefined {
  if (kind === 'set') {
    return (petId, seen) => (seen === amount ? undefined : { petId, quantity: amount, expected: seen })
  }
  const delta = kind === 'add' ? amount : -amount
  return (petId) => (amount === 0 ? undefined : { petId, delta })
}

function petIdOf({ petId }: { readonly petId: bigint }): bigint {
  return petId
}

function count(tally: Tally, outcome: QuantityChange | LeftOut): void {
  if ('why' in outcome) tally.leftOut.push(outcome)
  else if (outcome.before === outcome.after) tally.unchanged++
  else tally.made.push(outcome)
}

/** Aborts some time after another signal. */
function after(ms: number, signal: AbortSignal): AbortSignal {
  const later = new AbortController()
  signal.addEventListener('abort', () => setTimeout(() => later.abort(), ms), { once: true })
  return later.signal
}
