import { noOrder } from '../../core/orders/order.ts'
import { defineOperation } from '../operation.ts'
import { taggedOrder } from '../order-reply.ts'
import { Order } from '../order-resources.ts'
import { conditional, IF_NONE_MATCH } from '../representation.ts'
import { Int64 } from '../resources.ts'

export const getOrder = defineOperation({
  operationId: 'getOrder',
  method: 'GET',
  path: '/store/orders/{orderId}',
  summary: 'Get one order',
  description: 'Returns an order, in whatever state it is.',
  tag: 'store',
  stability: 'beta',
  params: { orderId: Int64('The order to return.') },
  headers: IF_NONE_MATCH,
  success: { description: 'The order.', schema: Order },
  errors: ['invalid_request', 'not_found'],
  prepare: ({ orderId }, { store }) => store.findOrder(orderId),
  reply: ({ params, request }, _, order) => {
    if (order === undefined) throw noOrder(params.orderId)
    return conditional(taggedOrder(order), request)
  },
})
