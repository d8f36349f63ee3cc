import { isExpired, type Order } from '../../src/core/orders/order.ts'
import { availableOf } from '../../src/core/stock/stock-draft.ts'
import type { StockEvent } from '../../src/core/stock/stock-event.ts'
import type { EventStore } from '../../src/core/stock/stock-store.ts'

/** The knowledge about one pet from its events. */
interface Shelf {
  quantity: number
  reserved: number
  /** Removed as sold, by an order whose completion comes next. */
  sold: { readonly reference: string | undefined; readonly units: number } | undefined
}

/**
 * Replays the events of stock and orders, and reports violations: an order that was made without enough stock,
 * an order that was closed twice or expired early, stock that was sold without an order or in another quantity.
 * `quantities` are those at the beginning, when no order was open.
 */
export class Playback {
  /** The orders after all replayed events. */
  readonly orders = new Map<bigint, Order>()
  readonly #shelves = new Map<bigint, Shelf>()

  constructor(quantities: ReadonlyMap<bigint, number>) {
    for (const [petId, quantity] of quantities) {
      this.#shelves.set(petId, { quantity, reserved: 0, sold: undefined })
    }
  }

  shelf(petId: bigint): Readonly<Omit<Shelf, 'sold'>> | undefined {
    return this.#shelves.get(petId)
  }

  play(events: readonly StockEvent[]): string[] {
    return events.flatMap((event) => {
      if (event.kind !== 'change' && event.kind !== 'order') return [`a ${event.kind} event came in between`]
      const petId = event.kind === 'order' ? event.order.petId : event.petId
      const shelf = this.#shelves.get(petId)
      if (shelf === undefined) return [`petId ${petId} is not known`]
      const trouble = event.kind === 'order' ? this.#ordered(shelf, event) : changed(shelf, event)
      return trouble === undefined ? [] : [`petId ${petId}: ${trouble}`]
    })
  }

  #ordered(shelf: Shelf, event: Extract<StockEvent, { kind: 'order' }>): string | undefined {
    const { change, order } = event
    const known = this.orders.get(order.id)
    const available = availableOf(shelf)
    const { sold } = shelf
    shelf.sold = undefined
    this.orders.set(order.id, order)
    shelf.reserved += heldBy(order) - heldBy(known)
    if (change === 'created') {
      if (known !== undefined) return `order ${order.id} is made twice`
      return available < order.quantity
        ? `order ${order.id} takes ${order.quantity}, but ${available} were available`
        : undefined
    }
    if (known?.state !== 'open') return `order ${order.id} is ${change}, but was ${known?.state}`
    if (change !== 'changed' && known.quantity !== order.quantity)
      return `order ${order.id} had ${known.quantity} units, and is ${change} with ${order.quantity}`
    if (change === 'expired' && !isExpired(known, event.at))
      return `order ${order.id} expired before its time`
    if (change !== 'completed')
      return sold === undefined ? undefined : `${sold.reference} was sold, but ${change}`
    return sold?.units === order.quantity && sold.reference === `order ${order.id}`
      ? undefined
      : `order ${order.id} was completed without its ${order.quantity} being taken out`
  }
}

export function contradictions(
  events: readonly StockEvent[],
  quantities: ReadonlyMap<bigint, number>,
): string[] {
  return new Playback(quantities).play(events)
}

function changed(shelf: Shelf, event: Extract<StockEvent, { kind: 'change' }>): string | undefined {
  const { before, after, reason, reference } = event
  const was = shelf.quantity
  shelf.quantity = after
  if (before !== was) return `it was ${was}, but changes from ${before}`
  if (shelf.sold !== undefined) return `${shelf.sold.reference} was sold and never completed`
  if (reason === 'sold') shelf.sold = { reference, units: before - after }
  return undefined
}

function heldBy(order: Order | undefined): number {
  return order?.state === 'open' ? order.quantity : 0
}

/** All events after the cursor. */
export async function eventsAfter(
  store: Pick<EventStore, 'eventsAfter'>,
  cursor: string,
): Promise<StockEvent[]> {
  const all: StockEvent[] = []
  for (let from = cursor; ; ) {
    const found = await store.eventsAfter(from, 1_000)
    if (typeof found === 'string') throw new Error(found)
    if (found.events.length === 0) return all
    all.push(...found.events)
    from = found.cursor
  }
}
