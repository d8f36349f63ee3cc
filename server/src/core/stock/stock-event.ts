import type { Pet } from '../catalog/pet.ts'
import type { Order, OrderChange } from '../orders/order.ts'
import type { PetStatus } from './inventory.ts'

/** One thing that happened to the stock. */
export type StockEvent = QuantityEvent | PetEvent | RemovedEvent | OrderEvent | LowStockEvent | RelistEvent

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

/** A pet was added, or is another one than before in anything but its quantity. */
export interface PetEvent extends AnyEvent, Omit<Pet, 'id'> {
  readonly kind: 'pet'
  readonly petId: bigint
  readonly change: PetChange
  /** Like the rest of it as it was right after the change. */
  readonly quantity: number
  readonly at: number
  readonly keyId: string
}

export const PET_CHANGES = ['created', 'changed'] as const
export type PetChange = (typeof PET_CHANGES)[number]

/** So few are available from then on that it is low; or so many that it no longer is. */
export interface LowStockEvent extends AnyEvent {
  readonly kind: 'low' | 'recovered'
  readonly petId: bigint
  readonly quantity: number
  readonly reserved: number
  readonly available: number
  /** Absent where it recovered by having no threshold any more. */
  readonly lowStockAt?: number
  readonly at: number
  readonly keyId: string
}

export interface RemovedEvent extends AnyEvent {
  readonly kind: 'removed'
  readonly petId: bigint
  readonly at: number
  readonly keyId: string
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
