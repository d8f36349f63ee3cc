import type { PetWithEntry } from '../core/catalog/catalog-draft.ts'
import type { Reason } from '../core/stock/adjustment-fields.ts'
import type { InventoryItem, LockedEntry, PetStatus } from '../core/stock/inventory.ts'
import { INVENTORY_KINDS, isLow, isPetRecord, type LogRecord } from '../core/stock/stock-draft.ts'
import type { StockEvent } from '../core/stock/stock-event.ts'
import { COPIED_TABLES } from '../core/transfer/copy.ts'
import {
  categoryDetail,
  crossingDetail,
  fromCategoryDetail,
  fromCrossingDetail,
  fromPetDetail,
  petDetail,
} from './catalog-rows.ts'
import { fromOrderDetail, orderDetail } from './order-rows.ts'
import type { RowOf } from './record-rows.ts'
import type { SqlValue } from './sql.ts'

/** A condition on log rows: the pet was added, removed, or changed in anything but its quantity. */
export const IS_PET_EDIT = "(kind = 'pet' OR kind = 'removed')"

/** A condition on log rows: the row changes the inventory list. SQLite builds a temporary table for IN. */
export const CHANGES_INVENTORY = `(${INVENTORY_KINDS.map((kind) => `kind = '${kind}'`).join(' OR ')})`

type FullLogRow = RowOf<'log', 'pet_id' | 'before' | 'after' | 'reference' | 'detail'>

/** A log row that is read for subscribers. */
export interface LogRow extends Omit<FullLogRow, 'status' | 'reason'> {
  readonly kind: StockEvent['kind']
  readonly status: PetStatus | null
  readonly reason: Reason | null
}

export const LOG_SELECT_LIST = 'kind, pet_id, before, after, status, at, key_id, reason, reference, detail'

export function toEvent(row: LogRow, cursor: string): StockEvent {
  const { kind, pet_id, before, after, status, detail } = row
  const by = { at: Number(row.at), keyId: row.key_id }
  if (kind === 'relist') return { kind, cursor }
  if (kind === 'category' && detail !== null) return { kind, ...fromCategoryDetail(detail), ...by, cursor }
  if (kind === 'order' && detail !== null) return { kind, ...fromOrderDetail(detail), ...by, cursor }
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
        const quantities = { before: Number(before), after: Number(after) }
        return { kind, petId, ...quantities, status, ...by, ...purposeOf(row), cursor }
      }
    }
  }
  throw new Error(`log row ${row.id} has a null in a column that a row of the kind ${kind} needs`)
}

/** The reason and the reference of a change, if the caller gave them. */
export function purposeOf({ reason, reference }: Pick<LogRow, 'reason' | 'reference'>) {
  return { ...(reason === null ? {} : { reason }), ...(reference === null ? {} : { reference }) }
}

/** The columns of the log that the program writes. */
export const LOG_COLUMNS = COPIED_TABLES.log
export const LOG_COLUMN_NAMES = Object.keys(LOG_COLUMNS)

/**
 * An INSERT into the log. `values` has the expression of each column; other columns are empty. With `source`, which begins with
 * FROM, it inserts a log row for each row of the source.
 */
export function insertLogSql(
  values: Readonly<Partial<Record<keyof typeof LOG_COLUMNS, string>>>,
  source?: string,
): string {
  const expressions = Object.values(values)
  const rows = source === undefined ? `VALUES (${expressions})` : `SELECT ${expressions} ${source}`
  return `INSERT INTO log (${Object.keys(values)}) ${rows}`
}

/**
 * A condition on log rows: the row changed a quantity. A pet is created from 0 and removed to 0. Other rows of the kind `pet`
 * have no `before`.
 */
export const IS_QUANTITY_CHANGE = "(kind = 'change' OR before <> coalesce(after, 0))"

/** Find the changes and the edits of a pet, and the log rows of a time. */
export const LOG_INDEXES = `
  CREATE INDEX log_of_changes ON log (pet_id, id) WHERE ${IS_QUANTITY_CHANGE};
  CREATE INDEX log_of_entries ON log (pet_id, id) WHERE ${IS_PET_EDIT};
  CREATE INDEX log_by_time ON log (at, id);`

/** The quantity before a record; null if the record changes none. */
function quantityBefore(record: LogRecord): number | null {
  if (record.kind === 'pet') return record.isNew ? 0 : null
  return record.kind === 'change' || record.kind === 'removed' ? record.before : null
}

/** The values of a log row in the order of LOG_COLUMNS. */
export function logValues(record: LogRecord, id: bigint): SqlValue[] {
  const { kind, by } = record
  const { reason = null, reference = null } = kind === 'change' ? by : {}
  return [
    id,
    kind,
    petIdOf(record),
    quantityBefore(record),
    record.kind === 'change' || record.kind === 'pet' ? record.after : null,
    isPetRecord(record) ? record.status : null,
    by.at,
    by.keyId,
    reason,
    reference,
    detailOf(record),
  ]
}

/** The column `detail` of a log row. It holds the fields that have no column. */
function detailOf(record: LogRecord): string | null {
  switch (record.kind) {
    case 'order':
      return orderDetail(record.change, record.order)
    case 'pet':
      return petDetail(record)
    case 'category':
      return categoryDetail(record)
    case 'low':
    case 'recovered':
      return crossingDetail(record)
    case 'change':
    case 'removed':
      return null
  }
}

function petIdOf(record: LogRecord): bigint | null {
  switch (record.kind) {
    case 'category':
      return null
    case 'order':
      return record.order.petId
    default:
      return record.petId
  }
}

export interface StockRow extends Pick<RowOf<'stock'>, 'pet_id' | 'quantity'> {
  readonly status: PetStatus
}

/** Applying more changes to the live view than this takes as long as loading the whole stock. */
export const MAX_CHANGES_TO_APPLY = 10_000

export const ALL_ENTRIES = 'SELECT pet_id, quantity, status FROM stock ORDER BY pet_id'

export function toItem(row: StockRow): InventoryItem {
  return { petId: row.pet_id, quantity: Number(row.quantity), status: row.status }
}

/** A row of `stock` that a commit has locked and read. */
export interface LockedRow extends StockRow, Pick<RowOf<'stock', 'low_at'>, 'reserved' | 'low_at'> {}

export const LOCKED_SELECT_LIST = 'pet_id, quantity, status, reserved, low_at'

export function toLockedEntry(row: LockedRow): LockedEntry {
  return {
    quantity: Number(row.quantity),
    status: row.status,
    reserved: Number(row.reserved),
    lowStockAt: row.low_at === null ? null : Number(row.low_at),
  }
}

/** The columns of `stock` that a change of the catalogue writes. */
export const ENTRY_COLUMNS = COPIED_TABLES.stock

/** The values of a stock entry in the order of ENTRY_COLUMNS. */
export function entryValues({ pet, entry }: PetWithEntry): SqlValue[] {
  const { quantity, status, reserved, lowStockAt } = entry
  return [pet.id, quantity, status, reserved, lowStockAt, isLow(entry)]
}
