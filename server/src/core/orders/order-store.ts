import type { Order } from './order.ts'

export interface OrderStore {
  /** Every order, by id ascending. */
  listOrders(): Promise<Order[]>
  /** Adds orders, all or none. */
  addOrders(orders: readonly Order[]): Promise<void>
}
