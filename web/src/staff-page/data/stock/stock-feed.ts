import {
  type InventoryEvent,
  type InventoryItem,
  isPetstoreError,
  type Order,
  type PetstoreClient,
} from '@petstore/client'
import { failureWords } from '../failure-words.ts'
import { changeOf } from '../history/change-log.ts'
import { LiveChanges } from '../history/live-changes.ts'
import type { RequestWatch } from '../request-watch.ts'
import type { OwnChanges } from './own-changes.ts'
import { followSight } from './page-sight.ts'
import type { StockModel } from './stock-model.ts'

interface FeedContext {
  readonly client: PetstoreClient
  readonly stock: StockModel
  readonly own: OwnChanges
  readonly requests: RequestWatch
  readonly signal: AbortSignal
}

/** The list is better read once the stream has begun, but not at the price of a page that stays empty. */
const WAIT_FOR_STREAM_MS = 1_000
const RECONNECT_MS = 5_000
const ONE_MOMENT_MS = 500
const NAMES_TO_A_PAGE = 10_000
/** Pets that come together, as by an import, get their names together. */
const NAMES_SOON_MS = 1_500
const NAMES_AGAIN_MS = 15_000

/** Brings the model what the service says: the list, the names, and every change as it happens. */
export class StockFeed {
  /** Every change as it is told of, for the views that show changes. */
  readonly changes = new LiveChanges()
  /** Every order that something happened to, as it then is. */
  readonly orders = new LiveChanges<Order>()
  /** Every event as it comes, for the views that follow something else. */
  readonly events = new LiveChanges<InventoryEvent>()
  readonly #context: FeedContext
  #lastEventId: string | undefined
  #streamBegan = () => {}
  #attempt = new AbortController()
  #wake = () => {}
  /** Events that came while a list was on its way, which may be older than they are. */
  #duringList: InventoryEvent[] | undefined
  #isListDue = false
  #namesTimer: ReturnType<typeof setTimeout> | undefined
  #isNaming = false
  #isResting = false

  constructor(context: FeedContext) {
    this.#context = context
  }

  start(): void {
    const { signal, requests } = this.#context
    const began = new Promise<void>((resolve) => {
      this.#streamBegan = resolve
    })
    const late = new Promise<void>((resolve) => setTimeout(resolve, WAIT_FOR_STREAM_MS))
    followSight({ rest: () => this.#rest(), wake: () => this.#goOn(), signal })
    void this.#follow()
    void Promise.race([began, late]).then(() => this.reload())
    let wasUnreachable = false
    const unsubscribe = requests.subscribe(() => {
      const { isUnreachable } = requests.get()
      // The answer may be that of the stream itself, which then stands in a moment.
      if (wasUnreachable && !isUnreachable) setTimeout(this.reconnectNow, ONE_MOMENT_MS)
      wasUnreachable = isUnreachable
    })
    addEventListener('offline', requests.noteOffline, { signal })
    addEventListener('online', this.reconnectNow, { signal })
    signal.addEventListener('abort', () => {
      unsubscribe()
      clearTimeout(this.#namesTimer)
    })
  }

  /** Does not wait for the next attempt. Does nothing while the connection stands, as far as anybody can tell. */
  readonly reconnectNow = (): void => {
    const { stock, requests } = this.#context
    if (stock.get().connection === 'live' && !requests.get().isUnreachable) return
    this.#leaveStream()
    this.#wake()
  }

  /** Reads the whole list anew, and the names behind it. */
  async reload(): Promise<void> {
    const { client, stock, own, signal } = this.#context
    this.#isListDue = true
    if (this.#duringList !== undefined || signal.aborted) return
    if (stock.get().phase === 'failed') stock.beginLoading()
    try {
      while (this.#isListDue) {
        this.#isListDue = false
        this.#duringList = []
        const { items } = await client.inventory.list({ signal })
        stock.replaceAll(items)
        for (const event of this.#duringList) this.#apply(event, false)
      }
      own.forgetAnswered()
      this.#nameSoon(0)
    } catch (error) {
      if (signal.aborted) return
      if (stock.get().phase === 'ready') setTimeout(() => void this.reload(), RECONNECT_MS)
      else stock.fail(failureWords(error))
    } finally {
      this.#duringList = undefined
    }
  }

  async #follow(): Promise<void> {
    const { client, stock, signal } = this.#context
    while (!signal.aborted) {
      while (this.#isResting && !signal.aborted) await this.#pause()
      const attempt = new AbortController()
      this.#attempt = attempt
      const lastEventId = this.#lastEventId
      try {
        const events = client.inventory.events({
          signal: AbortSignal.any([signal, attempt.signal]),
          onConnection: (state) => {
            if (!attempt.signal.aborted) stock.setConnection(state === 'lost' ? 'lost' : 'live')
          },
          ...(lastEventId === undefined ? {} : { lastEventId }),
        })
        for await (const event of events) this.#take(event)
      } catch (error) {
        if (signal.aborted) return
        if (attempt.signal.aborted) continue
        stock.setConnection('lost')
        // The service does not know the point where we left off: begin anew, with a new list.
        if (isPetstoreError(error, 'invalid_request')) this.#lastEventId = undefined
        else await this.#pause()
      }
    }
  }

  #take(event: InventoryEvent): void {
    const isRestart = event.type === 'ready' && this.#lastEventId !== undefined
    this.#lastEventId = event.id
    if (event.type === 'change') this.changes.tell({ type: 'change', change: changeOf(event) })
    if (event.type === 'pet') this.#context.stock.barcodes.take([event])
    if (event.type === 'order') this.orders.tell({ type: 'change', change: event.order })
    if (event.type === 'relist' || isRestart) this.#beginAnew()
    else if (event.type === 'ready') this.#begin()
    else if (this.#duringList !== undefined) this.#duringList.push(event)
    if (this.#context.stock.get().phase === 'ready') this.#apply(event, true)
    this.events.tell({ type: 'change', change: event })
  }

  /** A list that was asked for before the stream began may lack what happened in between. */
  #begin(): void {
    const wasLate = this.#duringList !== undefined || this.#context.stock.get().phase !== 'loading'
    this.#streamBegan()
    if (wasLate) this.#beginAnew()
  }

  #beginAnew(): void {
    this.changes.tell({ type: 'missed' })
    this.orders.tell({ type: 'missed' })
    this.events.tell({ type: 'missed' })
    void this.reload()
  }

  #apply(event: InventoryEvent, isNews: boolean): void {
    const { stock, own } = this.#context
    if (event.type === 'removed') stock.remove(event.petId)
    else if (event.type === 'change') {
      const { petId, after: quantity, status } = event
      const isOwn = own.recognise(petId, quantity)
      this.#applyItem({ petId, quantity, status }, isNews && !isOwn)
    } else if (event.type === 'pet') {
      const { petId, quantity, status } = event
      stock.apply({ petId, quantity, status }, isNews)
      stock.rename(event)
    }
  }

  #applyItem(item: InventoryItem, byOthers: boolean): void {
    if (this.#context.stock.apply(item, byOthers) === 'new') this.#nameSoon(NAMES_SOON_MS)
  }

  #nameSoon(ms: number): void {
    clearTimeout(this.#namesTimer)
    this.#namesTimer = setTimeout(() => void this.#loadNames(), ms)
  }

  async #loadNames(): Promise<void> {
    const { client, stock, signal } = this.#context
    if (this.#isNaming) return this.#nameSoon(NAMES_SOON_MS)
    this.#isNaming = true
    try {
      let cursor: string | undefined
      do {
        const { items, next } = await client.catalog.list({ limit: NAMES_TO_A_PAGE, cursor, signal })
        stock.barcodes.take(items)
        stock.addNames(items, next === undefined)
        cursor = next
      } while (cursor !== undefined)
    } catch {
      if (!signal.aborted) this.#nameSoon(NAMES_AGAIN_MS)
    } finally {
      this.#isNaming = false
    }
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve
      setTimeout(resolve, RECONNECT_MS)
    })
  }

  /** A browser has six connections to one host for all tabs together: one that nobody looks at gives back its own. */
  #rest(): void {
    this.#isResting = true
    this.#leaveStream()
  }

  #leaveStream(): void {
    this.#attempt.abort()
    this.#context.stock.setConnection('connecting')
  }

  #goOn(): void {
    this.#isResting = false
    this.#wake()
    this.reconnectNow()
  }
}
