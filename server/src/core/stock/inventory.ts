import { ServiceError } from '../values/errors.ts'

export const PET_STATUSES = ['available', 'pending', 'sold'] as const
export type PetStatus = (typeof PET_STATUSES)[number]

/** JSON readers that use doubles would round a larger number. */
export const MAX_QUANTITY = Number.MAX_SAFE_INTEGER

/** The stock of one pet. An int64 id does not fit a JavaScript number, hence `bigint`. */
export interface InventoryItem {
  readonly petId: bigint
  readonly quantity: number
  readonly status: PetStatus
}

/** The fields of an entry that can change. */
export type EntryState = Pick<InventoryItem, 'quantity' | 'status'>

/** An entry as a commit reads it once the pet is locked. */
export interface LockedEntry extends EntryState {
  /** The units that open orders reserve. */
  readonly reserved: number
  /** The pet is low if at most this many units are available: its own threshold or that of its category; null if neither has one. */
  readonly lowStockAt: number | null
}

/** Negative if the quantity was set below the reserved units. */
export function availableOf({ quantity, reserved }: Pick<LockedEntry, 'quantity' | 'reserved'>): number {
  return quantity - reserved
}

/** store/low-stock.ts has the same rule in SQL, for many pets at once. */
export function isLow(entry: Omit<LockedEntry, 'status'>): boolean {
  return entry.lowStockAt !== null && availableOf(entry) <= entry.lowStockAt
}

/** The difference between the stock now and at an earlier cursor. Each pet occurs once. */
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
