import { noOrder, type Order } from '../core/orders/order.ts'
import { noEntry } from '../core/stock/inventory.ts'
import type { ChangeOutcome, Shortage } from '../core/stock/stock-request.ts'
import { ServiceError } from '../core/values/errors.ts'
import { orderBody } from './order-resources.ts'
import { errorReply, type JsonReply, jsonReply, type KeptReply, toJson } from './reply.ts'
import { contentHash, entityTag } from './representation.ts'

/** What is answered to a request about the order of a pet: `reply` says it where all went well. */
export function orderReply(
  outcome: ChangeOutcome,
  petId: bigint | undefined,
  reply: (order: Order) => KeptReply,
  shortageText: (shortage: Shortage) => string,
): KeptReply {
  if (typeof outcome === 'object' && 'order' in outcome) return reply(outcome.order)
  return errorReply(refusalOf(outcome, petId, shortageText))
}

function refusalOf(
  outcome: ChangeOutcome,
  petId: bigint | undefined,
  shortageText: (shortage: Shortage) => string,
): ServiceError {
  if (outcome === 'unknown_pet' && petId !== undefined) return noEntry(petId)
  if (typeof outcome === 'object') {
    if ('unknownOrder' in outcome) return noOrder(outcome.unknownOrder)
    if ('shortage' in outcome) {
      const text = shortageText(outcome.shortage)
      return new ServiceError('insufficient_stock', `${text}; nothing was changed`)
    }
    if ('closed' in outcome) {
      const { id, state } = outcome.closed
      return new ServiceError(
        'order_closed',
        `order ${id} is ${state}, and that stays so; nothing was changed`,
      )
    }
  }
  throw new Error('a request about an order came to what only another one can come to')
}

/** With the tag that GET gives it as well. */
export function taggedOrder(order: Order): JsonReply {
  const body = orderBody(order)
  return jsonReply(body, { ETag: entityTag(contentHash(toJson(body), '')) })
}
