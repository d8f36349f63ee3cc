import { type CallOptions, isPetstoreError, type Order, type OrderState } from '@petstore/client'
import { fold, searchTerms } from '../stock/search-text.ts'
import type { StockModel } from '../stock/stock-model.ts'
import { type ReadPage, readAll } from '../stock/stock-search.ts'
import { ORDERS_PER_PAGE, type OrderSource } from './order-list.ts'

/** A held order is an open one that expires by itself. */
export type OrderKind = OrderState | 'held'

export interface OrderFilter {
  readonly kind: OrderKind
  readonly query: string
}

export interface OrderQuery extends CallOptions {
  readonly state: OrderState
  readonly petId?: bigint
  /** The beginning of the customer's name. The orders are then sorted by customer, otherwise by id. */
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
/** The orders of more than this many matches by customer are not shown. */
const MAX_CUSTOMER_ORDERS = 1_000
const EXAMINED_PER_PAGE = 1_000
/** The pets of a large store that a search loads at most. */
const MAX_NAMED_PETS = 5_000
const TOO_MANY_PETS = `More than ${MAX_NAMED_PETS.toLocaleString('en')} pets match. Type more of the name.`
const MAX_INT64 = 2n ** 63n - 1n

/** Finds the orders of one kind by the id of the order, by the customer, and by the pet's name, id or barcode. */
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
  const customer = customerWords(query)
  const fits = (order: Order) =>
    isOfKind(order) &&
    (order.id === orderId ||
      petIds.has(order.petId) ||
      (customer !== '' && customerWords(order.customer ?? '').startsWith(customer)))
  async function* read(signal: AbortSignal): AsyncGenerator<Order> {
    if (scanned === undefined) petIds = await matchingPets(stock, readPets, query, signal)
    if (petIds.size > MAX_PETS) {
      yield* orders.list({ state, limit: EXAMINED_PER_PAGE, signal })
      return
    }
    yield* merged([
      ...(orderId === undefined ? [] : [orderWithId(orders, orderId, signal)]),
      ...[...petIds].map((petId) => orders.list({ state, petId, limit, signal })),
      ...(customer === ''
        ? []
        : [byId(orders.list({ state, customer, limit: MAX_CUSTOMER_ORDERS, signal }))]),
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

/** The words of a customer as the service compares them: letters and digits without case and accents. */
function customerWords(text: string): string {
  return (fold(text).match(/[\p{L}\p{N}]+/gu) ?? []).join(' ')
}

function idIn(query: string): bigint | undefined {
  const digits = /^#?(-?\d{1,19})$/.exec(query.trim())?.[1]
  const id = digits === undefined ? undefined : BigInt(digits)
  return id !== undefined && id <= MAX_INT64 ? id : undefined
}

async function* orderWithId(orders: OrderReads, orderId: bigint, signal: AbortSignal): AsyncGenerator<Order> {
  try {
    yield await orders.get(orderId, { signal })
  } catch (error) {
    if (!isPetstoreError(error, 'not_found')) throw error
  }
}

/** The first orders of a list that is sorted by customer, sorted by id. */
async function* byId(list: AsyncIterable<Order>): AsyncGenerator<Order> {
  const orders: Order[] = []
  for await (const order of list) {
    if (orders.push(order) === MAX_CUSTOMER_ORDERS) break
  }
  yield* orders.sort((a, b) => (a.id < b.id ? -1 : 1))
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
