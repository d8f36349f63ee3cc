import type { Order } from '@petstore/client'
import type { LiveChanges } from '../history/live-changes.ts'
import { Observable, type Readable } from '../observable.ts'
import type { StockModel } from '../stock/stock-model.ts'
import type { OrderCalls } from './order-calls.ts'

interface OpenOrdersContext {
  readonly calls: Pick<OrderCalls, 'list'>
  readonly stock: StockModel
  readonly live: LiveChanges<Order>
  readonly signal: AbortSignal
}

/** `ready`: the stock knows what is reserved of every pet. `too many`: it does not, and shows nothing of it. */
export type OpenOrdersPhase = 'loading' | 'ready' | 'too many'

/** So that reading them costs a key of the smallest plan a sixth of its minute at most. */
export const MAX_OPEN_ORDERS = 10_000
const TO_A_PAGE = 1_000
const AGAIN_MS = 15_000

/**
 * Tells the stock what open orders reserve of each pet. The list of the inventory does not say it, so the open orders
 * are read once, after the table has its names, and kept by the events that arrive anyway.
 */
export class OpenOrders implements Readable<OpenOrdersPhase> {
  readonly #phase = new Observable<OpenOrdersPhase>('loading')
  readonly #context: OpenOrdersContext
  #orders = new Map<bigint, Order>()
  /** What was told of while the list was on its way, which may be older. */
  #duringList: Order[] | undefined
  #isListDue = false

  readonly get = this.#phase.get
  readonly subscribe = this.#phase.subscribe

  constructor(context: OpenOrdersContext) {
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
    this.#isListDue = true
    if (this.#duringList !== undefined) return
    try {
      while (this.#isListDue) {
        this.#isListDue = false
        this.#duringList = []
        const listed = await this.#list()
        if (!this.#isListDue) this.#show(listed, this.#duringList)
      }
    } catch {
      if (!this.#context.signal.aborted) setTimeout(() => void this.#load(), AGAIN_MS)
    } finally {
      this.#duringList = undefined
    }
  }

  /** All open orders; `undefined` where there are too many. */
  async #list(): Promise<Map<bigint, Order> | undefined> {
    const { calls, signal } = this.#context
    const listed = new Map<bigint, Order>()
    for await (const order of calls.list({ state: 'open', pageSize: TO_A_PAGE }, signal)) {
      if (listed.size === MAX_OPEN_ORDERS) return undefined
      listed.set(order.id, order)
    }
    return listed
  }

  #show(listed: Map<bigint, Order> | undefined, told: readonly Order[]): void {
    const { stock } = this.#context
    this.#orders = listed ?? new Map()
    if (listed !== undefined) for (const order of told) this.#keep(order)
    const reserved = new Map<bigint, number>()
    for (const { petId, quantity } of this.#orders.values()) {
      reserved.set(petId, (reserved.get(petId) ?? 0) + quantity)
    }
    stock.replaceReserved(reserved)
    this.#phase.set(listed === undefined ? 'too many' : 'ready')
  }

  #take(order: Order): void {
    this.#duringList?.push(order)
    if (this.get() !== 'ready') return
    const difference = this.#keep(order)
    if (difference !== 0) this.#context.stock.reserve(order.petId, difference)
  }

  /** Gives by how much it changes what is reserved of its pet. */
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
