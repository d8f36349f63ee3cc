import type { Availability, Order, OrderState } from './order.ts'

/** Selects orders that match all given fields. */
export interface OrderFilter {
  /** If absent: open and complete orders. */
  readonly state?: OrderState | undefined
  readonly petId?: bigint | undefined
  /** Only orders with a higher id. */
  readonly after?: bigint | undefined
}

/** Reads orders. The store's clock decides whether a hold has expired. Orders are changed by `changeStock`. */
export interface OrderStore {
  findOrder(orderId: bigint): Promise<Order | undefined>
  /** At most `limit` orders, by id ascending. */
  listOrders(filter: OrderFilter, limit: number): Promise<Order[]>
  /** `undefined` if there is no such pet. */
  findAvailability(petId: bigint): Promise<Availability | undefined>
  /** The number of open orders, and the units that they reserve. */
  countOpenOrders(): Promise<{ readonly orders: number; readonly units: number }>
  /** At most `limit` pets in stock whose expired holds are still recorded as open; the holds that expired first come first. */
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
