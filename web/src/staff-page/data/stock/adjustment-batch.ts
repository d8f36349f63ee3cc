import {
  type AdjustmentLine,
  type CallOptions,
  type ErrorDetail,
  isPetstoreError,
  MAX_LENGTHS,
  type Reason,
} from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { type SaveContext, sendOwn } from './own-request.ts'

/** The reason and the reference of a change, as the history shows them. */
export interface Purpose {
  readonly reason: Reason
  readonly reference?: string | undefined
  /** Takes no units that open orders reserve. */
  readonly keepReserved?: boolean
}

/** What an adjustment of this page did to a pet. Without an id, the pet had the quantity before. */
export interface QuantityChange extends Pick<AdjustmentLine, 'petId' | 'before' | 'after' | 'effect'> {
  readonly adjustmentId?: bigint
}

/** A difference, which is right whatever others do. */
interface Delta {
  readonly petId: bigint
  readonly delta: number
}

/** A difference, or a new quantity over the one that the user saw. */
export type RowChange =
  | Delta
  | { readonly petId: bigint; readonly quantity: number; readonly expected: number }

/** Changes that are sent as one adjustment, all or nothing. */
export interface Batch {
  readonly changes: readonly RowChange[]
  readonly purpose: Purpose
  readonly idempotencyKey: string
  readonly madeAt: number
  /** When it happened, if it may be sent later. */
  readonly occurredAt?: number
  /** It was sent before and got no response. */
  readonly isRepeat: boolean
}

/** A pet that was not changed, or may not have been. */
export interface LeftOut {
  readonly petId: bigint
  /** `refused` because of the row itself; `failed` for another reason. */
  readonly why: 'conflict' | 'gone' | 'refused' | 'failed' | 'stopped'
  readonly reason: string
  /** The request to repeat if the pet may have been changed all the same. */
  readonly unsettled?: Batch
}

export interface Stopping {
  /** After its abort nothing more is sent; its reason says why. */
  readonly stop: AbortController
  /** Aborts requests in flight. */
  readonly cancel: AbortSignal
}

/** How often a batch is sent again without the rows that others changed meanwhile. */
const MAX_ROUNDS = 5

/** The service remembers an idempotency key for a day. */
const REPEATABLE_FOR_MS = 23 * 60 * 60 * 1_000

export const GONE = 'This pet is not in the store any more.'

export function batchesOf(changes: readonly RowChange[], purpose: Purpose): Batch[] {
  const batches: Batch[] = []
  const size = MAX_LENGTHS.InventoryAdjustment.changes
  for (let start = 0; start < changes.length; start += size) {
    batches.push(newBatch(changes.slice(start, start + size), purpose))
  }
  return batches
}

export function newBatch(changes: readonly RowChange[], purpose: Purpose): Batch {
  return { changes, purpose, idempotencyKey: randomId(), madeAt: Date.now(), isRepeat: false }
}

export function randomId(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}

/** Whether the service still knows the idempotency key. */
export function isRemembered({ madeAt }: Pick<Batch, 'madeAt'>): boolean {
  return Date.now() - madeAt < REPEATABLE_FOR_MS
}

/**
 * Makes as many of the changes as possible and returns the outcome of each. The service makes all or none and names
 * those that it rejects; the rest is sent again without them.
 */
export async function adjustRows(
  context: SaveContext,
  batch: Batch,
  stopping: Stopping,
): Promise<readonly (QuantityChange | LeftOut)[]> {
  const settled: (QuantityChange | LeftOut)[] = []
  let rest = batch
  for (let round = 1; ; round++) {
    try {
      return [...settled, ...(await sendBatch(context, rest, { signal: stopping.cancel }))]
    } catch (error) {
      const refused = refusedOf(error, rest)
      if (refused.size === 0) return [...settled, ...unanswered(rest, stopping, error)]
      for (const [change, detail] of refused) settled.push(refusalOf(context, change, detail))
      const others = rest.changes.filter((change) => !refused.has(change))
      if (others.length === 0) return settled
      if (stopping.stop.signal.aborted) return [...settled, ...notSent(others, stopping)]
      if (round === MAX_ROUNDS) return [...settled, ...outOfRounds(others)]
      rest = newBatch(others, batch.purpose)
    }
  }
}

export function notSent(changes: readonly RowChange[], { stop }: Stopping): LeftOut[] {
  const reason = `It was not changed: ${stop.signal.reason}.`
  return changes.map(({ petId }) => ({ petId, why: 'stopped', reason }))
}

/** Sends a batch once and returns its changes in order. Throws if the service does. */
export async function sendBatch(
  context: SaveContext,
  batch: Batch,
  options: CallOptions = { signal: context.signal },
): Promise<QuantityChange[]> {
  const { client, stock } = context
  const { changes, purpose, idempotencyKey, isRepeat, occurredAt } = batch
  const body = {
    ...purpose,
    changes,
    occurredAt: occurredAt === undefined ? undefined : new Date(occurredAt).toISOString(),
  }
  const targets = changes.map((change) => ({
    petId: change.petId,
    quantity: 'delta' in change ? (stock.find(change.petId)?.quantity ?? 0) + change.delta : change.quantity,
  }))
  const { id, lines } = await sendOwn(context, {
    targets,
    isRepeat,
    send: () => client.inventory.adjust(body, { ...options, idempotencyKey }),
  })
  return lines.map(({ petId, before, after, effect }) => ({
    petId,
    before,
    after,
    effect,
    adjustmentId: id,
  }))
}

/** The changes that the service rejected. */
export function refusedOf(error: unknown, { changes }: Batch): ReadonlyMap<RowChange, ErrorDetail> {
  const details = isPetstoreError(error) ? error.details : []
  return new Map(
    details.flatMap((detail) => {
      const change = changes[detail.index]
      return change === undefined ? [] : [[change, detail] as const]
    }),
  )
}

function refusalOf(
  { stock }: SaveContext,
  change: RowChange,
  { code, message }: ErrorDetail,
): QuantityChange | LeftOut {
  const { petId } = change
  if (code === 'not_found') return { petId, why: 'gone', reason: GONE }
  if (code === 'precondition_failed' && 'quantity' in change) {
    const theirs = stock.find(petId)?.quantity
    if (theirs === change.quantity) return { petId, before: theirs, after: theirs, effect: 'applied' }
    const isKnown = theirs !== undefined && theirs !== change.expected
    const what = isKnown ? `set it to ${theirs.toLocaleString('en')}` : 'changed it'
    return { petId, why: 'conflict', reason: `Somebody else ${what} meanwhile; it was left at that.` }
  }
  if (code === 'insufficient_stock' && 'delta' in change) {
    const reason = `There were not enough to take ${(-change.delta).toLocaleString('en')}.`
    return { petId, why: 'refused', reason }
  }
  return { petId, why: 'refused', reason: `It was not changed: ${message}.` }
}

/** The outcome of all changes if the response names none of them. */
function unanswered(batch: Batch, { stop, cancel }: Stopping, error: unknown): LeftOut[] {
  const isUnsettled = cancel.aborted || (isPetstoreError(error) && error.mayHaveBeenMade)
  if (isPetstoreError(error, 'forbidden')) stop.abort('this key may not change the stock')
  const unsettled = isUnsettled ? { unsettled: { ...batch, isRepeat: true } } : {}
  const why = cancel.aborted ? 'stopped' : 'failed'
  const what = cancel.aborted ? 'It was on its way when you stopped.' : failureWords(error)
  const reason = isUnsettled
    ? `${what} It may have been changed: trying again tells, and changes it once at most.`
    : what
  return batch.changes.map(({ petId }) => ({ petId, why, reason, ...unsettled }))
}

function outOfRounds(changes: readonly RowChange[]): LeftOut[] {
  const reason = 'It was not changed: others kept changing rows beside it. Try again.'
  return changes.map(({ petId }) => ({ petId, why: 'failed', reason }))
}
