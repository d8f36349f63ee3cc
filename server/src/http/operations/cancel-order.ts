import Type from 'typebox'
import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { changedOrderReply } from '../order-reply.ts'
import { NO_CONTENT } from '../reply.ts'
import { Int64 } from '../resources.ts'

export const cancelOrder = defineOperation({
  operationId: 'cancelOrder',
  method: 'DELETE',
  path: '/store/orders/{orderId}',
  summary: 'Cancel an order',
  description:
    'Cancels an open order, which releases what it reserved. Cancelling it again changes nothing, and neither does cancelling one that has expired.',
  tag: 'store',
  stability: 'beta',
  needs: 'orders',
  isIdempotent: true,
  params: { orderId: Int64('The order to cancel.') },
  success: { status: 204, description: 'The order reserves nothing any more.', schema: Type.Null() },
  errors: ['invalid_request', 'not_found', 'order_closed'],
  // The pet of the order, which never changes, has to be locked before the order is read.
  prepare: ({ orderId }, { store }) => store.findOrder(orderId),
  reply: ({ params: { orderId }, key, sentKey }, { commits, clock }, found) => {
    const command = {
      type: 'cancel_order',
      orderId,
      petId: found?.petId,
      keyId: key.id,
      at: clock(),
    } as const
    return replyOnce(commits, command, sentKey, (outcome) =>
      changedOrderReply(outcome, orderId, () => NO_CONTENT),
    )
  },
})
