import { ServiceError } from './errors.ts'
import type { Store } from './store.ts'

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

export interface QuantityChange {
  readonly petId: bigint
  readonly quantity: number
  /** Who asked for it, and when: both go into the history. */
  readonly keyId: string
  readonly at: number
}

/** The entry after the change, or `unknown_pet` where there is none to change. */
export type QuantityOutcome = InventoryItem | 'unknown_pet'

/** One row of the append-only history: written in the same commit as the change it records. */
export interface HistoryEntry {
  readonly petId: bigint
  readonly before: number
  readonly after: number
  readonly at: number
  readonly keyId: string
}

/** Sets the quantity of one pet; the answer is given once the change is on disk. */
export async function setQuantity(
  store: Pick<Store, 'setQuantities'>,
  change: QuantityChange,
): Promise<InventoryItem> {
  const [outcome] = await store.setQuantities([change])
  if (outcome === undefined) throw new Error('the store gave no outcome for a change')
  if (outcome === 'unknown_pet') {
    throw new ServiceError(
      'not_found',
      `there is no inventory entry for petId ${change.petId}; GET /inventory lists the entries that exist`,
    )
  }
  return outcome
}
