import type { Availability, Order, OrderState } from './order.ts'

/** Which orders are wanted. */
export interface OrderFilter {
  /** Open and complete ones where nothing is given. */
  readonly state?: OrderState | undefined
  readonly petId?: bigint | undefined
  /** Only those whose id is higher. */
  readonly after?: bigint | undefined
}

/** Orders as they are by the store's clock: a hold that is over is expired. They are changed by `changeStock`. */
export interface OrderStore {
  findOrder(orderId: bigint): Promise<Order | undefined>
  /** At most `limit` orders, by id ascending. */
  listOrders(filter: OrderFilter, limit: number): Promise<Order[]>
  /** What there is of a pet; `undefined` where there is no such pet. */
  findAvailability(petId: bigint): Promise<Availability | undefined>
  /** How many orders are open, and how many units they reserve. */
  countOpenOrders(): Promise<{ readonly orders: number; readonly units: number }>
  /** At most `limit` pets in stock whose expired holds are still recorded as open; the holds that expired first come first. */
  petsWithHoldsOver(limit: number): Promise<bigint[]>
  /** What this process has decided on orders since it opened the store. */
  orderTotals(): OrderTotals
}

export interface OrderTotals {
  /** Orders that were refused for lack of stock. */
  readonly refused: number
  /** Holds that it ended. */
  readonly expired: number
}
