import { isPetstoreError, type Order, type OrderState } from '@petstore/client'
import { searchTerms } from '../stock/search-text.ts'
import type { StockRow } from '../stock/stock-model.ts'
import type { OrderCalls } from './order-calls.ts'
import { ORDERS_TO_A_PAGE, type OrderSource } from './order-list.ts'

/** Held ones are open ones that expire by themselves. */
export type OrderKind = OrderState | 'held'

export interface OrderFilter {
  readonly kind: OrderKind
  readonly query: string
}

export const FIRST_ORDER_FILTER: OrderFilter = { kind: 'open', query: '' }

/** The orders of so many pets are asked for one by one; for more of them, all orders are looked through. */
const MAX_PETS_ASKED = 8
const LOOKED_THROUGH_AT_A_TIME = 1_000
const MAX_INT64 = 2n ** 63n - 1n

/** An id is that of an order, whatever its state, or of a pet; anything else is looked for in the names of pets. */
export function searchOrders(
  calls: Pick<OrderCalls, 'list' | 'get'>,
  { kind, query }: OrderFilter,
  pets: readonly StockRow[],
): OrderSource {
  const state = kind === 'held' ? 'open' : kind
  const isOfKind = (order: Order) =>
    order.state === state && (kind !== 'held' || order.expiresAt !== undefined)
  const listed = (petId: bigint | undefined, pageSize: number) => (signal: AbortSignal) =>
    calls.list({ state, petId, pageSize }, signal)
  const pageSize = kind === 'held' ? LOOKED_THROUGH_AT_A_TIME : ORDERS_TO_A_PAGE + 1
  if (query.trim() === '') return { read: listed(undefined, pageSize), fits: isOfKind }

  const id = idIn(query)
  if (id !== undefined) {
    return {
      read: (signal) => merged([found(calls, id), listed(id, pageSize)(signal)]),
      fits: (order) => order.id === id || (order.petId === id && isOfKind(order)),
    }
  }
  const terms = searchTerms(query)
  const wanted = pets.filter(({ searchText }) => terms.every((term) => searchText.includes(term)))
  const petIds = new Set(wanted.map(({ petId }) => petId))
  const read =
    petIds.size > MAX_PETS_ASKED
      ? listed(undefined, LOOKED_THROUGH_AT_A_TIME)
      : (signal: AbortSignal) => merged([...petIds].map((petId) => listed(petId, pageSize)(signal)))
  return { read, fits: (order) => petIds.has(order.petId) && isOfKind(order) }
}

function idIn(query: string): bigint | undefined {
  const digits = /^#?(-?\d{1,19})$/.exec(query.trim())?.[1]
  const id = digits === undefined ? undefined : BigInt(digits)
  return id !== undefined && id <= MAX_INT64 ? id : undefined
}

async function* found(calls: Pick<OrderCalls, 'get'>, orderId: bigint): AsyncGenerator<Order> {
  try {
    yield await calls.get(orderId)
  } catch (error) {
    if (!isPetstoreError(error, 'not_found')) throw error
  }
}

/** Several lists by id as one, each order once. */
async function* merged(lists: readonly AsyncIterable<Order>[]): AsyncGenerator<Order> {
  const iterators = lists.map((list) => list[Symbol.asyncIterator]())
  const heads = await Promise.all(iterators.map((iterator) => iterator.next()))
  for (;;) {
    const ids = heads.flatMap(({ done, value }) => (done === true ? [] : [value.id]))
    const least = ids.reduce<bigint | undefined>(
      (one, id) => (one === undefined || id < one ? id : one),
      undefined,
    )
    if (least === undefined) return
    let isGiven = false
    for (const [index, head] of heads.entries()) {
      if (head.done === true || head.value.id !== least) continue
      if (!isGiven) yield head.value
      isGiven = true
      const iterator = iterators[index]
      if (iterator !== undefined) heads[index] = await iterator.next()
    }
  }
}
