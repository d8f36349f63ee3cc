import type { LockedCatalog } from '../../core/catalog/catalog-draft.ts'
import type { ImportableDecision } from '../../core/stock/decide.ts'
import { isPetRecord, type PetRecord } from '../../core/stock/stock-draft.ts'
import { insertLogSql, LOG_COLUMN_NAMES, LOG_COLUMNS, logValues } from '../log-rows.ts'
import { ORDER_COLUMNS, orderDetail } from '../order-rows.ts'
import { type SqlValue, type Statement, statement } from '../sql.ts'
import { catalogStatements } from './catalog.ts'
import { arrayPlaceholders, columnArrays, insertSql, logIdsFrom } from './dialect.ts'
import { orderArrays, orderUpdateStatement } from './orders.ts'

/** Values that `decisionStatements` needs besides the decision. They were read at the start of the commit. */
interface StateBefore {
  /** The id of a pet's latest log row. */
  readonly lastChangeOf: (petId: bigint) => bigint | null
  /**
   * Values of the sequence `log_ids`. Each reserves a block of consecutive log ids (see `logIdsFrom`). `undefined` if
   * only quantities can change; then the statement that writes the quantities calls `nextval` itself.
   */
  readonly logIdBlocks?: readonly bigint[] | undefined
  /** The pets, if the catalogue changes. */
  readonly pets?: LockedCatalog['pets'] | undefined
}

/** Statements that write a decision inside a commit. */
export function decisionStatements(decision: ImportableDecision, before: StateBefore): Statement[] {
  const { records, orders, catalog, reserved, low } = decision
  const { logIdBlocks } = before
  if (logIdBlocks === undefined) return records.length === 0 ? [] : [quantityStatement(decision, before)]
  const { added, changed } = orders ?? { added: [], changed: [] }
  const writes: Statement[] = []
  if (catalog !== undefined) writes.push(...catalogStatements(catalog, before.pets ?? new Map()))
  if (records.length > 0 || reserved.size > 0 || low.size > 0 || added.length > 0)
    writes.push(...recordStatements(decision, before, logIdsFrom(logIdBlocks)))
  if (changed.length > 0) writes.push(orderUpdateStatement(changed))
  return writes
}

const CHANGE_COLUMNS = {
  ...LOG_COLUMNS,
  previous_index: 'integer',
  is_last: 'boolean',
  is_low: 'boolean',
} as const
const WRITE_QUANTITY_CHANGES = `
  WITH taken AS MATERIALIZED (
    SELECT nextval('log_ids') AS first_id
  ), changed AS MATERIALIZED (
    SELECT * FROM unnest(${arrayPlaceholders(CHANGE_COLUMNS)}) AS changed (${Object.keys(CHANGE_COLUMNS)})
  ), recorded AS (
    ${insertLogSql(
      {
        ...Object.fromEntries(LOG_COLUMN_NAMES.map((name) => [name, name])),
        id: 'first_id + id',
        previous: 'coalesce(first_id + previous_index, previous)',
      },
      'FROM taken, changed',
    )}
  )
  UPDATE stock SET quantity = after, last_change = first_id + id, is_low = coalesce(changed.is_low, stock.is_low)
  FROM taken, changed WHERE is_last AND stock.pet_id = changed.pet_id`

/**
 * A statement that writes a decision in which only quantities change. Each value of `log_ids` reserves IDS_PER_BLOCK
 * consecutive ids, so one `nextval` is enough for all rows. The statement calls `nextval` while the pets are locked, so the
 * ids of a pet's rows are in the order of its changes.
 */
function quantityStatement({ records, low }: ImportableDecision, { lastChangeOf }: StateBefore): Statement {
  const rows = records.map((record, index) => {
    // The statement adds the first id.
    const relativeId = BigInt(index)
    if (record.kind !== 'change') return [...logValues(record, relativeId, null), null, false, null]
    const { petId, previousIndex, isLast } = record
    const isLow = isLast ? (low.get(petId) ?? null) : null
    return [...logValues(record, relativeId, lastChangeOf(petId)), previousIndex, isLast, isLow]
  })
  return statement(WRITE_QUANTITY_CHANGES, ...columnArrays(CHANGE_COLUMNS, rows))
}

const INSERT_LOG_ROWS = insertSql('log', LOG_COLUMNS)

/** The columns of an order's log row. The other columns are empty, and sending them would take time. */
const ORDER_LOG_COLUMNS = {
  id: 'integer',
  pet_id: 'integer',
  at: 'integer',
  key_id: 'text',
  detail: 'text',
} as const
const STOCK_COLUMNS = {
  pet_id: 'integer',
  quantity: 'integer',
  reserved: 'integer',
  is_low: 'boolean',
  last_change: 'integer',
} as const
const WRITE_ORDERS_AND_STOCK = `
  WITH logged AS (
    ${insertLogSql(
      { id: 'id', pet_id: 'pet_id', at: 'at', key_id: 'key_id', detail: 'detail', kind: "'order'" },
      `FROM unnest(${arrayPlaceholders(ORDER_LOG_COLUMNS)}) AS changed (${Object.keys(ORDER_LOG_COLUMNS)})`,
    )}
  ), stocked AS (
    UPDATE stock SET
      quantity = coalesce(new_row.quantity, stock.quantity), reserved = coalesce(new_row.reserved, stock.reserved),
      is_low = coalesce(new_row.is_low, stock.is_low), last_change = coalesce(new_row.last_change, stock.last_change)
    FROM unnest(${arrayPlaceholders(STOCK_COLUMNS, 6)}) AS new_row (${Object.keys(STOCK_COLUMNS)})
    WHERE stock.pet_id = new_row.pet_id
  )
  INSERT INTO orders (${Object.keys(ORDER_COLUMNS)}) SELECT * FROM unnest(${arrayPlaceholders(ORDER_COLUMNS, 11)})`

/** Statements that write the log rows, the stock and the new orders. */
function recordStatements(
  { records, reserved, low, orders }: ImportableDecision,
  { lastChangeOf }: StateBefore,
  idOf: (index: number) => bigint,
): Statement[] {
  const lastRecords = new Map<bigint, PetRecord>()
  const orderRows: SqlValue[][] = []
  const otherRows: SqlValue[][] = []
  for (const [index, record] of records.entries()) {
    const id = idOf(index)
    if (record.kind === 'order') {
      const { order, change, by } = record
      orderRows.push([id, order.petId, by.at, by.keyId, orderDetail(change, order)])
    } else if (isPetRecord(record)) {
      const { petId, previousIndex, isLast } = record
      if (isLast) lastRecords.set(petId, record)
      const previousId = previousIndex === null ? lastChangeOf(petId) : idOf(previousIndex)
      otherRows.push(logValues(record, id, previousId))
    } else {
      otherRows.push(logValues(record, id, null))
    }
  }
  const petIds = new Set([...lastRecords.keys(), ...reserved.keys(), ...low.keys()])
  const stockRows = Array.from(petIds, (petId) => {
    const last = lastRecords.get(petId)
    const quantity = last === undefined || last.kind === 'removed' ? null : last.after
    const lastChange = last === undefined ? null : idOf(last.index)
    return [petId, quantity, reserved.get(petId) ?? null, low.get(petId) ?? null, lastChange]
  })
  const values = [
    ...columnArrays(ORDER_LOG_COLUMNS, orderRows),
    ...columnArrays(STOCK_COLUMNS, stockRows),
    ...orderArrays(orders?.added ?? []),
  ]
  const writes = [statement(WRITE_ORDERS_AND_STOCK, ...values)]
  if (otherRows.length > 0) writes.push(statement(INSERT_LOG_ROWS, ...columnArrays(LOG_COLUMNS, otherRows)))
  return writes
}
