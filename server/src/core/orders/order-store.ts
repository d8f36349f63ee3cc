import type { Availability, Order, OrderState } from './order.ts'
import type { OrderChanges } from './orders-draft.ts'

export interface OrderFilter {
  /** If absent, selects open and complete orders. */
  readonly state?: OrderState | undefined
  readonly petId?: bigint | undefined
  readonly customer?: CustomerSearch | undefined
  /** Only orders with a larger id. */
  readonly after?: bigint | undefined
}

/** All of it must match the words that `customerWordsOf` returns for the order. */
export interface CustomerSearch {
  /** Each is the start of a word. */
  readonly wordStarts: readonly string[]
  /** Each occurs in the words if they are written without blanks. */
  readonly numbers: readonly string[]
}

/**
 * Reads orders. Commands create and change them (`StockStore.changeStock`). The store's clock decides whether a hold has
 * expired.
 */
export interface OrderStore {
  findOrder(orderId: bigint): Promise<Order | undefined>
  /** At most `limit` orders, by id ascending. */
  listOrders(filter: OrderFilter, limit: number): Promise<Order[]>
  findAvailability(petId: bigint): Promise<Availability | undefined>
  /** The availability of each of these pets that exists, by petId ascending, all at the same moment. */
  listAvailability(petIds: readonly bigint[]): Promise<Availability[]>
  /** The number of open orders, and the units that they reserve. */
  countOpenOrders(): Promise<{ readonly orders: number; readonly units: number }>
  /** At most `limit` pets with expired holds that are still stored as open. The pet with the oldest expired hold comes first. */
  petsWithExpiredHolds(limit: number): Promise<bigint[]>
  /** How many orders were refused for want of stock, and how many holds expired, in commits of this process. */
  orderTotals(): OrderTotals
}

export type OrderTotals = Pick<OrderChanges, 'refused' | 'expired'>
