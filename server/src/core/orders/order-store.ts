import type { CommandOf } from '../stock/command.ts'
import type { Availability, Order, OrderState } from './order.ts'
import type { OrderChanges } from './orders-draft.ts'

export interface OrderFilter {
  /** If absent, selects the orders of LISTED_STATES. */
  readonly state?: OrderState | undefined
  /** Only orders with a line of this pet. */
  readonly petId?: bigint | undefined
  readonly customer?: CustomerSearch | undefined
  readonly reference?: string | undefined
  /** Created from this time on. */
  readonly since?: number | undefined
  /** Created before this time. */
  readonly until?: number | undefined
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
  /** At most `limit` expired holds that still have to be released, the oldest first. */
  expiredHolds(limit: number): Promise<OrderPets[]>
  /** At most `limit` orders with personal data that were closed before this time, the oldest first. */
  personalOrders(closedBefore: number, limit: number): Promise<OrderPets[]>
  /** How many orders were refused for want of stock, and how many holds expired, in commits of this process. */
  orderTotals(): OrderTotals
}

/** An order, and its pets, which a change of the order locks. */
export type OrderPets = Pick<CommandOf<'change_order'>, 'orderId' | 'petIds'>

export type OrderTotals = Pick<OrderChanges, 'refused' | 'expired'>
