import type { Availability, Order, OrderState } from './order.ts'
import type { OrderChanges } from './orders-draft.ts'

export interface OrderFilter {
  /** If absent, selects open and complete orders. */
  readonly state?: OrderState | undefined
  readonly petId?: bigint | undefined
  /** Only orders for which `customerWordsOf` returns a text that begins with this one. */
  readonly customerPrefix?: string | undefined
  /** Only orders after this place in the list. */
  readonly after?: OrderPosition | undefined
}

export interface OrderPosition {
  readonly id: bigint
  /** Needed only if the list has a `customerPrefix`. */
  readonly customerWords?: string | undefined
}

/**
 * Reads orders. Commands create and change them (`StockStore.changeStock`). The store's clock decides whether a hold has
 * expired.
 */
export interface OrderStore {
  findOrder(orderId: bigint): Promise<Order | undefined>
  /** At most `limit` orders, by id ascending. With a `customerPrefix`, sorted by `customerWords`, then by id. */
  listOrders(filter: OrderFilter, limit: number): Promise<Order[]>
  findAvailability(petId: bigint): Promise<Availability | undefined>
  /** The number of open orders, and the units that they reserve. */
  countOpenOrders(): Promise<{ readonly orders: number; readonly units: number }>
  /** At most `limit` pets with expired holds that are still stored as open. The pet with the oldest expired hold comes first. */
  petsWithExpiredHolds(limit: number): Promise<bigint[]>
  /** How many orders were refused for want of stock, and how many holds expired, in commits of this process. */
  orderTotals(): OrderTotals
}

export type OrderTotals = Pick<OrderChanges, 'refused' | 'expired'>
