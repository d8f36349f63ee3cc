import type { OrderPatch } from '../../src/core/orders/order.ts'
import type { CommandOf } from '../../src/core/stock/command.ts'

export type OrderUpdate = 'complete' | 'cancel' | OrderPatch

/** The command that makes an update of an order. */
export function orderCommand(
  order: Omit<CommandOf<'complete_order'>, 'type'>,
  update: OrderUpdate,
): CommandOf<'complete_order' | 'cancel_order' | 'change_order'> {
  if (update === 'complete') return { type: 'complete_order', ...order }
  if (update === 'cancel') return { type: 'cancel_order', ...order }
  return { type: 'change_order', ...order, patch: update }
}
