import { changeOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { orderReply, taggedOrder } from '../order-reply.ts'
import { Order, OrderUpdate } from '../order-resources.ts'
import { Int64 } from '../resources.ts'

export const updateOrder = defineOperation({
  operationId: 'updateOrder',
  method: 'PATCH',
  path: '/store/orders/{orderId}',
  summary: 'Complete an order, or change its ship date',
  description:
    'With `{"complete": true}` the order is fulfilled: what it reserved is taken out of the stock, and the history says so with the reason sold and a reference such as `order 17`. Completing it again changes nothing. With `{"shipDate"}` an open order gets another ship date.',
  tag: 'store',
  stability: 'beta',
  needs: 'orders',
  isIdempotent: true,
  params: { orderId: Int64('The order to change.') },
  body: OrderUpdate,
  success: { description: 'The order.', schema: Order },
  errors: [
    ...(['invalid_request', 'not_found', 'insufficient_stock', 'order_closed'] as const),
    'payload_too_large',
  ],
  // Its pet, which has to be locked before the order is looked at. It never is another one.
  prepare: ({ orderId }, { store }) => store.findOrder(orderId),
  reply: ({ params: { orderId }, body, key, sentKey }, { commits, clock }, found) => {
    const petId = found?.petId
    const update = body.shipDate === undefined ? ('complete' as const) : { shipDate: body.shipDate }
    const request = { orderId, petId, update, keyId: key.id, at: clock() }
    return changeOnce(commits, request, sentKey, (outcome) =>
      orderReply(
        outcome,
        petId,
        taggedOrder,
        ({ wanted, available }) =>
          `order ${orderId} takes ${wanted} of petId ${petId}, but only ${available} are in stock`,
      ),
    )
  },
})
