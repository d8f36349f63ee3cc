import { EXPIRED_STATE, type OrderState, stateRules } from '../../src/core/orders/order.ts'
import type { OrderEvent, StockEvent } from '../../src/core/stock/stock-event.ts'
import { LowStockModel } from '../support/low-stock-model.ts'
import { contradictions } from '../support/oversell-check.ts'
import type { Wish } from './operations.ts'

export interface PetState {
  readonly quantity: number
  readonly name: string
}

export interface QuantityChange {
  readonly before: number
  readonly after: number
}

/** A value that changes at some positions of the log. */
class Timeline<Value> {
  readonly #positions: number[] = []
  readonly #values: Value[] = []

  /** Positions never decrease. */
  set(position: number, value: Value): void {
    this.#positions.push(position)
    this.#values.push(value)
  }

  get latest(): Value | undefined {
    return this.#values.at(-1)
  }

  get all(): readonly Value[] {
    return this.#values
  }

  at(position: number): Value | undefined {
    let low = 0
    let high = this.#positions.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#positions[middle] ?? 0) <= position) low = middle + 1
      else high = middle
    }
    return this.#values[low - 1]
  }
}

/**
 * The events of a store since its creation. Position 0 is before the first event, position 1 after it, and so on. The state at
 * each position follows from the events.
 */
export class EventLog {
  readonly events: readonly StockEvent[]
  readonly #pets = new Map<number, Timeline<PetState | undefined>>()
  readonly #orders = new Map<number, Timeline<OrderEvent>>()
  readonly #ordersByPet = new Map<number, Set<number>>()
  /** By pet; the changes of all pets together have the key `undefined`. */
  readonly #changes = new Map<number | undefined, Timeline<QuantityChange>>()
  readonly #indexesByTag = new Map<string, number[]>()
  readonly #expiries: ReadonlyMap<number, number>
  #latestTime = 0

  /** `expiries` are the ends of the holds, which events do not tell. */
  constructor(events: readonly StockEvent[], expiries: ReadonlyMap<number, number> = new Map()) {
    this.events = events
    this.#expiries = expiries
    for (const [index, event] of events.entries()) {
      const tag = tagOfEvent(event)
      if (tag !== undefined) addTo(this.#indexesByTag, tag, index)
      this.#apply(event, index + 1)
    }
  }

  /** The position after the last event. */
  get end(): number {
    return this.events.length
  }

  get petIds(): number[] {
    return [...this.#pets.keys()]
  }

  petAt(petId: number, position: number): PetState | undefined {
    return this.#pets.get(petId)?.at(position)
  }

  orderAt(orderId: number, position: number): OrderEvent | undefined {
    return this.#orders.get(orderId)?.at(position)
  }

  /** The state that the order has at this time, even if its expiry is not in the log yet. */
  orderStateAt(orderId: number, position: number, now: number): OrderState | undefined {
    const order = this.orderAt(orderId, position)
    const expiresAt = this.#expiries.get(orderId) ?? Number.POSITIVE_INFINITY
    return order !== undefined && stateRules(order.state).reserves && expiresAt <= now
      ? EXPIRED_STATE
      : order?.state
  }

  latestChangeAt(petId: number | undefined, position: number): QuantityChange | undefined {
    return this.#changes.get(petId)?.at(position)
  }

  changesOf(petId: number): readonly QuantityChange[] {
    return this.#changes.get(petId)?.all ?? []
  }

  /** Orders that had a line of this pet at some time, and are open. */
  openOrdersAt(petId: number, position: number): OrderEvent[] {
    return [...(this.#ordersByPet.get(petId) ?? [])].flatMap((orderId) => {
      const order = this.orderAt(orderId, position)
      return order !== undefined && stateRules(order.state).reserves ? [order] : []
    })
  }

  /** The indexes of the events that only operations with this tag can cause. */
  indexesOf(tag: string): readonly number[] {
    return this.#indexesByTag.get(tag) ?? []
  }

  get tags(): Iterable<readonly [tag: string, indexes: readonly number[]]> {
    return this.#indexesByTag
  }

  /** Whether no operation has events on both sides of the position. */
  isBetweenOperations(position: number): boolean {
    const after = this.events[position]
    const before = this.events[position - 1]
    if (after === undefined || before === undefined) return true
    if (after.kind === 'low' || after.kind === 'recovered') return false
    const tag = tagOfEvent(after)
    return tag === undefined || tag !== tagOfEvent(before)
  }

  /** Contradictions between the events. */
  violations(): string[] {
    const lowStock = new LowStockModel(() => 'unknown')
    lowStock.play(this.events)
    const quantities = new Map<bigint, number>()
    for (const event of this.events) {
      if (event.kind === 'pet' && event.change === 'created') quantities.set(event.petId, event.quantity)
    }
    const sales = this.events.filter(({ kind }) => kind === 'change' || kind === 'order')
    return [...contradictions(sales, quantities), ...lowStock.finish()]
  }

  #apply(event: StockEvent, position: number): void {
    switch (event.kind) {
      case 'pet':
        this.#setPet(event, event, position, event.change === 'created')
        break
      case 'removed':
        this.#setPet(event, undefined, position)
        break
      case 'change': {
        const { name = '' } = timelineOf(this.#pets, Number(event.petId)).latest ?? {}
        this.#setPet(event, { name, quantity: event.after }, position)
        break
      }
      case 'order': {
        const orderId = Number(event.orderId)
        timelineOf(this.#orders, orderId).set(position, event)
        for (const petId of event.lines.map((line) => Number(line.petId))) {
          const orders = this.#ordersByPet.get(petId) ?? new Set()
          this.#ordersByPet.set(petId, orders.add(orderId))
        }
        break
      }
    }
  }

  /** A pet that does not exist has the quantity 0 in its history. */
  #setPet(
    event: { petId: bigint; at: number },
    pet: PetState | undefined,
    position: number,
    isFact = true,
  ): void {
    const petId = Number(event.petId)
    const timeline = timelineOf(this.#pets, petId)
    const before = timeline.latest?.quantity ?? 0
    const after = pet?.quantity ?? 0
    timeline.set(position, pet && { name: pet.name, quantity: pet.quantity })
    if (!isFact) return
    timelineOf(this.#changes, petId).set(position, { before, after })
    // The history of all pets is in the order of time, which differs if the clock was set back.
    if (event.at < this.#latestTime) return
    this.#latestTime = event.at
    timelineOf(this.#changes, undefined).set(position, { before, after })
  }
}

function timelineOf<Key, Value>(timelines: Map<Key, Timeline<Value>>, key: Key): Timeline<Value> {
  const timeline = timelines.get(key) ?? new Timeline<Value>()
  timelines.set(key, timeline)
  return timeline
}

function addTo(indexes: Map<string, number[]>, tag: string, index: number): void {
  const known = indexes.get(tag)
  if (known === undefined) indexes.set(tag, [index])
  else known.push(index)
}

/** Identifies the operation that an event comes from; `undefined` if the service has caused the event itself. */
function tagOfEvent(event: StockEvent): string | undefined {
  switch (event.kind) {
    case 'change': {
      const { petId, after, reason, reference } = event
      if (reference === undefined) return `${petId} has ${after}`
      return reason === 'sold' ? reference.replace('order', 'completed') : reference
    }
    case 'order': {
      const { change, orderId, metadata = '{}' } = event
      if (change === 'expired') return undefined
      return change === 'created' || change === 'changed' ? JSON.parse(metadata).tag : `${change} ${orderId}`
    }
    case 'pet':
    case 'category':
      return event.name
    case 'removed':
      return `removed ${event.petId}`
    case 'low':
    case 'recovered':
    case 'relist':
      return undefined
  }
}

/** The tag of the events of a wish; `undefined` if it changes nothing. */
export function tagOfWish(wish: Wish): string | undefined {
  switch (wish.type) {
    case 'set':
      return `${wish.petId} has ${wish.quantity}`
    case 'adjust':
      return wish.reference
    case 'order':
    case 'change_order':
      return wish.tag
    case 'complete':
      return `completed ${wish.orderId}`
    case 'cancel':
      return `cancelled ${wish.orderId}`
    case 'create_pet':
    case 'rename_pet':
    case 'change_category':
      return wish.name
    case 'remove_pet':
      return `removed ${wish.petId}`
    default:
      return undefined
  }
}
