import type { Order } from '@petstore/client'
import { findOrder, hasCustomerWords, idIn, type OrderReads } from './order-search.ts'

/** The orders that one person made for one customer at one moment. Two customers may have the same name. */
export interface Reservation {
  readonly customer: string
  readonly createdAt: string
  readonly orders: readonly Order[]
}

const MAX_ORDERS = 100

/** Orders by customer or by the id of the order: open ones, expired holds and, by id, orders in any state. */
export async function findReserved(
  orders: OrderReads,
  query: string,
  signal: AbortSignal,
): Promise<readonly Order[]> {
  const orderId = idIn(query)
  const states = hasCustomerWords(query) ? (['open', 'expired'] as const) : []
  const lists = await Promise.all([
    orderId === undefined ? [] : findOrder(orders, orderId, signal),
    ...states.map(async (state) => {
      const { items } = await orders.list({ state, customer: query, limit: MAX_ORDERS, signal })
      return items
    }),
  ])
  return [...new Map(lists.flat().map((order) => [order.id, order])).values()]
}

/** The newest reservation comes first. */
export function groupReservations(orders: readonly Order[]): readonly Reservation[] {
  const groups = new Map<string, Order[]>()
  for (const order of orders) {
    const key = JSON.stringify([order.customer, order.createdAt, order.createdBy])
    groups.set(key, [...(groups.get(key) ?? []), order])
  }
  return Array.from(groups.values(), (group) => ({
    customer: group[0]?.customer ?? '',
    createdAt: group[0]?.createdAt ?? '',
    orders: group,
  })).sort((a, b) => b.createdAt.localeCompare(a.createdAt))
}

/** An open order whose hold has not ended. The end of a hold is known before the service says so. */
export function canBeHandedOver({ state, expiresAt }: Order, now: number): boolean {
  return state === 'open' && (expiresAt === undefined || Date.parse(expiresAt) > now)
}
