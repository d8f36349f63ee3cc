import type { OrderPatch } from '../../src/core/orders/order.ts'
import type { CancelOrder, ChangeOrder, CompleteOrder } from '../../src/core/stock/command.ts'

export type OrderUpdate = 'complete' | 'cancel' | OrderPatch

/** The command that makes an update of an order. */
export function orderCommand(
  order: Omit<CompleteOrder, 'type'>,
  update: OrderUpdate,
): CompleteOrder | CancelOrder | ChangeOrder {
  if (update === 'complete') return { type: 'complete_order', ...order }
  if (update === 'cancel') return { type: 'cancel_order', ...order }
  return { type: 'change_order', ...order, patch: update }
}
