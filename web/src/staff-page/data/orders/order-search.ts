import { type CallOptions, isPetstoreError, type Order, type OrderState, type Page } from '@petstore/client'
import { ORDERS_PER_PAGE, type OrderSource } from './order-list.ts'

/** A held order is an open one that expires by itself. */
export type OrderKind = OrderState | 'held'

export interface OrderFilter {
  readonly kind: OrderKind
  /** An order's number, or words of the customer. */
  readonly query: string
  readonly petId: bigint | undefined
}

export interface OrderQuery extends CallOptions {
  /** Open and complete orders by default. */
  readonly state?: OrderState
  readonly petId?: bigint | undefined
  /** Words of the customer, or the starts of words. */
  readonly customer?: string | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

/** The requests of the client that a search needs. */
export interface OrderReads {
  list(query: OrderQuery): PromiseLike<Page<Order>> & AsyncIterable<Order>
  get(orderId: bigint, options: CallOptions): Promise<Order>
}

export const FIRST_ORDER_FILTER: OrderFilter = { kind: 'open', query: '', petId: undefined }

/** Holds are picked from pages of open orders. After this many pages without one, the user decides whether to go on. */
const MAX_PAGES = 5
const EXAMINED_PER_PAGE = 1_000
const MAX_INT64 = 2n ** 63n - 1n

/** Finds an order in any state by its number, and orders of one kind by the customer and the pet. */
export function searchOrders(orders: OrderReads, { kind, query, petId }: OrderFilter): OrderSource {
  const isHeld = kind === 'held'
  const state = isHeld ? 'open' : kind
  const limit = isHeld ? EXAMINED_PER_PAGE : ORDERS_PER_PAGE
  const customer = query === '' ? undefined : query
  const orderId = idIn(query)
  const listed = async (cursor: string | undefined, signal: AbortSignal): Promise<Page<Order>> => {
    if (customer !== undefined && !hasCustomerWords(customer)) return { items: [], next: undefined }
    let page = await orders.list({ state, petId, customer, limit, cursor, signal })
    for (let count = 1; count < MAX_PAGES && page.next !== undefined && !page.items.some(fits); count++) {
      page = await orders.list({ state, petId, customer, limit, cursor: page.next, signal })
    }
    return { items: page.items.filter(fits), next: page.next }
  }
  const fits = ({ expiresAt }: Order) => !isHeld || expiresAt !== undefined
  return {
    petId,
    load: async (cursor, signal) => {
      if (cursor !== undefined || orderId === undefined) return listed(cursor, signal)
      const [numbered, { items, next }] = await Promise.all([
        findOrder(orders, orderId, signal),
        listed(cursor, signal),
      ])
      return { items: [...numbered, ...items.filter(({ id }) => id !== orderId)], next }
    },
  }
}

/** The id in a text such as `17` or `#17`. */
export function idIn(query: string): bigint | undefined {
  const digits = /^#?(-?\d{1,19})$/.exec(query.trim())?.[1]
  const id = digits === undefined ? undefined : BigInt(digits)
  return id !== undefined && id <= MAX_INT64 ? id : undefined
}

/** Whether a customer can be found by this text. */
export function hasCustomerWords(query: string): boolean {
  return /[\p{L}\p{N}]/u.test(query)
}

/** The order with this id, or none. */
export async function findOrder(
  orders: OrderReads,
  orderId: bigint,
  signal: AbortSignal,
): Promise<readonly Order[]> {
  try {
    return [await orders.get(orderId, { signal })]
  } catch (error) {
    if (isPetstoreError(error, 'not_found')) return []
    throw error
  }
}
