import type { InventoryItem, LockedEntry, PetStatus } from '../core/stock/inventory.ts'
import type { StockEvent } from '../core/stock/stock-event.ts'
import { fromCrossingDetail, fromPetDetail } from './catalog-rows.ts'
import { fromDetail } from './order-rows.ts'

/** With more events than this to tell, reading the stock anew is the better way. */
export const MAX_BEHIND = 10_000n

/** Of a row of the log: a pet came, went or was changed otherwise than in its quantity. */
export const IS_OF_PET = "(kind = 'pet' OR kind = 'removed')"

/** The list of the stock may be another one by it. */
export const IS_OF_STOCK = "kind <> 'order' AND kind <> 'low' AND kind <> 'recovered' AND kind <> 'category'"

/** A row of the log that is told to those who follow it. */
export interface LogRow {
  readonly id: bigint
  readonly kind: StockEvent['kind']
  readonly pet_id: bigint | null
  readonly before: bigint | null
  readonly after: bigint | null
  readonly status: PetStatus | null
  readonly at: bigint
  readonly key_id: string
  readonly reason: string | null
  readonly reference: string | null
  readonly detail: string | null
}

export const LOG_COLUMNS = 'kind, pet_id, before, after, status, at, key_id, reason, reference, detail'

export function toEvent(row: LogRow, cursor: string): StockEvent {
  const { kind, pet_id, before, after, status, detail } = row
  const by = { at: Number(row.at), keyId: row.key_id }
  if (kind === 'relist') return { kind, cursor }
  if (kind === 'order' && detail !== null) return { kind, ...fromDetail(detail), ...by, cursor }
  if (pet_id !== null) {
    const petId = pet_id
    if (kind === 'removed') return { kind, petId, ...by, cursor }
    if ((kind === 'low' || kind === 'recovered') && detail !== null) {
      return { kind, petId, ...fromCrossingDetail(detail), ...by, cursor }
    }
    if (after !== null && status !== null) {
      if (kind === 'pet' && detail !== null) {
        return { kind, petId, ...fromPetDetail(detail), status, quantity: Number(after), ...by, cursor }
      }
      if (kind === 'change' && before !== null) {
        const [from, to] = [Number(before), Number(after)]
        return { kind, petId, before: from, after: to, status, ...by, ...purposeOf(row), cursor }
      }
    }
  }
  throw new Error(`row ${row.id} of the log is no ${kind}`)
}

/** What a change was made for, as far as that was told. */
export function purposeOf({ reason, reference }: Pick<LogRow, 'reason' | 'reference'>) {
  return { ...(reason === null ? {} : { reason }), ...(reference === null ? {} : { reference }) }
}

export interface StockRow {
  pet_id: bigint
  quantity: bigint
  status: PetStatus
}

export const ENTRIES = 'SELECT pet_id, quantity, status FROM stock ORDER BY pet_id'

export function toItem(row: StockRow): InventoryItem {
  return { petId: row.pet_id, quantity: Number(row.quantity), status: row.status }
}

/** A row of `stock` as a commit reads it once it is locked. */
export interface LockedRow extends StockRow {
  reserved: bigint
  low_at: bigint | null
}

export const LOCKED_FIELDS = 'pet_id, quantity, status, reserved, low_at'

export function toLockedEntry({
  quantity,
  status,
  reserved,
  low_at,
}: Omit<LockedRow, 'pet_id'>): LockedEntry {
  return {
    ...{ quantity: Number(quantity), status, reserved: Number(reserved) },
    lowStockAt: low_at === null ? null : Number(low_at),
  }
}
