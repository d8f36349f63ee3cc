import type { InventoryItem, PetStatus } from '../core/stock/inventory.ts'
import type { StockEvent } from '../core/stock/stock-event.ts'
import { fromDetail } from './order-rows.ts'

/** With more events than this to tell, reading the stock anew is the better way. */
export const MAX_BEHIND = 10_000n

/** Of a row of the log: a pet came, went or was changed otherwise than in its quantity. */
export const IS_OF_ENTRY = "kind <> 'change' AND kind <> 'order'"

/** A row of the log that is told to those who follow it. */
export interface LogRow {
  readonly id: bigint
  readonly kind: 'change' | 'order' | 'entry' | 'removed' | 'relist'
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
  const { kind, pet_id, before, after, status } = row
  if (kind === 'relist') return { kind, cursor }
  if (kind === 'order' && row.detail !== null) {
    return { kind, ...fromDetail(row.detail), at: Number(row.at), keyId: row.key_id, cursor }
  }
  if (pet_id !== null && kind === 'removed') return { kind, petId: pet_id, cursor }
  if (pet_id !== null && after !== null && status !== null) {
    if (kind === 'entry') return { kind, petId: pet_id, quantity: Number(after), status, cursor }
    if (kind === 'change' && before !== null) {
      return {
        ...{ kind, petId: pet_id, before: Number(before), after: Number(after), status },
        ...{ at: Number(row.at), keyId: row.key_id, ...purposeOf(row), cursor },
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
