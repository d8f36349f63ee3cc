import { type CallOptions, isPetstoreError, type Order, type OrderState } from '@petstore/client'
import { searchTerms } from '../stock/search-text.ts'
import type { StockModel } from '../stock/stock-model.ts'
import { type ReadPage, readAll } from '../stock/stock-search.ts'
import { customerMatch, hasCustomerWords } from './customer-match.ts'
import { ORDERS_PER_PAGE, type OrderSource } from './order-list.ts'

/** A held order is an open one that expires by itself. */
export type OrderKind = OrderState | 'held'

export interface OrderFilter {
  readonly kind: OrderKind
  readonly query: string
}

export interface OrderQuery extends CallOptions {
  /** Open and complete orders by default. */
  readonly state?: OrderState
  readonly petId?: bigint
  /** Words of the customer, or the starts of words. */
  readonly customer?: string
  readonly limit: number
}

/** The requests of the client that a search needs. */
export interface OrderReads {
  list(query: OrderQuery): AsyncIterable<Order>
  get(orderId: bigint, options: CallOptions): Promise<Order>
}

export const FIRST_ORDER_FILTER: OrderFilter = { kind: 'open', query: '' }

/** The orders of this many pets are requested pet by pet. For more pets, all orders are examined. */
const MAX_PETS = 8
/** Together, the lists of these states have every order. */
const LISTED_STATES: readonly (OrderState | undefined)[] = [undefined, 'cancelled', 'expired']
const EXAMINED_PER_PAGE = 1_000
/** The pets of a large store that a search loads at most. */
const MAX_NAMED_PETS = 5_000
const TOO_MANY_PETS = `More than ${MAX_NAMED_PETS.toLocaleString('en')} pets match. Type more of the name.`
const MAX_INT64 = 2n ** 63n - 1n

/**
 * Finds orders in all states by the id of the order and by the customer, and orders of one kind by the pet's name, id or
 * barcode.
 */
export function searchOrders(
  orders: OrderReads,
  { kind, query }: OrderFilter,
  stock: StockModel,
  readPets: ReadPage,
): OrderSource {
  const state = kind === 'held' ? 'open' : kind
  const isOfKind = (order: Order) =>
    order.state === state && (kind !== 'held' || order.expiresAt !== undefined)
  const limit = kind === 'held' ? EXAMINED_PER_PAGE : ORDERS_PER_PAGE + 1
  if (query.trim() === '') {
    return { read: (signal) => orders.list({ state, limit, signal }), fits: isOfKind }
  }
  const scanned = stock.barcodes.find(query.trim())
  const orderId = scanned === undefined ? idIn(query) : undefined
  let petIds: ReadonlySet<bigint> = new Set(scanned === undefined ? [] : [scanned])
  const isOfCustomer = customerMatch(query)
  /** The service compares words more exactly than this page does. */
  const foundByCustomer = new Set<bigint>()
  const fits = (order: Order) =>
    order.id === orderId ||
    foundByCustomer.has(order.id) ||
    isOfCustomer(order.customer) ||
    (isOfKind(order) && petIds.has(order.petId))
  async function* read(signal: AbortSignal): AsyncGenerator<Order> {
    if (scanned === undefined) petIds = await matchingPets(stock, readPets, query, signal)
    const ordersOfPets =
      petIds.size > MAX_PETS
        ? [orders.list({ state, limit: EXAMINED_PER_PAGE, signal })]
        : [...petIds].map((petId) => orders.list({ state, petId, limit, signal }))
    const ordersOfCustomer = hasCustomerWords(query)
      ? LISTED_STATES.map((listed) => {
          const of = listed === undefined ? {} : { state: listed }
          const list = orders.list({ ...of, customer: query, limit: ORDERS_PER_PAGE + 1, signal })
          return noteIds(list, foundByCustomer)
        })
      : []
    yield* merged([
      ...(orderId === undefined ? [] : [orderWithId(orders, orderId, signal)]),
      ...ordersOfPets,
      ...ordersOfCustomer,
    ])
  }
  return { fits, read }
}

/** Digits are the id of a pet, or a barcode that the page does not know; anything else is searched for in the names. */
async function matchingPets(
  stock: StockModel,
  readPets: ReadPage,
  query: string,
  signal: AbortSignal,
): Promise<ReadonlySet<bigint>> {
  const q = query.trim()
  const id = idIn(query)
  const { isComplete } = stock.get()
  if (id !== undefined) {
    if (!isComplete) await readPets({ q, limit: MAX_PETS }, undefined, signal)
    return new Set([stock.barcodes.find(q) ?? id])
  }
  if (!isComplete) {
    const petIds = await readAll(readPets, { q }, MAX_NAMED_PETS, signal)
    if (petIds === undefined) throw new Error(TOO_MANY_PETS)
    return new Set(petIds)
  }
  const terms = searchTerms(query)
  const { rows } = stock.get()
  const matching = rows.filter(({ searchText }) => terms.every((term) => searchText.includes(term)))
  return new Set(matching.map(({ petId }) => petId))
}

/** The id in a text such as `17` or `#17`. */
export function idIn(query: string): bigint | undefined {
  const digits = /^#?(-?\d{1,19})$/.exec(query.trim())?.[1]
  const id = digits === undefined ? undefined : BigInt(digits)
  return id !== undefined && id <= MAX_INT64 ? id : undefined
}

export async function* orderWithId(
  orders: OrderReads,
  orderId: bigint,
  signal: AbortSignal,
): AsyncGenerator<Order> {
  try {
    yield await orders.get(orderId, { signal })
  } catch (error) {
    if (!isPetstoreError(error, 'not_found')) throw error
  }
}

async function* noteIds(list: AsyncIterable<Order>, ids: Set<bigint>): AsyncGenerator<Order> {
  for await (const order of list) {
    ids.add(order.id)
    yield order
  }
}

/** Merges lists that are sorted by id, each order once. */
async function* merged(lists: readonly AsyncIterable<Order>[]): AsyncGenerator<Order> {
  const iterators = lists.map((list) => list[Symbol.asyncIterator]())
  const heads = await Promise.all(iterators.map((iterator) => iterator.next()))
  for (;;) {
    const first = heads
      .flatMap(({ done, value }) => (done === true ? [] : [value]))
      .reduce<Order | undefined>((least, order) => (least && least.id < order.id ? least : order), undefined)
    if (first === undefined) return
    yield first
    for (const [index, head] of heads.entries()) {
      const iterator = iterators[index]
      if (head.done !== true && head.value.id === first.id && iterator !== undefined) {
        heads[index] = await iterator.next()
      }
    }
  }
}
