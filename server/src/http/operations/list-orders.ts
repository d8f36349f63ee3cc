import Type from 'typebox'
import { ORDER_STATES } from '../../core/orders/order.ts'
import { readPageById } from '../../core/values/page.ts'
import { defineOperation } from '../operation.ts'
import { Order, orderBody } from '../order-resources.ts'
import { IF_NONE_MATCH, pageReply } from '../representation.ts'
import { cursorParameter, Int64, limitParameterUpTo } from '../resources.ts'

export const listOrders = defineOperation({
  operationId: 'listOrders',
  method: 'GET',
  path: '/store/orders',
  summary: 'List orders',
  description:
    'Returns orders by id ascending, in pages. Without `state`, these are the open and complete orders.',
  tag: 'store',
  stability: 'beta',
  query: {
    state: Type.Optional(
      Type.Enum([...ORDER_STATES], {
        type: 'string',
        description: 'Return only orders in this state.',
      }),
    ),
    petId: Type.Optional(Int64('Return only orders of this pet.')),
    limit: limitParameterUpTo(1_000, 100),
    cursor: cursorParameter,
  },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of orders.', schema: Type.Array(Order), isPaged: true },
  errors: ['invalid_request'],
  reply: async ({ query, request }, { store }) => {
    const { state, petId } = query
    const page = await readPageById(query, (limit, after) => store.listOrders({ state, petId, after }, limit))
    return pageReply(request, query, page, orderBody)
  },
})
