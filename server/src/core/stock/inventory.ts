import { notFound, type ServiceError } from '../values/errors.ts'
import { Int64, OneOf, Quantity, type RecordOf } from '../values/field.ts'

export const PET_STATUSES = ['available', 'pending', 'sold'] as const
export type PetStatus = (typeof PET_STATUSES)[number]
export const PetStatus = OneOf(PET_STATUSES, {
  title: 'PetStatus',
  description: 'Status of a pet in the store.',
})

export const INVENTORY_ITEM = {
  petId: Int64('Identifier of the animal the entry tracks.'),
  quantity: Quantity('Current stock count.'),
  status: PetStatus,
}
export type InventoryItem = RecordOf<typeof INVENTORY_ITEM>

/** The fields of an entry that can change. */
export type EntryState = Pick<InventoryItem, 'quantity' | 'status'>

/** An entry as a commit reads it after it has locked the pet. */
export interface LockedEntry extends EntryState {
  readonly reserved: number
  /** The threshold of the pet or, if it has none, of its category; null if neither has one. */
  readonly lowStockAt: number | null
  /** The time of the latest count; null if there is none. */
  readonly countedAt: number | null
  /** The latest time at which units came in or went out; null if none did. */
  readonly movedAt: number | null
}

/** The changes of the stock since an earlier cursor. Each pet occurs once. */
export interface StockChanges {
  readonly updated: readonly InventoryItem[]
  readonly removed: readonly bigint[]
  readonly cursor: string
}

export function availableText(petId: bigint, available: number): string {
  return `petId ${petId} has ${available} available ${available === 1 ? 'unit' : 'units'}`
}

export function entryNotFound(petId: bigint): ServiceError {
  return notFound(
    `there is no inventory entry for petId ${petId}; GET /inventory lists the entries that exist`,
  )
}
