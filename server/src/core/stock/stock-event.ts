import type { Order, OrderChange } from '../orders/order.ts'
import type { PetStatus } from './inventory.ts'

/** One thing that happened to the stock. */
export type StockEvent = QuantityEvent | OrderEvent | EntryEvent | RemovedEvent | RelistEvent

interface AnyEvent {
  /** Behind this event: from here on, everything that came after it follows. */
  readonly cursor: string
}

/** A quantity changed. */
export interface QuantityEvent extends AnyEvent {
  readonly kind: 'change'
  readonly petId: bigint
  readonly before: number
  readonly after: number
  /** As it was right after the change. */
  readonly status: PetStatus
  readonly at: number
  readonly keyId: string
  /** What it was made for, where that was told. */
  readonly reason?: string
  readonly reference?: string
}

/** An order was made or changed; what that did to the quantity is an event of its own, right before it. */
export interface OrderEvent extends AnyEvent {
  readonly kind: 'order'
  readonly change: OrderChange
  /** As it was right after it. */
  readonly order: Order
  readonly at: number
  readonly keyId: string
}

/** An entry was added or got another status. */
export interface EntryEvent extends AnyEvent {
  readonly kind: 'entry'
  readonly petId: bigint
  /** Both as they were right after it. */
  readonly quantity: number
  readonly status: PetStatus
}

export interface RemovedEvent extends AnyEvent {
  readonly kind: 'removed'
  readonly petId: bigint
}

/** So much happened that the whole list is to be read again, now; what comes after that follows. */
export interface RelistEvent extends AnyEvent {
  readonly kind: 'relist'
}

/** What happened after some cursor, in the order of the commits. */
export interface StockEvents {
  readonly events: readonly StockEvent[]
  /** Behind the last of them. Where there are as many as were asked for, more may follow. */
  readonly cursor: string
}
