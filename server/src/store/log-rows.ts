import type { Effect, RecordedReason } from '../core/stock/adjustment.ts'
import type { InventoryItem, LockedEntry, PetStatus } from '../core/stock/inventory.ts'
import {
  availableOf,
  type Fact,
  factOf,
  INVENTORY_KINDS,
  isPetRecord,
  type LogRecord,
} from '../core/stock/stock-draft.ts'
import type { StockEvent } from '../core/stock/stock-event.ts'
import type { COPIED_TABLES } from '../core/transfer/copy.ts'
import {
  categoryDetail,
  crossingDetail,
  fromCategoryDetail,
  fromCrossingDetail,
  fromPetDetail,
  petDetail,
} from './catalog-rows.ts'
import { fromOrderDetail, orderDetail } from './order-detail.ts'
import type { RowOf } from './record-rows.ts'
import type { SqlValue } from './sql.ts'

/** A condition on log rows: the pet was added, removed, or changed in anything but its quantity. */
export const IS_PET_EDIT = "(kind = 'pet' OR kind = 'removed')"

/** A condition on log rows: the row changes the inventory list. SQLite builds a temporary table for IN. */
export const CHANGES_INVENTORY = `(${INVENTORY_KINDS.map((kind) => `kind = '${kind}'`).join(' OR ')})`

type Nullable = Exclude<keyof typeof COPIED_TABLES.log, 'id' | 'kind' | 'at' | 'key_id'>

/** A log row, with what the texts in it can be. */
export interface LogRow extends Omit<RowOf<'log', Nullable>, 'kind' | 'status' | 'reason' | 'effect'> {
  readonly kind: StockEvent['kind']
  readonly status: PetStatus | null
  readonly reason: RecordedReason | null
  readonly effect: Effect | null
}

export const LOG_SELECT_LIST =
  'kind, pet_id, before, after, status, at, key_id, reason, reference, detail, document, occurred_at, reserved, order_id'

/** A log row that is read for subscribers. */
export type EventRow = Omit<LogRow, 'delta' | 'counted' | 'effect' | 'reverses'>

export function toEvent(row: EventRow, cursor: string): StockEvent {
  const { kind, pet_id, before, after, status, detail, reserved, order_id } = row
  const by = { at: Number(row.at), keyId: row.key_id }
  if (kind === 'relist') return { kind, cursor }
  if (kind === 'category' && detail !== null) return { kind, ...fromCategoryDetail(detail), ...by, cursor }
  if (kind === 'order' && detail !== null && order_id !== null) {
    return { kind, orderId: order_id, ...fromOrderDetail(detail), ...by, cursor }
  }
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
        const quantities = {
          before: Number(before),
          after: Number(after),
          ...availabilityIn(after, reserved),
        }
        return { kind, petId, status, ...quantities, ...by, ...factFieldsOf(row), ...purposeOf(row), cursor }
      }
    }
  }
  throw new Error(`log row ${row.id} has a null in a column that a row of the kind ${kind} needs`)
}

/** Rows of earlier versions lack the reserved units. */
function availabilityIn(quantity: bigint | null, reserved: bigint | null) {
  if (quantity === null || reserved === null) return {}
  const entry = { quantity: Number(quantity), reserved: Number(reserved) }
  return { reserved: entry.reserved, available: availableOf(entry) }
}

/** The adjustment that a row is a line of, and when it happened. */
export function factFieldsOf({ document, occurred_at, at }: Pick<LogRow, 'document' | 'occurred_at' | 'at'>) {
  const occurredAt = Number(occurred_at ?? at)
  return document === null ? { occurredAt } : { adjustmentId: document, occurredAt }
}

/** The reason and the reference of a change, if the caller gave them. */
export function purposeOf({ reason, reference }: Pick<LogRow, 'reason' | 'reference'>) {
  return { ...(reason === null ? {} : { reason }), ...(reference === null ? {} : { reference }) }
}

/** A condition on log rows: the row is a line of an adjustment. */
export const IS_FACT = 'document IS NOT NULL'

/** Find the facts and the edits of a pet, the rows of a time, the sale of an order, and the reversals of an adjustment. */
export const LOG_INDEXES = `
  CREATE INDEX log_of_facts ON log (pet_id, id) WHERE ${IS_FACT};
  CREATE INDEX log_of_entries ON log (pet_id, id) WHERE ${IS_PET_EDIT};
  CREATE INDEX log_by_time ON log (at, id);
  CREATE INDEX log_of_late_facts ON log (occurred_at) WHERE occurred_at IS NOT NULL;
  CREATE INDEX log_of_reversals ON log (reverses) WHERE reverses IS NOT NULL;
  CREATE INDEX log_of_orders ON log (order_id) WHERE order_id IS NOT NULL AND ${IS_FACT};`

/** The values of a log row in the order of its columns in COPIED_TABLES. */
export function logValues(record: LogRecord, id: bigint): SqlValue[] {
  const { kind, by } = record
  const { reason = null, reference = null } = kind === 'change' ? by : {}
  return [
    id,
    kind,
    petIdOf(record),
    quantityBefore(record),
    quantityAfter(record),
    isPetRecord(record) ? record.status : null,
    by.at,
    by.keyId,
    reason,
    reference,
    detailOf(record),
    ...factValues(record),
  ]
}

/** The quantity before a record; null if the record changes none. */
function quantityBefore(record: LogRecord): number | null {
  if (record.kind === 'pet') return record.fact === undefined ? null : 0
  return record.kind === 'change' || record.kind === 'removed' ? record.before : null
}

function quantityAfter(record: LogRecord): number | null {
  return record.kind === 'change' || record.kind === 'pet' ? record.after : null
}

function factValues(record: LogRecord): SqlValue[] {
  const fact = factOf(record)
  if (fact === undefined) {
    const orderId = record.kind === 'order' ? record.order.id : null
    return [null, null, null, null, null, null, orderId, null]
  }
  const { document, occurredAt, statement, effect, orderId = null, reverses = null } = fact
  return [
    document,
    occurredAt === record.by.at ? null : occurredAt,
    statement.type === 'movement' ? statement.delta : null,
    statement.type === 'count' ? statement.counted : null,
    effect === 'applied' ? null : effect,
    isPetRecord(record) ? record.reserved : null,
    orderId,
    reverses,
  ]
}

/** The column `detail` of a log row. It holds the fields that have no column. */
function detailOf(record: LogRecord): string | null {
  switch (record.kind) {
    case 'order':
      return orderDetail(record)
    case 'pet':
      return petDetail(record)
    case 'category':
      return categoryDetail(record)
    case 'low':
    case 'recovered':
      return crossingDetail(record)
    case 'change':
      return documentDetail(record.fact)
    case 'removed':
      return null
  }
}

/** In the first row of an adjustment that has a note or several lines: the note and the number of lines. */
function documentDetail({ head }: Fact): string | null {
  if (head === undefined || (head.note === undefined && head.lines.length === 1)) return null
  return JSON.stringify({ lines: head.lines.length, note: head.note })
}

export function fromDocumentDetail(text: string | null): { readonly lines: number; readonly note?: string } {
  return text === null ? { lines: 1 } : JSON.parse(text)
}

function petIdOf(record: LogRecord): bigint | null {
  switch (record.kind) {
    case 'category':
      return null
    case 'order':
      return record.order.lines[0]?.petId ?? null
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
type LockedColumns = 'low_at' | 'counted_at' | 'moved_at'
export interface LockedRow
  extends StockRow,
    Pick<RowOf<'stock', LockedColumns>, 'reserved' | LockedColumns> {}

export const LOCKED_SELECT_LIST = 'pet_id, quantity, status, reserved, low_at, counted_at, moved_at'

export function toLockedEntry(row: LockedRow): LockedEntry {
  return {
    quantity: Number(row.quantity),
    status: row.status,
    reserved: Number(row.reserved),
    lowStockAt: toNumber(row.low_at),
    countedAt: toNumber(row.counted_at),
    movedAt: toNumber(row.moved_at),
  }
}

function toNumber(value: bigint | null): number | null {
  return value === null ? null : Number(value)
}

/** The values of a stock entry in the order of its columns in COPIED_TABLES. */
export function entryValues(petId: bigint, entry: LockedEntry): SqlValue[] {
  const { quantity, status, reserved, lowStockAt, countedAt, movedAt } = entry
  return [petId, quantity, status, reserved, lowStockAt, countedAt, movedAt]
}
