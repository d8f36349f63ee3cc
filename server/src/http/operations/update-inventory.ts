import { noEntry } from '../../core/stock/inventory.ts'
import type { ChangeOutcome } from '../../core/stock/stock-request.ts'
import { ServiceError } from '../../core/values/errors.ts'
import { changeOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { errorReply, type JsonReply, jsonTextReply } from '../reply.ts'
import { entryTag, entryText, statesIn } from '../representation.ts'
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
  needs: 'stock',
  params: { petId: Int64('The pet whose stock is updated.') },
  headers: {
    'If-Match':
      'ETags of the entry, or *: the update is made only if one of them is the current one, else it is 412. Decided in the commit, so of two updates with the same tag one is made.',
  },
  isIdempotent: true,
  body: InventoryUpdate,
  success: { description: 'The updated entry.', schema: InventoryItem },
  errors: ['invalid_request', 'not_found', 'precondition_failed', 'payload_too_large'],
  reply: ({ params: { petId }, body, key, request, sentKey }, { commits, clock }) => {
    const onlyIf = statesIn(request.headers.get('if-match'))
    const change = { petId, quantity: body.quantity, keyId: key.id, at: clock(), onlyIf }
    return changeOnce(commits, change, sentKey, (outcome) => toReply(outcome, petId))
  },
})

function toReply(outcome: ChangeOutcome, petId: bigint): JsonReply {
  if (outcome === 'unknown_pet') return errorReply(noEntry(petId))
  if ('petId' in outcome) {
    return jsonTextReply(entryText(outcome), { ETag: entryTag(outcome) })
  }
  if (!('conflict' in outcome)) throw new Error('an update came to what only an adjustment can come to')
  const { quantity, status } = outcome.conflict
  return errorReply(
    new ServiceError(
      'precondition_failed',
      `the entry of petId ${petId} is not in the state that If-Match names: its quantity is ${quantity} and its status ${status}; read it again and decide anew`,
    ),
  )
}
