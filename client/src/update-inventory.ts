import type { InventoryItem, InventoryUpdate } from './contract-types.ts'
import { callForValue, type Outcome } from './operation-call.ts'
import { isPetstoreError, PetstoreError } from './petstore-error.ts'
import type { Transport } from './transport.ts'

interface Update {
  readonly petId: bigint
  readonly update: InventoryUpdate
  readonly ifMatch: string | undefined
  readonly signal: AbortSignal | undefined
}

/**
 * An update sets a value, so it is sent again after a broken connection. With If-Match the first one may have been
 * made and itself be why the second fails: then the entry is read, and where it has the quantity that was
 * asked for, that is a success. Else the 412 stands, and its message says that an earlier attempt broke off.
 */
export async function updateInventory(
  transport: Transport,
  { petId, update, ifMatch, signal }: Update,
): Promise<Outcome<InventoryItem>> {
  const headers = ifMatch === undefined ? {} : { 'If-Match': ifMatch }
  try {
    return await callForValue(transport, 'updateInventory', {
      params: { petId },
      body: update,
      headers,
      signal,
    })
  } catch (error) {
    if (!isPetstoreError(error, 'precondition_failed') || !error.followsBreak) throw error
    const current = await callForValue(transport, 'getInventoryItem', { params: { petId }, signal })
    if (current.value.quantity === update.quantity) return current
    throw new PetstoreError(
      'precondition_failed',
      `was sent again after a broken connection and answered 412: the entry has the quantity ${current.value.quantity} now, and the first attempt may have been made before that; read its history to see`,
      {
        request: `PATCH /inventory/${petId}`,
        status: error.status,
        requestId: error.requestId,
        limits: error.limits,
        followsBreak: true,
        cause: error,
      },
    )
  }
}
