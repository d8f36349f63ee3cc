import type { Order } from '../../../src/core/orders/order.ts'
import type { HistoryEntry } from '../../../src/core/stock/history.ts'
import type { StockEvent } from '../../../src/core/stock/stock-event.ts'
import { openStore } from '../../../src/store/open-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { eventsAfter, Playback } from '../../support/oversell-check.ts'
import type { OrderLoad } from './order-load.ts'

type QuantityEvent = Extract<StockEvent, { kind: 'change' }>

const PAGE = 1_000

/**
 * Compares a store with the responses that callers got: the events, replayed from the first one, the histories,
 * the orders and the available units. All stock must come from the load.
 */
export class OrderProof {
  readonly #url: string
  readonly #petIds: readonly bigint[]
  readonly #playback: Playback
  readonly #changes = new Map<bigint, QuantityEvent[]>()
  #cursor: string
  events = 0

  static async begin(url: string, petIds: readonly bigint[]): Promise<OrderProof> {
    const store = await openStore(url, { tables: 'migrate' })
    const cursor = await store.latestEventCursor()
    await store.close()
    return new OrderProof(url, petIds, cursor)
  }

  private constructor(url: string, petIds: readonly bigint[], cursor: string) {
    this.#url = url
    this.#petIds = petIds
    this.#cursor = cursor
    this.#playback = new Playback(new Map(petIds.map((petId) => [petId, 0])))
  }

  get orders(): ReadonlyMap<bigint, Order> {
    return this.#playback.orders
  }

  /**
   * The current violations. Nobody may order meanwhile; holds may expire. The store is reopened, as after a
   * crash.
   */
  async violations(load: OrderLoad, { readsHistories }: { readsHistories: boolean }): Promise<string[]> {
    const store = await openStore(this.#url, { tables: 'migrate' })
    try {
      const events = await eventsAfter(store, this.#cursor)
      this.#cursor = events.at(-1)?.cursor ?? this.#cursor
      this.events += events.length
      for (const event of events) this.#note(event)
      const found = [...this.#playback.play(events), ...this.#unanswered(load)]
      const { leastAvailable } = this.#playback
      if (leastAvailable < 0) found.push(`${-leastAvailable} more were sold and reserved than were there`)
      for (const petId of this.#petIds) found.push(...(await this.#unlike(store, petId)))
      if (readsHistories) for (const petId of this.#petIds) found.push(...(await this.#history(store, petId)))
      return [...found, ...(await store.findDamage())]
    } finally {
      await store.close()
    }
  }

  #note(event: StockEvent): void {
    if (event.kind !== 'change') return
    const changes = this.#changes.get(event.petId)
    if (changes === undefined) this.#changes.set(event.petId, [event])
    else changes.push(event)
  }

  /**
   * The differences between responses and events. An order that was made without a response becomes one of the
   * load's.
   */
  #unanswered(load: OrderLoad): string[] {
    const { orders } = this.#playback
    const found: string[] = []
    for (const [id, { petId, quantity }] of load.made) {
      const order = orders.get(id)
      if (order?.petId !== BigInt(petId) || order.quantity !== quantity) {
        found.push(
          `order ${id} of ${quantity} of petId ${petId} was answered, and there is ${order?.quantity}`,
        )
      }
    }
    for (const { id, petId, quantity } of orders.values()) {
      if (!load.made.has(id)) load.adopt(id, { petId: Number(petId), quantity })
    }
    if (load.unsure < 0) found.push(`${-load.unsure} orders were made that nobody can have asked for`)
    load.unsure = 0
    for (const [id, closings] of load.closings) {
      const state = orders.get(id)?.state ?? 'gone'
      const isAsAnswered = [...closings].every((closing) =>
        closing === 'complete' ? state === 'complete' : state === 'cancelled' || state === 'expired',
      )
      if (!isAsAnswered) found.push(`order ${id} is ${state}, and was answered as ${[...closings].join()}`)
    }
    return found
  }

  /** Holds may have expired since the events were read, and reserve nothing from then on. */
  async #unlike(store: Store, petId: bigint): Promise<string[]> {
    const open = [...this.orders.values()].filter((order) => order.petId === petId && order.state === 'open')
    const heldAt = (now: number) =>
      open.reduce((sum, { quantity, expiresAt }) => sum + ((expiresAt ?? now + 1) > now ? quantity : 0), 0)
    const before = heldAt(Date.now())
    const shown = await store.findAvailability(petId)
    const after = heldAt(Date.now())
    const shelf = this.#playback.shelf(petId)
    const isAlike =
      shown !== undefined &&
      shown.quantity === shelf?.quantity &&
      shown.reserved <= before &&
      shown.reserved >= after
    if (isAlike) return []
    return [
      `petId ${petId} has ${shown?.quantity}, ${shown?.reserved} reserved; its events end with ${shelf?.quantity}, ${after} to ${before} reserved`,
    ]
  }

  /** The history of a pet has the same changes as its events, each once. */
  async #history(store: Store, petId: bigint): Promise<string[]> {
    const entries: HistoryEntry[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await store.listHistoryPage(petId, PAGE, cursor)
      entries.unshift(...page.rows.toReversed())
      if (page.next === undefined) break
      cursor = page.next
    }
    const events = this.#changes.get(petId) ?? []
    return Bun.deepEquals(entries.map(told), events.map(told))
      ? []
      : [
          `the history of petId ${petId} has ${entries.length} changes, and its events are ${events.length} others`,
        ]
  }

  /** Every acknowledged delivery was made, and each at most once. */
  wrongDeliveries({ deliveries }: OrderLoad): string[] {
    const changes = [...this.#changes.values()].flat().filter(({ reason }) => reason === 'received')
    const made = Map.groupBy(changes, ({ reference }) => reference ?? '')
    const found = [...made.keys()].filter((reference) => !deliveries.has(reference))
    for (const [reference, { petId, units, fate }] of deliveries) {
      const [first, second] = made.get(reference) ?? []
      const isMade = first?.petId === BigInt(petId) && first.after - first.before === units
      const isFine = first === undefined ? fate === 'unsure' : isMade && second === undefined
      if (!isFine) found.push(reference)
    }
    return found.map((reference) => `${reference} is not there once, as it was answered`)
  }
}

function told({ before, after, at, keyId, reason, reference }: QuantityEvent | HistoryEntry) {
  return { before, after, at, keyId, reason, reference }
}
