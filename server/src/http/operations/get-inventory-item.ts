import { noEntry } from '../../core/stock/inventory.ts'
import { defineOperation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import { conditional, entryTag, IF_NONE_MATCH } from '../representation.ts'
import { Int64, InventoryItem } from '../resources.ts'

export const getInventoryItem = defineOperation({
  operationId: 'getInventoryItem',
  method: 'GET',
  path: '/inventory/{petId}',
  summary: 'Get the stock level of one pet',
  description:
    'Returns the current stock level of one pet. Send its ETag as If-Match with an update, and the update is made only if nobody was faster.',
  tag: 'inventory',
  stability: 'beta',
  params: { petId: Int64('The pet whose stock is returned.') },
  headers: IF_NONE_MATCH,
  success: { description: 'The stock level of the pet.', schema: InventoryItem },
  errors: ['invalid_request', 'not_found'],
  prepare: ({ petId }, { view }) => view.find(petId),
  reply: ({ params, request }, _, item) => {
    if (item === undefined) throw noEntry(params.petId)
    return conditional(jsonReply(item, { ETag: entryTag(item) }), request)
  },
})
