import Type from 'typebox'
import { listOrderPage } from '../../core/orders/list-orders.ts'
import { ORDER_STATES } from '../../core/orders/order.ts'
import { defineOperation } from '../operation.ts'
import { Order, orderBody } from '../order-resources.ts'
import { IF_NONE_MATCH, pageReply } from '../representation.ts'
import { cursorParameter, Int64, limitParameterUpTo } from '../resources.ts'

export const listOrders = defineOperation({
  operationId: 'listOrders',
  method: 'GET',
  path: '/store/orders',
  summary: 'List orders',
  description: 'Returns the orders of the store that are open or complete, by id ascending, page by page.',
  tag: 'store',
  stability: 'beta',
  query: {
    state: Type.Optional(
      Type.Enum([...ORDER_STATES], {
        type: 'string',
        description: 'Return only orders in this state; open and complete ones where it is not given.',
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
    const { orders, next } = await listOrderPage(store, query)
    return pageReply(request, orders.map(orderBody), { ...query, cursor: next })
  },
})
