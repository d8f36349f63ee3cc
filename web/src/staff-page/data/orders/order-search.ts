import { isPetstoreError, type Order, type OrderEvent, type OrderState } from '@petstore/client'
import type { LiveChanges } from '../history/live-changes.ts'
import type { ListPage, ListSource, LiveList } from '../live-list.ts'
import { startOfDay } from '../time-words.ts'

export interface OrderFilter {
  readonly state: OrderState
  /** An order's number, words of the customer, or a reference. */
  readonly query: string
  readonly petId: bigint | undefined
  /** The local days on which the orders were made, such as 2026-11-16; empty for all. */
  readonly from: string
  readonly to: string
}

export const OPEN_ORDERS: OrderFilter = { state: 'open', query: '', petId: undefined, from: '', to: '' }

export type OrderSource = ListSource<Order, OrderEvent>
export type OrderList = LiveList<Order, OrderEvent>

interface PageQuery {
  readonly state: OrderState
  readonly petId: bigint | undefined
  readonly since: string | undefined
  readonly until: string | undefined
  readonly limit: number
  readonly cursor: string | undefined
  readonly signal: AbortSignal
  readonly customer?: string
  readonly reference?: string
}

/** The requests of the client that a search needs. */
interface Orders {
  list(query: PageQuery): PromiseLike<ListPage<Order>>
  get(orderId: bigint, options: { readonly signal: AbortSignal }): Promise<Order>
}

interface OrderReads {
  readonly client: { readonly orders: Orders }
  readonly events: LiveChanges<OrderEvent>
}

const ORDERS_PER_PAGE = 100
const MAX_INT64 = 2n ** 63n - 1n
const NONE: ListPage<Order> = { items: [] }

/** The orders that match. Events have no customer, so each one about such a pet reloads the list. */
export function orderSource(reads: OrderReads, { state, query, petId, from, to }: OrderFilter): OrderSource {
  const days = { since: startOfDay(from), until: startOfDay(to, 1) }
  return {
    events: reads.events,
    keyOf: ({ id }) => id,
    concerns: ({ lines }) => petId === undefined || lines.some((line) => line.petId === petId),
    load: async (cursor, signal) => {
      const page = { state, petId, ...days, limit: ORDERS_PER_PAGE, cursor, signal }
      return query === '' ? reads.client.orders.list(page) : find(reads.client.orders, query, page)
    },
  }
}

/** The order with this number, in any state; or else the orders of this customer, or else those with this reference. */
async function find(orders: Orders, query: string, page: PageQuery): Promise<ListPage<Order>> {
  const byCustomer = async () =>
    /[\p{L}\p{N}]/u.test(query) ? orders.list({ ...page, customer: query }) : NONE
  // Only customers can have further pages.
  if (page.cursor !== undefined) return byCustomer()
  const lookUps = [
    () => findNumber(orders, query, page.signal),
    byCustomer,
    () => orders.list({ ...page, reference: query }),
  ]
  for (const lookUp of lookUps) {
    const found = await lookUp()
    if (found.items.length > 0) return found
  }
  return NONE
}

async function findNumber(orders: Orders, query: string, signal: AbortSignal): Promise<ListPage<Order>> {
  const digits = /^#?(-?\d{1,19})$/.exec(query)?.[1]
  if (digits === undefined || BigInt(digits) > MAX_INT64) return NONE
  try {
    return { items: [await orders.get(BigInt(digits), { signal })] }
  } catch (error) {
    if (isPetstoreError(error, 'not_found')) return NONE
    throw error
  }
}
