import type { AdjustmentChange, InventoryItem, Reason } from './contract-types.ts'
import { readIdempotencyKey } from './idempotency-key.ts'
import { callForValue, int64, type WriteOptions } from './operation-call.ts'
import { PetstoreError } from './petstore-error.ts'
import type { Transport } from './transport.ts'

/** By `delta`, or to a new `quantity`; with `expected`, only if that is what it has now. */
export type StockChange = AdjustmentChange &
  (
    | { readonly delta: number; readonly quantity?: never }
    | { readonly quantity: number; readonly delta?: never }
  )

export interface AdjustmentOptions extends WriteOptions {
  readonly reason: Reason
  /** What it refers to, such as an order or a delivery note: up to 200 characters. */
  readonly reference?: string | undefined
}

/** Makes all of the changes or none; the entries after them, in the order of the changes. */
export async function adjustInventory(
  transport: Transport,
  changes: readonly StockChange[],
  { reason, reference, signal, ...options }: AdjustmentOptions,
): Promise<readonly InventoryItem[]> {
  for (const { petId } of changes) int64('petId', petId)
  const idempotencyKey = readIdempotencyKey(options.idempotencyKey)
  const body = { reason, ...(reference === undefined ? {} : { reference }), changes }
  const { value } = await callForValue(transport, 'adjustInventory', { body, idempotencyKey, signal })
  if (value.items.length === changes.length) return value.items
  throw new PetstoreError(
    'invalid_response',
    `answered 200 with ${value.items.length} entries for ${changes.length} changes`,
    { request: 'POST /inventory/adjustments', status: 200, idempotencyKey, mayHaveBeenMade: true },
  )
}
