import { type InventoryEvent, isPetstoreError, type OrderEvent } from '@petstore/client'
import { LiveChanges } from '../history/live-changes.ts'
import type { RequestWatch } from '../request-watch.ts'
import type { SaveContext } from './own-request.ts'
import { newStockSearch, type ReadPage, type StockSearch, takeSearchRows } from './stock-search.ts'

interface FeedContext extends SaveContext {
  readonly requests: RequestWatch
}

/** A store with more pets is not loaded: the service searches and sorts it. */
const MAX_PETS_IN_MEMORY = 10_000
const PETS_PER_PAGE = 1_000
/** The first page is small, so that it is shown soon. */
const PETS_ON_FIRST_PAGE = 200
/** Lists are loaded after the stream has started, but not later than this. */
const WAIT_FOR_STREAM_MS = 1_000
const RECONNECT_MS = 5_000
const RECONNECT_AFTER_RESPONSE_MS = 500
/** Pets that are added together, as by an import, cause one reload. */
const RELOAD_MS = 1_500
/** A glance at another tab does not close the stream. */
const PAUSE_WHEN_HIDDEN_MS = 2_000

/** Fills the model: the pets of the store, or the first of a large one, and every change as it happens. */
export class StockFeed {
  #streamStarted = () => {}
  readonly #started = new Promise<void>((resolve) => {
    this.#streamStarted = resolve
  })
  readonly orders = new LiveChanges<OrderEvent>(this.#started)
  readonly events = new LiveChanges<InventoryEvent>(this.#started)
  /** All pets by petId: every pet of a small store. */
  readonly all: StockSearch
  readonly #context: FeedContext
  #lastEventId: string | undefined
  #attempt = new AbortController()
  #wake = () => {}
  /** Events that arrive while a page loads: the page may be older. One array for each request. */
  readonly #duringRequests = new Set<InventoryEvent[]>()
  #reloading: Promise<void> | undefined
  #isReloadDue = false
  #reloadTimer: ReturnType<typeof setTimeout> | undefined
  #isPaused = false

  constructor(context: FeedContext) {
    this.#context = context
    this.all = newStockSearch(this.read)
  }

  start(): void {
    const { signal, requests } = this.#context
    setTimeout(this.#streamStarted, WAIT_FOR_STREAM_MS)
    this.#pauseWhenHidden()
    void this.#follow()
    void this.#started.then(() => this.reload())
    let wasUnreachable = false
    const unsubscribe = requests.subscribe(() => {
      const { isUnreachable } = requests.get()
      // The response may be that of the stream itself, which is then about to start.
      if (wasUnreachable && !isUnreachable) setTimeout(this.reconnectNow, RECONNECT_AFTER_RESPONSE_MS)
      wasUnreachable = isUnreachable
    })
    addEventListener('offline', requests.noteOffline, { signal })
    addEventListener('online', this.reconnectNow, { signal })
    signal.addEventListener('abort', () => {
      unsubscribe()
      clearTimeout(this.#reloadTimer)
    })
  }

  /** Reconnects without waiting for the next attempt. Does nothing while the connection seems to work. */
  readonly reconnectNow = (): void => {
    const { stock, requests } = this.#context
    if (stock.get().connection === 'live' && !requests.get().isUnreachable) return
    this.#leaveStream()
    this.#wake()
  }

  readonly read: ReadPage = async (query, cursor, signal = this.#context.signal) => {
    const { client, stock } = this.#context
    const events = this.#collectEvents()
    const limit = cursor === undefined ? PETS_ON_FIRST_PAGE : PETS_PER_PAGE
    try {
      const page = await client.inventory.search({ limit, ...query, cursor, signal })
      takeSearchRows(stock, page.items)
      for (const event of events) this.#apply(event, false)
      return page
    } finally {
      this.#duringRequests.delete(events)
    }
  }

  async reload(): Promise<void> {
    this.#isReloadDue = true
    this.#reloading ??= this.#reload().finally(() => {
      this.#reloading = undefined
    })
    await this.#reloading
  }

  async #reload(): Promise<void> {
    const { stock, own, requests, signal } = this.#context
    if (stock.get().phase === 'failed') stock.beginLoading()
    while (this.#isReloadDue && !signal.aborted) {
      this.#isReloadDue = false
      const events = this.#collectEvents()
      await this.all.reload()
      while (this.#isLoadingMore()) await this.all.loadMore()
      this.#duringRequests.delete(events)
      const { failure, rows: petIds, next } = this.all.get()
      if (signal.aborted) return
      if (failure !== undefined) {
        const { isUnreachable, isUnavailable } = requests.get()
        const isReady = stock.get().phase === 'ready'
        if (isReady || isUnreachable || isUnavailable) this.#reloadSoon(RECONNECT_MS)
        if (!isReady) stock.fail(failure)
        return
      }
      stock.endLoading(next === undefined ? new Set(petIds) : undefined)
      for (const event of events) this.#apply(event, false)
      own.forgetAnswered()
    }
  }

  #isLoadingMore(): boolean {
    const { failure, rows, next } = this.all.get()
    const { hasNames, isComplete } = this.#context.stock.get()
    const isLarge = hasNames && !isComplete
    return failure === undefined && next !== undefined && rows.length < MAX_PETS_IN_MEMORY && !isLarge
  }

  #collectEvents(): InventoryEvent[] {
    const events: InventoryEvent[] = []
    this.#duringRequests.add(events)
    return events
  }

  async #follow(): Promise<void> {
    const { client, stock, signal } = this.#context
    while (!signal.aborted) {
      while (this.#isPaused && !signal.aborted) await this.#wait()
      const attempt = new AbortController()
      this.#attempt = attempt
      try {
        const events = client.inventory.events({
          signal: AbortSignal.any([signal, attempt.signal]),
          onConnection: (state) => {
            if (!attempt.signal.aborted) stock.setConnection(state === 'lost' ? 'lost' : 'live')
          },
          lastEventId: this.#lastEventId,
        })
        for await (const event of events) this.#take(event)
      } catch (error) {
        if (signal.aborted) return
        if (attempt.signal.aborted) continue
        stock.setConnection('lost')
        // The service does not know the last event: start again, and reload.
        if (isPetstoreError(error, 'invalid_request')) this.#lastEventId = undefined
        else await this.#wait()
      }
    }
  }

  #take(event: InventoryEvent): void {
    const isRestart = event.type === 'ready' && this.#lastEventId !== undefined
    this.#lastEventId = event.id
    if (event.type === 'order') this.orders.publish({ type: 'change', change: event })
    if (event.type === 'relist' || isRestart) this.#reloadAfterGap()
    else if (event.type === 'ready') this.#begin()
    else for (const events of this.#duringRequests) events.push(event)
    if (this.#context.stock.get().phase === 'ready') this.#apply(event, true)
    this.events.publish({ type: 'change', change: event })
  }

  /** A page that was requested before the stream started may lack changes in between. */
  #begin(): void {
    const isLate = this.#reloading !== undefined || this.#context.stock.get().phase !== 'loading'
    this.#streamStarted()
    if (isLate) this.#reloadAfterGap()
  }

  #reloadAfterGap(): void {
    this.orders.publish({ type: 'missed' })
    this.events.publish({ type: 'missed' })
    void this.reload()
  }

  #apply(event: InventoryEvent, isNews: boolean): void {
    const { stock, own } = this.#context
    if (event.type === 'removed') stock.remove(event.petId)
    if (event.type === 'order') for (const line of event.lines) stock.setReserved(line.petId, line.reserved)
    if (event.type !== 'change' && event.type !== 'pet') return
    const isOwn = event.type === 'change' && own.recognise(event.petId, event.after)
    const isKnown = stock.find(event.petId) !== undefined
    const { isComplete } = stock.get()
    if (event.type === 'pet' && (isKnown || isComplete)) {
      stock.barcodes.take([event])
      stock.apply(event, isNews)
    } else if (event.type === 'change' && isKnown) {
      const { petId, after: quantity, status, reserved } = event
      stock.apply({ petId, quantity, status, reserved }, isNews && !isOwn)
    } else if (event.type === 'change' && isComplete) this.#reloadSoon(RELOAD_MS)
  }

  #reloadSoon(ms: number): void {
    clearTimeout(this.#reloadTimer)
    this.#reloadTimer = setTimeout(() => void this.reload(), ms)
  }

  async #wait(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      setTimeout(resolve, RECONNECT_MS)
    })
  }

  /** A browser has six connections per host for all tabs together, so a hidden tab closes its stream. */
  #pauseWhenHidden(): void {
    const { signal } = this.#context
    let timer: ReturnType<typeof setTimeout> | undefined
    const pause = () => {
      this.#isPaused = true
      this.#leaveStream()
    }
    const onVisibility = () => {
      clearTimeout(timer)
      if (document.visibilityState === 'hidden') {
        timer = setTimeout(pause, PAUSE_WHEN_HIDDEN_MS)
        return
      }
      this.#isPaused = false
      this.#wake()
      this.reconnectNow()
    }
    if (document.visibilityState === 'hidden') pause()
    document.addEventListener('visibilitychange', onVisibility, { signal })
    signal.addEventListener('abort', () => clearTimeout(timer))
  }

  #leaveStream(): void {
    this.#attempt.abort()
    this.#context.stock.setConnection('connecting')
  }
}
