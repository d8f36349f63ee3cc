import type { Pet } from '../catalog/pet.ts'
import type { Order, OrderChange } from '../orders/order.ts'
import type { PetStatus } from './inventory.ts'

/** An event of the stock. */
export type StockEvent = QuantityEvent | PetEvent | RemovedEvent | OrderEvent | LowStockEvent | RelistEvent

interface AnyEvent {
  /** The cursor after this event. */
  readonly cursor: string
}

/** A quantity changed. */
export interface QuantityEvent extends AnyEvent {
  readonly kind: 'change'
  readonly petId: bigint
  readonly before: number
  readonly after: number
  /** The status after the change. */
  readonly status: PetStatus
  readonly at: number
  readonly keyId: string
  /** Why the change was made, if the caller gave a reason. */
  readonly reason?: string
  readonly reference?: string
}

/** An order was created or changed. If that changed a quantity, the QuantityEvent comes right before it. */
export interface OrderEvent extends AnyEvent {
  readonly kind: 'order'
  readonly change: OrderChange
  /** The order after the change. */
  readonly order: Order
  readonly at: number
  readonly keyId: string
}

/** A pet was added, or changed in anything but its quantity. */
export interface PetEvent extends AnyEvent, Omit<Pet, 'id'> {
  readonly kind: 'pet'
  readonly petId: bigint
  readonly change: PetChange
  /** Like the other fields, as it was after the change. */
  readonly quantity: number
  readonly at: number
  readonly keyId: string
}

export const PET_CHANGES = ['created', 'changed'] as const
export type PetChange = (typeof PET_CHANGES)[number]

/** A pet became low, or is no longer low. */
export interface LowStockEvent extends AnyEvent {
  readonly kind: 'low' | 'recovered'
  readonly petId: bigint
  readonly quantity: number
  readonly reserved: number
  readonly available: number
  /** Absent if the pet recovered because its threshold was removed. */
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

/** Too much changed at once. Read the whole list again, then continue with the events after this one. */
export interface RelistEvent extends AnyEvent {
  readonly kind: 'relist'
}

/** Events after a cursor, in the order of their commits. */
export interface StockEvents {
  readonly events: readonly StockEvent[]
  /** The cursor after the last event. If `events` has `limit` entries, more may follow. */
  readonly cursor: string
}
