import type { LockedCatalog } from '../../core/catalog/catalog-draft.ts'
import type { ImportableDecision } from '../../core/stock/decide.ts'
import { insertLogSql, LOG_COLUMN_NAMES, LOG_COLUMNS, logValues } from '../log-rows.ts'
import { ORDER_COLUMNS, orderDetail } from '../order-rows.ts'
import { type SqlValue, type Statement, statement } from '../sql.ts'
import { catalogStatements } from './catalog.ts'
import { arrayPlaceholders, columnArrays, insertSql, logIdsFrom } from './dialect.ts'
import { orderArrays, orderUpdateStatement } from './orders.ts'

/** Values that `decisionStatements` needs besides the decision. They were read at the start of the commit. */
interface StateBefore {
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
  if (logIdBlocks === undefined) return records.length === 0 ? [] : [quantityStatement(decision)]
  const { added, changed } = orders ?? { added: [], changed: [] }
  const writes: Statement[] = []
  if (catalog !== undefined) writes.push(...catalogStatements(catalog, before.pets ?? new Map()))
  if (records.length > 0 || reserved.size > 0 || low.size > 0 || added.length > 0)
    writes.push(...recordStatements(decision, logIdsFrom(logIdBlocks)))
  if (changed.length > 0) writes.push(orderUpdateStatement(changed))
  return writes
}

const STOCK_COLUMNS = {
  pet_id: 'integer',
  quantity: 'integer',
  reserved: 'integer',
  is_low: 'boolean',
} as const
/** `first` is the number of the first of its placeholders, for the values of `stockArrays`. */
const updateStockSql = (first: number) => `
  UPDATE stock SET
    quantity = coalesce(new_row.quantity, stock.quantity), reserved = coalesce(new_row.reserved, stock.reserved),
    is_low = coalesce(new_row.is_low, stock.is_low)
  FROM unnest(${arrayPlaceholders(STOCK_COLUMNS, first)}) AS new_row (${Object.keys(STOCK_COLUMNS)})
  WHERE stock.pet_id = new_row.pet_id`

function stockArrays({ quantities, reserved, low }: ImportableDecision): string[] {
  const petIds = new Set([...quantities.keys(), ...reserved.keys(), ...low.keys()])
  const rows = Array.from(petIds, (petId) => [
    petId,
    quantities.get(petId) ?? null,
    reserved.get(petId) ?? null,
    low.get(petId) ?? null,
  ])
  return columnArrays(STOCK_COLUMNS, rows)
}

const LOG_COLUMN_COUNT = LOG_COLUMN_NAMES.length
const WRITE_QUANTITY_CHANGES = `
  WITH taken AS MATERIALIZED (
    SELECT nextval('log_ids') AS first_id
  ), recorded AS (
    ${insertLogSql(
      { ...Object.fromEntries(LOG_COLUMN_NAMES.map((name) => [name, name])), id: 'first_id + id' },
      `FROM taken, unnest(${arrayPlaceholders(LOG_COLUMNS)}) AS changed (${LOG_COLUMN_NAMES})`,
    )}
  )
  ${updateStockSql(LOG_COLUMN_COUNT + 1)}`

/**
 * A statement that writes a decision in which only quantities change. Each value of `log_ids` reserves IDS_PER_BLOCK
 * consecutive ids, so one `nextval` is enough for all rows. The statement calls `nextval` while the pets are locked, so the
 * ids of a pet's rows are in the order of its changes.
 */
function quantityStatement(decision: ImportableDecision): Statement {
  // The statement adds the first id.
  const rows = decision.records.map((record, index) => logValues(record, BigInt(index)))
  return statement(WRITE_QUANTITY_CHANGES, ...columnArrays(LOG_COLUMNS, rows), ...stockArrays(decision))
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
const WRITE_ORDERS_AND_STOCK = `
  WITH logged AS (
    ${insertLogSql(
      { id: 'id', pet_id: 'pet_id', at: 'at', key_id: 'key_id', detail: 'detail', kind: "'order'" },
      `FROM unnest(${arrayPlaceholders(ORDER_LOG_COLUMNS)}) AS changed (${Object.keys(ORDER_LOG_COLUMNS)})`,
    )}
  ), stocked AS (
    ${updateStockSql(6)}
  )
  INSERT INTO orders (${Object.keys(ORDER_COLUMNS)}) SELECT * FROM unnest(${arrayPlaceholders(ORDER_COLUMNS, 10)})`

/** Statements that write the log rows, the stock and the new orders. */
function recordStatements(decision: ImportableDecision, idOf: (index: number) => bigint): Statement[] {
  const { records, orders } = decision
  const orderRows: SqlValue[][] = []
  const otherRows: SqlValue[][] = []
  for (const [index, record] of records.entries()) {
    const id = idOf(index)
    if (record.kind === 'order') {
      const { order, change, by } = record
      orderRows.push([id, order.petId, by.at, by.keyId, orderDetail(change, order)])
    } else {
      otherRows.push(logValues(record, id))
    }
  }
  const values = [
    ...columnArrays(ORDER_LOG_COLUMNS, orderRows),
    ...stockArrays(decision),
    ...orderArrays(orders?.added ?? []),
  ]
  const writes = [statement(WRITE_ORDERS_AND_STOCK, ...values)]
  if (otherRows.length > 0) writes.push(statement(INSERT_LOG_ROWS, ...columnArrays(LOG_COLUMNS, otherRows)))
  return writes
}
