import type { Availability, Order, OrderState } from './order.ts'

/** Selects orders that match all given fields. */
export interface OrderFilter {
  /** If absent, selects open and complete orders. */
  readonly state?: OrderState | undefined
  readonly petId?: bigint | undefined
  /** Only orders with a higher id. */
  readonly after?: bigint | undefined
}

/** Reads orders. `changeStock` changes them. The store's clock decides whether a hold has expired. */
export interface OrderStore {
  findOrder(orderId: bigint): Promise<Order | undefined>
  /** At most `limit` orders, by id ascending. */
  listOrders(filter: OrderFilter, limit: number): Promise<Order[]>
  /** `undefined` if there is no such pet. */
  findAvailability(petId: bigint): Promise<Availability | undefined>
  /** The number of open orders, and the units that they reserve. */
  countOpenOrders(): Promise<{ readonly orders: number; readonly units: number }>
  /** At most `limit` pets that have expired holds which are still stored as open. Holds that expired earlier come first. */
  petsWithExpiredHolds(limit: number): Promise<bigint[]>
  /** The totals of this process since it opened the store. */
  orderTotals(): OrderTotals
}

export interface OrderTotals {
  /** Orders that were refused for lack of stock. */
  readonly refused: number
  /** Holds that expired. */
  readonly expired: number
}
