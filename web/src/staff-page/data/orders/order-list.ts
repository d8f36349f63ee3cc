import type { Order } from '@petstore/client'
import { useEffect, useMemo } from 'preact/compat'
import type { LiveChanges } from '../history/live-changes.ts'
import { type ListPage, type ListSnapshot, type LiveList, useLiveList } from '../live-list.ts'

/** Which orders a list shows. */
export interface OrderSource {
  /** Loads a page, by id. */
  readonly load: (cursor: string | undefined, signal: AbortSignal) => Promise<ListPage<Order>>
  /** Only orders of this pet; of all pets by default. */
  readonly petId?: bigint | undefined
}

/** Where the page learns about orders: from events, and from its own requests. */
export interface OrderNews {
  readonly events: LiveChanges<Order>
  readonly own: LiveChanges<bigint>
}

export type OrderList = LiveList<Order, Order>
export type OrderListSnapshot = ListSnapshot<Order>

export const ORDERS_PER_PAGE = 100

/** A list for as long as the component is mounted. Both arguments must stay the same objects for the same list. */
export function useOrderList(
  { load, petId }: OrderSource,
  { events, own }: OrderNews,
): { list: OrderList; orders: OrderListSnapshot } {
  const list = useLiveList(
    useMemo(
      () => ({
        load,
        events,
        keyOf: ({ id }: Order) => id,
        concerns: (order: Order) => petId === undefined || order.petId === petId,
      }),
      [load, petId, events],
    ),
  )
  useEffect(() => own.subscribe(() => void list.reload()), [list, own])
  return { list, orders: list.get() }
}
