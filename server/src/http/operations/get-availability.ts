import { availableOf, noEntry } from '../../core/stock/inventory.ts'
import { defineOperation } from '../operation.ts'
import { Availability } from '../order-resources.ts'
import { jsonReply } from '../reply.ts'
import { conditional, IF_NONE_MATCH } from '../representation.ts'
import { Int64 } from '../resources.ts'

export const getAvailability = defineOperation({
  operationId: 'getAvailability',
  method: 'GET',
  path: '/inventory/{petId}/availability',
  summary: 'Get how many of one pet can be ordered',
  description:
    'Returns what is on the shelf, what open orders reserve of it, and what is left to be ordered. A hold that is over reserves nothing.',
  tag: 'inventory',
  stability: 'beta',
  params: { petId: Int64('The pet whose availability is returned.') },
  headers: IF_NONE_MATCH,
  success: { description: 'What there is of the pet.', schema: Availability },
  errors: ['invalid_request', 'not_found'],
  prepare: ({ petId }, { store }) => store.findAvailability(petId),
  reply: ({ params, request }, _, found) => {
    if (found === undefined) throw noEntry(params.petId)
    return conditional(jsonReply({ ...found, available: availableOf(found) }), request)
  },
})
