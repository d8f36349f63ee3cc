import type { Order } from '@petstore/client'
import { hasCustomerWords } from './customer-match.ts'
import { idIn, type OrderReads, orderWithId } from './order-search.ts'

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
  const sources: AsyncIterable<Order>[] = []
  if (orderId !== undefined) sources.push(orderWithId(orders, orderId, signal))
  if (hasCustomerWords(query)) {
    for (const state of ['open', 'expired'] as const) {
      sources.push(orders.list({ state, customer: query, limit: MAX_ORDERS, signal }))
    }
  }
  const lists = await Promise.all(sources.map(firstOrders))
  return [...new Map(lists.flat().map((order) => [order.id, order])).values()]
}

async function firstOrders(list: AsyncIterable<Order>): Promise<readonly Order[]> {
  const orders: Order[] = []
  for await (const order of list) if (orders.push(order) === MAX_ORDERS) break
  return orders
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
