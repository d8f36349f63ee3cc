import type { Order } from '@petstore/client'
import { useEffect, useMemo } from 'preact/compat'
import type { LiveChanges } from '../history/live-changes.ts'
import { type ListSnapshot, type ListSource, type LiveList, useLiveList } from '../live-list.ts'

/** Which orders a list shows. */
export interface OrderSource {
  /** All orders that may be among them, by id. */
  readonly read: (signal: AbortSignal) => AsyncIterable<Order>
  readonly fits: (order: Order) => boolean
}

/** Where the page learns about orders: from events, and from responses to its own requests. */
export interface OrderNews {
  readonly events: LiveChanges<Order>
  readonly answers: LiveChanges<Order>
}

/** The rest of a list: `ahead` is read but not shown yet. */
interface OrderCursor {
  readonly rest: AsyncIterator<Order>
  readonly ahead: Order
}

export type OrderList = LiveList<Order, Order, OrderCursor>
export type OrderListSnapshot = ListSnapshot<Order, OrderCursor>

export const ORDERS_PER_PAGE = 100
/** A search that finds little does not read all orders at once. */
const MAX_EXAMINED = 4_999

/** The orders by id. Orders that no longer fit stay until the user hides them, so that no row moves by itself. */
export function orderListSource(
  { read, fits }: OrderSource,
  events: LiveChanges<Order>,
): ListSource<Order, Order, OrderCursor> {
  return {
    events,
    keyOf: ({ id }) => id,
    belongs: fits,
    compare: (a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)),
    load: async (cursor, signal) => {
      const rest = cursor?.rest ?? read(signal)[Symbol.asyncIterator]()
      const items: Order[] = []
      let ahead = cursor?.ahead ?? (await nextOf(rest))
      for (let found = 0; ahead !== undefined && found < ORDERS_PER_PAGE && items.length < MAX_EXAMINED; ) {
        items.push(ahead)
        if (fits(ahead)) found++
        ahead = await nextOf(rest)
      }
      return { items, next: ahead === undefined ? undefined : { rest, ahead } }
    },
    effectOf: (order, { find, hasReached }) => {
      const known = find(order.id)
      // A closed order never changes again, so an order that is still open is older.
      if (known !== undefined && known.state !== 'open') return undefined
      if (known === undefined && !(fits(order) && hasReached(order))) return undefined
      return { type: 'put', row: order }
    },
  }
}

async function nextOf(orders: AsyncIterator<Order>): Promise<Order | undefined> {
  const result = await orders.next()
  return result.done === true ? undefined : result.value
}

/** A list for as long as the component is mounted. Both arguments must stay the same objects for the same list. */
export function useOrderList(
  source: OrderSource,
  { events, answers }: OrderNews,
): { list: OrderList; orders: OrderListSnapshot } {
  const list = useLiveList(useMemo(() => orderListSource(source, events), [source, events]))
  useEffect(
    () =>
      answers.subscribe((notice) => {
        if (notice.type === 'change') list.apply(notice.change)
      }),
    [list, answers],
  )
  return { list, orders: list.get() }
}
