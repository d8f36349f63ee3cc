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
