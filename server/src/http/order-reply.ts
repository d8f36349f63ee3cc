import { noOrder, type Order } from '../core/orders/order.ts'
import type {
  CancelOrder,
  ChangeOrder,
  CompleteOrder,
  CreateOrder,
  InsufficientStock,
  OutcomeOf,
} from '../core/stock/command.ts'
import { noEntry } from '../core/stock/inventory.ts'
import { refusal } from '../core/stock/refusal.ts'
import { orderBody } from './order-resources.ts'
import { errorReply, type JsonReply, type KeptReply } from './reply.ts'
import { taggedReply } from './representation.ts'

export function createdOrderReply(
  outcome: OutcomeOf<CreateOrder>,
  petId: bigint,
  reply: (order: Order) => KeptReply,
): KeptReply {
  switch (outcome.type) {
    case 'done':
      return reply(outcome.order)
    case 'unknown_pet':
      return errorReply(noEntry(petId))
    case 'insufficient_stock':
      return shortageReply(
        outcome,
        `${outcome.available} of petId ${petId} are available, so ${outcome.wanted} cannot be ordered`,
      )
  }
}

export function changedOrderReply(
  outcome: OutcomeOf<CompleteOrder | CancelOrder | ChangeOrder>,
  orderId: bigint,
  reply: (order: Order) => KeptReply,
): KeptReply {
  switch (outcome.type) {
    case 'done':
      return reply(outcome.order)
    case 'unknown_order':
      return errorReply(noOrder(orderId))
    case 'insufficient_stock':
      return shortageReply(
        outcome,
        `order ${orderId} takes ${outcome.wanted} of petId ${outcome.petId}, but only ${outcome.available} are in stock`,
      )
    case 'order_closed': {
      const { petId, state } = outcome.order
      const message = `order ${orderId} is already ${state}`
      return errorReply(refusal([{ index: 0, petId, code: 'order_closed', message, state }]))
    }
  }
}

function shortageReply({ petId, available }: InsufficientStock, message: string): KeptReply {
  return errorReply(refusal([{ index: 0, petId, code: 'insufficient_stock', message, available }]))
}

/** With the same ETag as GET. */
export function taggedOrder(order: Order): JsonReply {
  return taggedReply(orderBody(order))
}
