import type { OutcomeOf, SetQuantity } from '../../core/stock/command.ts'
import { noEntry } from '../../core/stock/inventory.ts'
import { ServiceError } from '../../core/values/errors.ts'
import { replyOnce } from '../idempotency.ts'
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
    const { quantity } = body
    const command = { type: 'set_quantity', petId, quantity, keyId: key.id, at: clock(), onlyIf } as const
    return replyOnce(commits, command, sentKey, (outcome) => toReply(outcome, petId))
  },
})

function toReply(outcome: OutcomeOf<SetQuantity>, petId: bigint): JsonReply {
  switch (outcome.type) {
    case 'done':
      return jsonTextReply(entryText(outcome.item), { ETag: entryTag(outcome.item) })
    case 'unknown_pet':
      return errorReply(noEntry(petId))
    case 'conflict': {
      const { quantity, status } = outcome.item
      const message = `the entry of petId ${petId} is not in the state that If-Match names: its quantity is ${quantity} and its status ${status}; read it again before you retry`
      return errorReply(new ServiceError('precondition_failed', message))
    }
  }
}
