import { importOrder } from '../core/orders/import-order.ts'
import { ORDER_ROW, type OrderRow, orderAt } from '../core/orders/order.ts'
import { type LockedOrders, OrdersDraft } from '../core/orders/orders-draft.ts'
import { ADJUSTMENT_CHANGE } from '../core/stock/adjustment.ts'
import type { AdjustmentChange } from '../core/stock/command.ts'
import { KnownFacts } from '../core/stock/facts.ts'
import type { LockedEntry, PetStatus } from '../core/stock/inventory.ts'
import { StockDraft } from '../core/stock/stock-draft.ts'
import { type AdjustmentRow, decideRows, STOCK_COUNT_ROW } from '../core/transfer/adjustment.ts'
import type { ApplyOptions } from '../core/transfer/import.ts'
import {
  compareInSql,
  type ImportKind,
  type ImportTables,
  IN_SCOPE,
  layoutOf,
  type Step,
  type StoredColumns,
  type TableRow,
} from './import-tables.ts'
import { LOCKED_SELECT_LIST, type LockedRow, toLockedEntry } from './log-rows.ts'
import { crossingStatements, IN_STEP } from './low-stock.ts'
import { isExpiredSql, ORDER_SELECT_LIST, type OrderTableRow, toOrder } from './order-rows.ts'
import { readClock, runStatements } from './sql.ts'

/** The number of orders that are decided and written together. */
const ORDERS_PER_STEP = 1_000
/**
 * If an import changes more orders than this, it writes one `relist` row instead of an `order` row for each order; changes
 * of quantities are always logged.
 */
const MAX_LOGGED_ORDERS = 1_000

const ORDER_LAYOUT = layoutOf<OrderRow>(ORDER_ROW)
const STORED_ORDER: StoredColumns = {
  joins: 'LEFT JOIN orders ON orders.id = sorted.id',
  id: 'orders.id',
  // In a file, an order is either open or complete. A stored order with another state differs from every row.
  column: (column) =>
    column === 'complete'
      ? "CASE orders.state WHEN 'open' THEN false WHEN 'complete' THEN true END"
      : `orders.${column}`,
}
const STEP_ROWS = 'FROM differing WHERE id BETWEEN $1 AND $2'

/** A preview writes nothing, so it keeps the entries of earlier steps in memory. */
type Mode =
  | { readonly type: 'preview'; readonly previewedEntries: Map<bigint, LockedEntry> }
  | { readonly type: 'write'; readonly writesLog: boolean }

/**
 * Keeps others from creating pets until the commit. A pet without a row cannot be locked, so a change of a pet that is created
 * during the import could be overwritten.
 */
const lockCatalog = <Value>({ session, database }: ImportTables<Value>) =>
  runStatements(session, database.dialect.lockCatalog)

/** Imports orders. They are decided in the order of their ids, with the rules of the API, while their pets are locked. */
export const ORDER_IMPORT: ImportKind<OrderRow> = {
  stagedLayout: ORDER_LAYOUT,
  differingLayout: ORDER_LAYOUT,
  isKeyedByPet: false,
  lock: lockCatalog,
  compare: (tables, scope) => compareInSql(tables, STORED_ORDER, scope),
  refuseInPreview: (tables) =>
    decideOrders(tables, { at: 0, keyId: '' }, { type: 'preview', previewedEntries: new Map() }),
  write: async (tables, options) => {
    if (tables.hasRowLocks) {
      await tables.lockStock('pet_id IN (SELECT pet_id FROM differing)')
      await tables.markTouched('SELECT id FROM differing')
      await tables.compareTouched()
    }
    // Raises the id sequence above the imported ids before the first order is written, so that orders created during the
    // import get other ids.
    await tables.advanceIds('orders', 'id', 'is_new')
    const writesLog = (await tables.count()) <= MAX_LOGGED_ORDERS
    await decideOrders(tables, options, { type: 'write', writesLog })
    await tables.throwIfRefused(options)
    if (!writesLog) await tables.logRelist(options)
  },
}

async function decideOrders(
  tables: ImportTables<OrderRow>,
  options: ApplyOptions,
  mode: Mode,
): Promise<void> {
  await tables.writeInSteps(options, (step) => decideStep(tables, step, options, mode), {
    size: ORDERS_PER_STEP,
  })
}

async function decideStep(
  tables: ImportTables<OrderRow>,
  step: Step,
  { at, keyId }: ApplyOptions,
  mode: Mode,
): Promise<void> {
  const previewedEntries = mode.type === 'preview' ? mode.previewedEntries : new Map<bigint, LockedEntry>()
  const rows = await tables.session.rows<TableRow>(`SELECT * ${STEP_ROWS} ORDER BY id`, step.from, step.to)
  const entries = await readEntries(tables, step)
  for (const petId of entries.keys()) {
    const previewed = previewedEntries.get(petId)
    if (previewed !== undefined) entries.set(petId, previewed)
  }
  const locked = await readOrders(tables, step)
  // Skips pets of earlier preview steps: their expired holds are already released in memory.
  const expiredHolds = locked.expiredHolds.filter(({ petId }) => !previewedEntries.has(petId))
  const stock = new StockDraft(entries, new KnownFacts())
  const writesLog = mode.type === 'write' && mode.writesLog
  const orders = new OrdersDraft(stock, { ...locked, expiredHolds }, writesLog)
  const refused = rows.flatMap((row) => {
    const order = ORDER_LAYOUT.fromSql(row)
    const reason = importOrder(orders, order, { at, keyId })
    stock.logThresholdCrossings({ at, keyId })
    return reason === undefined ? [] : [{ id: order.id, line: Number(row.line), reason }]
  })
  if (mode.type === 'write') {
    await tables.database.writeDecision({
      records: stock.records,
      entries: stock.changes,
      orders: orders.changes,
      catalog: undefined,
    })
  } else {
    for (const [petId, entry] of entries) previewedEntries.set(petId, { ...entry, ...stock.findEntry(petId) })
  }
  await tables.refuse(refused)
}

async function readEntries(
  { session }: ImportTables<OrderRow>,
  { from, to }: Step,
): Promise<Map<bigint, LockedEntry>> {
  const rows = await session.rows<LockedRow>(
    `SELECT ${LOCKED_SELECT_LIST} FROM stock WHERE pet_id IN (SELECT pet_id ${STEP_ROWS})`,
    from,
    to,
  )
  return new Map(rows.map((row) => [row.pet_id, toLockedEntry(row)]))
}

async function readOrders(
  { session, database }: ImportTables<OrderRow>,
  { from, to }: Step,
): Promise<LockedOrders> {
  const now = await readClock(session, database.clock)
  const storedRows = await session.rows<OrderTableRow>(
    `SELECT ${ORDER_SELECT_LIST} FROM orders WHERE id IN (SELECT id ${STEP_ROWS})`,
    from,
    to,
  )
  const expiredRows = await session.rows<OrderTableRow>(
    `SELECT ${ORDER_SELECT_LIST} FROM orders ${database.dialect.indexedBy('orders_held')}
    WHERE pet_id IN (SELECT pet_id ${STEP_ROWS}) AND ${isExpiredSql('$3')}`,
    from,
    to,
    now,
  )
  return {
    now: Number(now),
    newIds: [],
    expiredHolds: expiredRows.map((row) => toOrder(row)),
    // If an earlier step of a preview has released an expired hold, its row still says open, so `orderAt` sets the state.
    orders: new Map(storedRows.map((row) => [row.id, orderAt(toOrder(row), Number(now))])),
  }
}

/**
 * The number of rows that are decided together. They must fit into the buffers of a connection. Otherwise, if this
 * process were suspended, PostgreSQL would block while it sends the rows, and `idle_in_transaction_session_timeout`
 * would not start.
 */
const ROWS_PER_DECISION = 1_000

const ADJUSTMENT_LAYOUT = layoutOf<AdjustmentChange>(ADJUSTMENT_CHANGE)

/** Imports one adjustment of many pets. The rules of the API decide the new quantity of each row. */
export const ADJUSTMENT_IMPORT: ImportKind<AdjustmentChange> = {
  stagedLayout: ADJUSTMENT_LAYOUT,
  differingLayout: layoutOf<AdjustmentChange>(STOCK_COUNT_ROW),
  isKeyedByPet: true,
  lock: async (tables) => {
    await lockCatalog(tables)
    await tables.lockStock('pet_id IN (SELECT id FROM sorted)')
  },
  compare: (tables, scope) => {
    const steps = { table: 'sorted', condition: IN_SCOPE[scope], size: ROWS_PER_DECISION } as const
    return tables.inSteps(steps, async ({ from, to }) => {
      const rows = await tables.session.rows<TableRow>(
        `SELECT change.*, stock.quantity AS stock_quantity, stock.status AS stock_status
        FROM (SELECT * FROM sorted WHERE id BETWEEN $1 AND $2 AND ${IN_SCOPE[scope]}) AS change
        LEFT JOIN (SELECT * FROM stock WHERE pet_id BETWEEN $1 AND $2) AS stock ON pet_id = id ORDER BY id`,
        from,
        to,
      )
      const { changed, refused } = decideRows(rows.map(toAdjustmentRow))
      if (changed.length > 0) {
        await tables.session.insert(
          'differing',
          {
            id: 'integer',
            line: 'integer',
            is_new: 'boolean',
            is_fresh: 'boolean',
            quantity: 'integer',
            old_quantity: 'integer',
          },
          changed.map(({ petId, line, before, after }) => [petId, line, false, false, after, before]),
        )
      }
      await tables.refuse(refused.map(({ petId, line, reason }) => ({ id: petId, line, reason })))
    })
  },
  write: async (tables, options) => {
    await tables.throwIfRefused(options)
    await tables.writeInSteps(options, async (step) => {
      await tables.writePetChanges('change', step, options)
      const { dialect } = tables.database
      await runStatements(tables.session, crossingStatements(dialect, IN_STEP, [step.from, step.to], options))
    })
  },
}

function toAdjustmentRow(row: TableRow): AdjustmentRow {
  const { line, stock_quantity: quantity, stock_status: status } = row
  // The table allows only the values of PetStatus.
  const entry = quantity === null ? undefined : { quantity: Number(quantity), status: status as PetStatus }
  return { line: Number(line), value: ADJUSTMENT_LAYOUT.fromSql(row), entry }
}
