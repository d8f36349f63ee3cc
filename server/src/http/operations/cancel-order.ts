import Type from 'typebox'
import { changeOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { orderReply } from '../order-reply.ts'
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
  // Its pet, which has to be locked before the order is looked at. It never is another one.
  prepare: ({ orderId }, { store }) => store.findOrder(orderId),
  reply: ({ params: { orderId }, key, sentKey }, { commits, clock }, found) => {
    const petId = found?.petId
    const request = { orderId, petId, update: 'cancel' as const, keyId: key.id, at: clock() }
    return changeOnce(commits, request, sentKey, (outcome) =>
      orderReply(
        outcome,
        petId,
        () => NO_CONTENT,
        () => {
          throw new Error('cancelling takes nothing out of the stock')
        },
      ),
    )
  },
})
