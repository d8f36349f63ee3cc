import { noOrder, type Order } from '../core/orders/order.ts'
import { noEntry } from '../core/stock/inventory.ts'
import { refusal } from '../core/stock/refusal.ts'
import type { ChangeOutcome, Shortage } from '../core/stock/stock-request.ts'
import type { ServiceError } from '../core/values/errors.ts'
import { orderBody } from './order-resources.ts'
import { errorReply, type JsonReply, type KeptReply } from './reply.ts'
import { taggedReply } from './representation.ts'

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
      const { petId, available } = outcome.shortage
      const message = shortageText(outcome.shortage)
      return refusal([{ index: 0, petId, code: 'insufficient_stock', message, available }])
    }
    if ('closed' in outcome) {
      const { id, petId, state } = outcome.closed
      const message = `order ${id} is ${state}, and that stays so`
      return refusal([{ index: 0, petId, code: 'order_closed', message, state }])
    }
  }
  throw new Error('a request about an order came to what only another one can come to')
}

/** With the tag that GET gives it as well. */
export function taggedOrder(order: Order): JsonReply {
  return taggedReply(orderBody(order))
}
