import { ServiceError } from '../values/errors.ts'

export const PET_STATUSES = ['available', 'pending', 'sold'] as const
export type PetStatus = (typeof PET_STATUSES)[number]

/** Beyond this a JSON reader that uses doubles would round the count. */
export const MAX_QUANTITY = Number.MAX_SAFE_INTEGER

/** The stock of one pet. An int64 id does not fit a JavaScript number, hence `bigint`. */
export interface InventoryItem {
  readonly petId: bigint
  readonly quantity: number
  readonly status: PetStatus
}

/** What of an entry can change. */
export type EntryState = Pick<InventoryItem, 'quantity' | 'status'>

/** An entry as a commit finds it once it has locked it. */
export interface LockedEntry extends EntryState {
  /** What open orders hold of it. */
  readonly reserved: number
  /** It is low with so many available or fewer: the pet's own threshold, or its category's; null where there is none. */
  readonly lowStockAt: number | null
}

/** Negative where the stock was set below what is reserved. */
export function availableOf({ quantity, reserved }: Pick<LockedEntry, 'quantity' | 'reserved'>): number {
  return quantity - reserved
}

/** Decided in every commit; what SQL does to many pets at once says the same (store/low-stock.ts). */
export function isLow(entry: Omit<LockedEntry, 'status'>): boolean {
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
