import type { Order } from '@petstore/client'
import { useEffect, useMemo } from 'react'
import { failureWords } from '../failure-words.ts'
import type { LiveChanges } from '../history/live-changes.ts'
import { Observable, type Readable, useReadable } from '../observable.ts'

/** Which orders a list shows. */
export interface OrderSource {
  /** All that may be among them, by id. */
  readonly read: (signal: AbortSignal) => AsyncIterable<Order>
  readonly fits: (order: Order) => boolean
}

/** Where an order is told of: as it happens to any of them, and in the answers to this page. */
export interface OrderNews {
  readonly events: LiveChanges<Order>
  readonly answers: LiveChanges<Order>
}

export interface OrderListSnapshot {
  /** By id; those that do not fit any more stay until `hideSettled`, so that no row goes from under a hand. */
  readonly orders: readonly Order[]
  readonly phase: 'loading' | 'ready' | 'failed'
  /** Why the last request failed, in words for the user. */
  readonly failure: string | undefined
  readonly isLoading: boolean
  /** There are orders behind the last one that was looked at. */
  readonly hasMore: boolean
  /** How many were looked at to find these. */
  readonly lookedAt: number
}

export const ORDERS_TO_A_PAGE = 100
/** A search that finds little does not read all orders at once. */
const MAX_LOOKED_AT = 4_999
/** After a gap in what was told, so many are listed again at most; the rest is for the user to ask for. */
const MAX_AGAIN = 1_000
const MAX_SETTLED = 200
const FLUSH_MS = 60

const BEGINNING: OrderListSnapshot = {
  orders: [],
  phase: 'loading',
  failure: undefined,
  isLoading: true,
  hasMore: false,
  lookedAt: 0,
}

/**
 * The first orders that fit, by id, as they are now: listed page by page, and then kept by what is told of them. An
 * order that is told of belongs to it where the list has come that far.
 */
export class OrderList implements Readable<OrderListSnapshot> {
  readonly #snapshot = new Observable(BEGINNING)
  readonly #source: OrderSource
  readonly #news: OrderNews
  #orders = new Map<bigint, Order>()
  #reading = new AbortController()
  #iterator: AsyncIterator<Order> | undefined
  /** Read but not shown yet: it tells that there is more. */
  #ahead: Order | undefined
  #lastLookedAt: bigint | undefined
  #lookedAt = 0
  /** Told of while a page was on its way, which may be older. */
  #duringPage: Order[] | undefined
  #flushing: ReturnType<typeof setTimeout> | undefined

  readonly get = this.#snapshot.get
  readonly subscribe = this.#snapshot.subscribe

  constructor(source: OrderSource, news: OrderNews) {
    this.#source = source
    this.#news = news
  }

  /** Lists and follows, until the function that it gives is called. */
  start(): () => void {
    const leaveEvents = this.#news.events.subscribe((notice) => {
      if (notice.type === 'missed') void this.reload()
      else this.#take(notice.change)
    })
    const leaveAnswers = this.#news.answers.subscribe((notice) => {
      if (notice.type === 'missed') return
      this.#take(notice.change)
      // Whoever pressed a button sees what came of it as soon as the button is free again.
      this.#flush()
    })
    void this.reload()
    return () => {
      leaveEvents()
      leaveAnswers()
      clearTimeout(this.#flushing)
      this.#reading.abort()
    }
  }

  /** Begins anew; what is shown stays until the answer is there. */
  async reload(): Promise<void> {
    this.#reading.abort()
    this.#reading = new AbortController()
    const wanted = Math.min(MAX_AGAIN, Math.max(ORDERS_TO_A_PAGE, this.get().orders.length))
    this.#iterator = this.#source.read(this.#reading.signal)[Symbol.asyncIterator]()
    await this.#read(wanted, true)
  }

  async loadMore(): Promise<void> {
    if (this.get().isLoading) return
    await (this.#iterator === undefined ? this.reload() : this.#read(ORDERS_TO_A_PAGE, false))
  }

  /** Leaves out what does not fit any more. */
  hideSettled(): void {
    for (const order of this.#orders.values()) if (!this.#source.fits(order)) this.#orders.delete(order.id)
    this.#publish({})
  }

  isSettled(order: Order): boolean {
    return !this.#source.fits(order)
  }

  async #read(wanted: number, isAnew: boolean): Promise<void> {
    const { signal } = this.#reading
    const iterator = this.#iterator
    this.#duringPage = []
    this.#publish({ isLoading: true, ...(this.get().phase === 'failed' ? { phase: 'loading' } : {}) })
    const page: Order[] = []
    let ahead = isAnew ? undefined : this.#ahead
    let lookedAt = 0
    try {
      for (let found = 0; found < wanted && lookedAt < MAX_LOOKED_AT; lookedAt++) {
        const order = ahead ?? (await next(iterator))
        ahead = undefined
        if (order === undefined) break
        page.push(order)
        if (this.#source.fits(order)) found++
      }
      ahead ??= await next(iterator)
    } catch (error) {
      if (signal.aborted) return
      const phase = this.get().phase === 'ready' ? 'ready' : 'failed'
      // What an iterator has not given is lost with it.
      this.#iterator = undefined
      this.#publish({ phase, failure: failureWords(error), isLoading: false })
      return
    }
    if (signal.aborted) return
    this.#show(page, isAnew, ahead)
  }

  #show(page: readonly Order[], isAnew: boolean, ahead: Order | undefined): void {
    if (isAnew) this.#orders = new Map()
    this.#lookedAt = (isAnew ? 0 : this.#lookedAt) + page.length
    this.#lastLookedAt = page.at(-1)?.id ?? (isAnew ? undefined : this.#lastLookedAt)
    this.#ahead = ahead
    for (const order of page) if (this.#source.fits(order)) this.#keep(order)
    const told = this.#duringPage ?? []
    this.#duringPage = undefined
    this.#publish({ phase: 'ready', failure: undefined, isLoading: false })
    for (const order of told) this.#take(order)
    if (told.length > 0) this.#flush()
  }

  #take(order: Order): void {
    this.#duringPage?.push(order)
    const isReached =
      this.#ahead === undefined || (this.#lastLookedAt !== undefined && order.id <= this.#lastLookedAt)
    const belongs = this.get().phase === 'ready' && isReached && this.#source.fits(order)
    if (!this.#orders.has(order.id) && !belongs) return
    this.#keep(order)
    this.#flushing ??= setTimeout(() => this.#flush(), FLUSH_MS)
  }

  /** Only an open one ever changes its state: what says otherwise is older than what is known. */
  #keep(order: Order): void {
    const known = this.#orders.get(order.id)
    if (known === undefined || known.state === 'open') this.#orders.set(order.id, order)
  }

  #flush(): void {
    const settled = [...this.#orders.values()].filter((order) => this.isSettled(order))
    if (settled.length > MAX_SETTLED) this.hideSettled()
    else this.#publish({})
  }

  #publish(changes: Partial<OrderListSnapshot>): void {
    clearTimeout(this.#flushing)
    this.#flushing = undefined
    const orders = [...this.#orders.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
    const [hasMore, lookedAt] = [this.#ahead !== undefined, this.#lookedAt]
    this.#snapshot.set({ ...this.get(), orders, hasMore, lookedAt, ...changes })
  }
}

async function next(iterator: AsyncIterator<Order> | undefined): Promise<Order | undefined> {
  const result = await iterator?.next()
  return result === undefined || result.done === true ? undefined : result.value
}

/** A list for as long as the component is there. Both arguments must stay the same objects for the same list. */
export function useOrderList(
  source: OrderSource,
  news: OrderNews,
): { list: OrderList; orders: OrderListSnapshot } {
  const list = useMemo(() => new OrderList(source, news), [source, news])
  useEffect(() => list.start(), [list])
  return { list, orders: useReadable(list) }
}
