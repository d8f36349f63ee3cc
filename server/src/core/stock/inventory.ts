import { ServiceError } from '../values/errors.ts'
import { Int64, Quantity, type RecordOf, Words } from '../values/field.ts'

export const PET_STATUSES = ['available', 'pending', 'sold'] as const
export type PetStatus = (typeof PET_STATUSES)[number]
export const PetStatus = Words(PET_STATUSES, {
  title: 'PetStatus',
  description: 'Status of a pet in the store.',
})

/** The stock of one pet. */
export const INVENTORY_ITEM = {
  petId: Int64('Identifier of the animal the entry tracks.'),
  quantity: Quantity('Current stock count.'),
  status: PetStatus,
}
export type InventoryItem = RecordOf<typeof INVENTORY_ITEM>

/** What of an entry can change. */
export type EntryState = Pick<InventoryItem, 'quantity' | 'status'>

/** An entry as a commit finds it once it has locked it. */
export interface FoundEntry extends EntryState {
  /** What open orders hold of it. */
  readonly reserved: number
  /** It is low with so many available or fewer: the pet's own threshold, or its category's; null where there is none. */
  readonly lowStockAt: number | null
}

/** Negative where the stock was set below what is reserved. */
export function availableOf({ quantity, reserved }: Pick<FoundEntry, 'quantity' | 'reserved'>): number {
  return quantity - reserved
}

/** Decided in every commit; what SQL does to many pets at once says the same (store/low-stock.ts). */
export function isLow(entry: Omit<FoundEntry, 'status'>): boolean {
  return entry.lowStockAt !== null && availableOf(entry) <= entry.lowStockAt
}

/** How the stock differs from what it was at an earlier cursor: each pet once, as it is now. */
export interface StockChanges {
  readonly set: readonly InventoryItem[]
  readonly removed: readonly bigint[]
  readonly cursor: string
}

export function noEntry(petId: bigint): ServiceError {
  return new ServiceError(
    'not_found',
    `there is no inventory entry for petId ${petId}; GET /inventory lists the entries that exist`,
  )
}
