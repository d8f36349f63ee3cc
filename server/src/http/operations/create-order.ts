import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { createdOrderReply } from '../order-reply.ts'
import { NewOrder, Order, orderBody } from '../order-resources.ts'
import { jsonReply } from '../reply.ts'

export const createOrder = defineOperation({
  operationId: 'createOrder',
  method: 'POST',
  path: '/store/orders',
  summary: 'Order a pet',
  description:
    'Makes an order, which reserves what it takes: of many who order the last one at once, one gets it. `quantity` of the inventory stays what is on the shelf until the order is completed. With holdSeconds it is a hold, which expires by itself: from that second on it reserves nothing any more.',
  tag: 'store',
  stability: 'beta',
  needs: 'orders',
  isIdempotent: true,
  body: NewOrder,
  success: { status: 201, description: 'The order.', schema: Order },
  errors: ['invalid_request', 'not_found', 'insufficient_stock', 'payload_too_large'],
  reply: ({ body, key, request, sentKey }, { commits, clock }) =>
    replyOnce(
      commits,
      { type: 'create_order', draft: body, keyId: key.id, at: clock() },
      sentKey,
      (outcome) =>
        createdOrderReply(outcome, body.petId, (order) =>
          jsonReply(orderBody(order), { Location: `${request.path}/${order.id}` }, 201),
        ),
    ),
})
