import { noEntry, type QuantityChange, type QuantityOutcome } from '../../core/stock/inventory.ts'
import { ServiceError } from '../../core/values/errors.ts'
import { defineOperation } from '../operation.ts'
import type { Reply } from '../reply.ts'
import { entryTag, statesIn } from '../representation.ts'
import { Int64, InventoryItem, InventoryUpdate } from '../resources.ts'

export const updateInventory = defineOperation({
  operationId: 'updateInventory',
  method: 'PATCH',
  path: '/inventory/{petId}',
  summary: 'Set the stock quantity of one pet',
  description:
    'Sets the stock quantity of one pet, to record new arrivals, returns or manual adjustments. The answer is given once the change is on disk. Experimental: the request shape may change before it becomes stable.',
  tag: 'inventory',
  stability: 'experimental',
  params: { petId: Int64('The pet whose stock is updated.') },
  headers: {
    'If-Match':
      'ETags of the entry, or *: the update is made only if one of them is the current one, else it is 412. Decided in the commit, so of two updates with the same tag one is made.',
  },
  body: InventoryUpdate,
  success: { description: 'The updated entry.', schema: InventoryItem },
  errors: ['invalid_request', 'forbidden', 'not_found', 'precondition_failed', 'payload_too_large'],
  reply: ({ params, body, key, request }, { commits, clock }) => {
    const change = {
      petId: params.petId,
      quantity: body.quantity,
      keyId: key.id,
      at: clock(),
      onlyIf: statesIn(request.headers.get('if-match')),
    }
    return commits.set(change, toReply)
  },
})

function toReply(outcome: QuantityOutcome, change: QuantityChange): Reply {
  if (outcome === 'unknown_pet') throw noEntry(change.petId)
  if ('conflict' in outcome) {
    const { quantity, status } = outcome.conflict
    throw new ServiceError(
      'precondition_failed',
      `the entry of petId ${change.petId} is not in the state that If-Match names: its quantity is ${quantity} and its status ${status}; read it again and decide anew`,
    )
  }
  const { petId, quantity, status } = outcome
  return {
    status: 200,
    headers: { 'Content-Type': 'application/json', ETag: entryTag(outcome) },
    body: `{"petId":${petId},"quantity":${quantity},"status":"${status}"}`,
  }
}
