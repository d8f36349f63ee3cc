import type { Order } from '../../src/core/orders/order.ts'
import type { StockEvent } from '../../src/core/stock/stock-event.ts'
import type { EventStore } from '../../src/core/stock/stock-store.ts'

/** What is known of one pet from its events. */
interface Shelf {
  quantity: number
  readonly orders: Map<bigint, Order>
  /** Taken out as sold, by an order whose completion comes next. */
  sold: { readonly reference: string | undefined; readonly units: number } | undefined
}

/**
 * Plays back what happened to the stock and its orders, and tells what should never have: an order that was made though
 * less was there, one that was closed twice, stock that was sold without an order or otherwise than it says. `quantities`
 * are those at the beginning, when no order was open.
 */
export function contradictions(
  events: readonly StockEvent[],
  quantities: ReadonlyMap<bigint, number>,
): string[] {
  const shelves = new Map<bigint, Shelf>()
  for (const [petId, quantity] of quantities) {
    shelves.set(petId, { quantity, orders: new Map(), sold: undefined })
  }
  return events.flatMap((event) => {
    if (event.kind !== 'change' && event.kind !== 'order') return [`a ${event.kind} event came in between`]
    const petId = event.kind === 'order' ? event.order.petId : event.petId
    const shelf = shelves.get(petId)
    if (shelf === undefined) return [`petId ${petId} is not known`]
    const trouble = event.kind === 'order' ? ordered(shelf, event) : changed(shelf, event)
    return trouble === undefined ? [] : [`petId ${petId}: ${trouble}`]
  })
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

function ordered(
  shelf: Shelf,
  { change, order }: Extract<StockEvent, { kind: 'order' }>,
): string | undefined {
  const known = shelf.orders.get(order.id)
  const reserved = reservedOf(shelf)
  const { sold } = shelf
  shelf.sold = undefined
  shelf.orders.set(order.id, order)
  if (change === 'created') {
    if (known !== undefined) return `order ${order.id} is made twice`
    const available = shelf.quantity - reserved
    return available < order.quantity
      ? `order ${order.id} takes ${order.quantity}, but ${available} were available`
      : undefined
  }
  if (known?.state !== 'open') return `order ${order.id} is ${change}, but was ${known?.state}`
  if (change !== 'completed')
    return sold === undefined ? undefined : `${sold.reference} was sold, but ${change}`
  return sold?.units === order.quantity && sold.reference === `order ${order.id}`
    ? undefined
    : `order ${order.id} was completed without its ${order.quantity} being taken out`
}

function reservedOf({ orders }: Shelf): number {
  return [...orders.values()].reduce((sum, { state, quantity }) => sum + (state === 'open' ? quantity : 0), 0)
}

/** Everything after the cursor. */
export async function eventsAfter(
  store: Pick<EventStore, 'stockEventsAfter'>,
  cursor: string,
): Promise<StockEvent[]> {
  const all: StockEvent[] = []
  for (let from = cursor; ; ) {
    const found = await store.stockEventsAfter(from, 1_000)
    if (typeof found === 'string') throw new Error(found)
    if (found.events.length === 0) return all
    all.push(...found.events)
    from = found.cursor
  }
}
