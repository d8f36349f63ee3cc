import type { Order } from '@petstore/client'
import type { LiveChanges } from '../history/live-changes.ts'
import { State } from '../observable.ts'
import type { StockModel } from '../stock/stock-model.ts'
import type { OrderQuery } from './order-search.ts'

interface OpenOrdersContext {
  readonly orders: { list(query: OrderQuery): AsyncIterable<Order> }
  readonly stock: StockModel
  readonly live: LiveChanges<Order>
  readonly signal: AbortSignal
}

/** `ready`: events keep the reserved units of every pet current. `too many`: each row keeps the units it was loaded with. */
export type OpenOrdersPhase = 'loading' | 'ready' | 'too many'

/** Loading this many orders takes a key of the smallest plan a sixth of its requests per minute. */
export const MAX_OPEN_ORDERS = 10_000
const PAGE_SIZE = 1_000
const RETRY_MS = 15_000

/**
 * Keeps the reserved units of each pet in the stock. The list of the inventory does not have them, so the open orders
 * are loaded once, after the names of the pets, and then kept current by events.
 */
export class OpenOrders extends State<OpenOrdersPhase> {
  readonly #context: OpenOrdersContext
  #orders = new Map<bigint, Order>()
  /** Events since the load began. Its result may be older. */
  #duringLoad: Order[] | undefined
  #isLoadDue = false

  constructor(context: OpenOrdersContext) {
    super('loading')
    this.#context = context
  }

  start(): void {
    const { stock, live, signal } = this.#context
    const leave = live.subscribe((notice) => {
      if (notice.type === 'change') this.#take(notice.change)
      else if (stock.get().hasNames) void this.#load()
    })
    const unsubscribe = stock.subscribe(() => {
      if (!stock.get().hasNames) return
      unsubscribe()
      void this.#load()
    })
    signal.addEventListener('abort', () => {
      leave()
      unsubscribe()
    })
  }

  async #load(): Promise<void> {
    this.#isLoadDue = true
    if (this.#duringLoad !== undefined) return
    try {
      while (this.#isLoadDue) {
        this.#isLoadDue = false
        this.#duringLoad = []
        const loaded = await this.#list()
        if (!this.#isLoadDue) this.#show(loaded, this.#duringLoad)
      }
    } catch {
      if (!this.#context.signal.aborted) setTimeout(() => void this.#load(), RETRY_MS)
    } finally {
      this.#duringLoad = undefined
    }
  }

  /** All open orders; `undefined` if there are too many. */
  async #list(): Promise<Map<bigint, Order> | undefined> {
    const { orders, signal } = this.#context
    const loaded = new Map<bigint, Order>()
    for await (const order of orders.list({ state: 'open', limit: PAGE_SIZE, signal })) {
      if (loaded.size === MAX_OPEN_ORDERS) return undefined
      loaded.set(order.id, order)
    }
    return loaded
  }

  #show(loaded: Map<bigint, Order> | undefined, events: readonly Order[]): void {
    const { stock } = this.#context
    this.#orders = loaded ?? new Map()
    if (loaded !== undefined) for (const order of events) this.#keep(order)
    const reserved = new Map<bigint, number>()
    for (const { petId, quantity } of this.#orders.values()) {
      reserved.set(petId, (reserved.get(petId) ?? 0) + quantity)
    }
    stock.replaceReserved(loaded && reserved)
    this.setValue(loaded === undefined ? 'too many' : 'ready')
  }

  #take(order: Order): void {
    this.#duringLoad?.push(order)
    if (this.get() !== 'ready') return
    const difference = this.#keep(order)
    if (difference !== 0) this.#context.stock.reserve(order.petId, difference)
  }

  /** Returns the change of the reserved units of the pet. */
  #keep(order: Order): number {
    const isKnown = this.#orders.has(order.id)
    if (order.state === 'open') {
      this.#orders.set(order.id, order)
      return isKnown ? 0 : order.quantity
    }
    this.#orders.delete(order.id)
    return isKnown ? -order.quantity : 0
  }
}
