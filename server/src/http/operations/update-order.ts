import type { ChangeOrder, CompleteOrder } from '../../core/stock/command.ts'
import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { changedOrderReply, taggedOrder } from '../order-reply.ts'
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
  errors: ['invalid_request', 'not_found', 'insufficient_stock', 'order_closed', 'payload_too_large'],
  // The pet of the order, which never changes, has to be locked before the order is read.
  prepare: ({ orderId }, { store }) => store.findOrder(orderId),
  reply: ({ params: { orderId }, body, key, sentKey }, { commits, clock }, found) => {
    const target = { orderId, petId: found?.petId, keyId: key.id, at: clock() }
    const command: CompleteOrder | ChangeOrder =
      body.shipDate === undefined
        ? { type: 'complete_order', ...target }
        : { type: 'change_order', ...target, shipDate: body.shipDate }
    return replyOnce(commits, command, sentKey, (outcome) => changedOrderReply(outcome, orderId, taggedOrder))
  },
})
