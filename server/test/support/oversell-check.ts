import { ORDER_TRANSITIONS } from '../../src/core/orders/order.ts'
import { availableOf } from '../../src/core/stock/stock-draft.ts'
import type { OrderEvent, QuantityEvent, StockEvent } from '../../src/core/stock/stock-event.ts'
import type { EventStore } from '../../src/core/stock/stock-store.ts'
import { reservedBy } from './low-stock-model.ts'

/** The knowledge about one pet from its events. */
interface Shelf {
  quantity: number
  reserved: number
  /** Removed as sold, by an order whose completion comes next. */
  sold: { readonly reference: string | undefined; readonly units: number } | undefined
}

/**
 * Replays the events of stock and orders, and reports violations: an order that was created without enough stock, an order that was
 * closed twice, a basket of which only some lines were sold, stock that was sold without an order or in another quantity.
 * `quantities` are those at the beginning, when no order was open.
 */
export function contradictions(
  events: readonly StockEvent[],
  quantities: ReadonlyMap<bigint, number>,
): string[] {
  const shelves = new Map<bigint, Shelf>()
  for (const [petId, quantity] of quantities) shelves.set(petId, { quantity, reserved: 0, sold: undefined })
  const orders = new Map<bigint, OrderEvent>()
  return events.flatMap((event) => {
    if (event.kind === 'order') {
      const known = orders.get(event.orderId)
      orders.set(event.orderId, event)
      return playOrder(shelves, event, known)
    }
    if (event.kind !== 'change') return [`a ${event.kind} event came in between`]
    const shelf = shelves.get(event.petId)
    const problem = shelf === undefined ? 'it is not known' : playChange(shelf, event)
    return problem === undefined ? [] : [`petId ${event.petId}: ${problem}`]
  })
}

function playOrder(
  shelves: ReadonlyMap<bigint, Shelf>,
  event: OrderEvent,
  known: OrderEvent | undefined,
): string[] {
  const { change, orderId, lines } = event
  if (change === 'created' && known !== undefined) return [`order ${orderId} is created twice`]
  const { from, lateFrom = [] } = ORDER_TRANSITIONS[change]
  if (change !== 'created' && (known === undefined || ![...from, ...lateFrom].includes(known.state)))
    return [`order ${orderId} is ${change}, but was ${known?.state}`]
  if (known !== undefined && change !== 'changed' && unitsText(known) !== unitsText(event))
    return [`order ${orderId} had ${unitsText(known)}, and is ${change} with ${unitsText(event)}`]
  const before = unitsReservedBy(known)
  const after = unitsReservedBy(event)
  const problems: string[] = []
  for (const petId of new Set([...before.keys(), ...after.keys()])) {
    const shelf = shelves.get(petId)
    if (shelf === undefined) {
      problems.push(`petId ${petId} is not known`)
      continue
    }
    const { sold } = shelf
    shelf.sold = undefined
    const additional = (after.get(petId) ?? 0) - (before.get(petId) ?? 0)
    const available = availableOf(shelf)
    if (additional > 0 && additional > available)
      problems.push(`order ${orderId} takes ${additional} of pet ${petId}, but ${available} were available`)
    shelf.reserved += additional
    const units = lines.find((line) => line.petId === petId)?.quantity
    const isSoldRightly =
      change === 'completed'
        ? sold?.units === units && sold?.reference === `order ${orderId}`
        : sold === undefined
    if (!isSoldRightly)
      problems.push(`order ${orderId} is ${change} after the sale ${Bun.inspect(sold)} of pet ${petId}`)
  }
  const [line] = lines.filter(({ petId, reserved }) => shelves.get(petId)?.reserved !== reserved)
  if (line !== undefined)
    problems.push(`order ${orderId} tells ${line.reserved} reserved units of pet ${line.petId}`)
  return problems
}

function playChange(shelf: Shelf, { before, after, reason, reference }: QuantityEvent): string | undefined {
  const { quantity, sold } = shelf
  shelf.quantity = after
  if (before !== quantity) return `it was ${quantity}, but changes from ${before}`
  if (sold !== undefined) return `${sold.reference} was sold and never completed`
  if (reason === 'sold') shelf.sold = { reference, units: before - after }
  return undefined
}

function unitsText({ lines }: OrderEvent): string {
  return lines.map(({ petId, quantity }) => `${quantity} of pet ${petId}`).join()
}

function unitsReservedBy(event: OrderEvent | undefined): ReadonlyMap<bigint, number> {
  return new Map(event?.lines.map(({ petId, quantity }) => [petId, reservedBy(event, quantity)]))
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
