import {
  type AdjustmentLine,
  type CallOptions,
  type ErrorDetail,
  isPetstoreError,
  MAX_LENGTHS,
  type Reason,
} from '@petstore/client'
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

/** Sends a batch once and returns its changes in order. Throws if the service refuses one of them. */
export async function sendBatch(
  context: SaveContext,
  batch: Batch,
  options: CallOptions = { signal: context.signal },
): Promise<readonly QuantityChange[]> {
  return (await adjust(context, batch, undefined, options)).made
}

/** Like `sendBatch`, but leaves out the changes that the service refuses, if it accepts at least one. */
export function sendPossible(context: SaveContext, batch: Batch): Promise<BatchResult> {
  return adjust(context, batch, 'skip', { signal: context.signal })
}

interface BatchResult {
  readonly made: readonly QuantityChange[]
  readonly skipped: readonly ErrorDetail[]
}

async function adjust(
  context: SaveContext,
  batch: Batch,
  onConflict: 'skip' | undefined,
  options: CallOptions,
): Promise<BatchResult> {
  const { client, stock } = context
  const { changes, purpose, idempotencyKey, isRepeat, occurredAt } = batch
  const body = {
    ...purpose,
    onConflict,
    changes,
    occurredAt: occurredAt === undefined ? undefined : new Date(occurredAt).toISOString(),
  }
  const targets = changes.map((change) => ({
    petId: change.petId,
    quantity: 'delta' in change ? (stock.find(change.petId)?.quantity ?? 0) + change.delta : change.quantity,
  }))
  const {
    id,
    lines,
    skipped = [],
  } = await sendOwn(context, {
    targets,
    isRepeat,
    send: () => client.inventory.adjust(body, { ...options, idempotencyKey }),
  })
  const made = lines.map(({ petId, before, after, effect }) => ({
    petId,
    before,
    after,
    effect,
    adjustmentId: id,
  }))
  return { made, skipped }
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

/** Why the service rejected a change. */
export function refusalWords(change: RowChange, { code, message }: ErrorDetail): string {
  if (code === 'not_found') return GONE
  if (code === 'precondition_failed') return 'Somebody else changed it meanwhile; it was left at that.'
  if (code === 'insufficient_stock' && 'delta' in change)
    return `There were not enough to take ${(-change.delta).toLocaleString('en')}.`
  return `It was not changed: ${message}.`
}
