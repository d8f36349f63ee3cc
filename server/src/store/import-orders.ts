import { importOrder } from '../core/orders/import-order.ts'
import type { OrderRow } from '../core/orders/order.ts'
import { type LockedOrders, OrdersDraft } from '../core/orders/orders-draft.ts'
import type { ChangeOrigin } from '../core/stock/command.ts'
import type { WrittenDecision } from '../core/stock/decide.ts'
import type { LockedEntry } from '../core/stock/inventory.ts'
import { StockDraft } from '../core/stock/stock-draft.ts'
import type { RefusedLine } from '../core/transfer/exchange-rows.ts'
import {
  type ApplyOptions,
  type ImportCounts,
  type ImportPreview,
  RowsRefused,
  type StagedImport,
  type StagedRow,
  type Tally,
} from '../core/transfer/staged-import.ts'
import { ORDER_PLAN, type PlainRow } from './import-plan.ts'
import { inSteps } from './import-steps.ts'
import { ImportTables } from './import-tables.ts'
import { LOCKED_FIELDS, type LockedRow, toLockedEntry } from './log-rows.ts'
import { isExpiredSql, ORDER_FIELDS, type OrderRecord, toOrder } from './order-rows.ts'
import { isOwnId } from './own-ids.ts'
import type { Dialect, LongSession, StoreClock } from './sql.ts'

/** Decided and written together. */
const ROWS_A_STEP = 1_000
/** With more orders than this added or changed, the log says so in one row. */
const MAX_LOGGED = 1_000
/** The rows of the step from $1 to $2. */
const STEP = 'FROM differing WHERE id BETWEEN $1 AND $2'

/** What an adapter does in its own way. */
export interface OrderImportParts {
  readonly dialect: Dialect
  readonly clock: StoreClock
  /** Writes what was decided, in the transaction that is under way on the session of the import. */
  write(decision: WrittenDecision, lastChangeOf: (petId: bigint) => bigint | null): Promise<unknown>
}

interface Entry extends LockedEntry {
  readonly lastChange: bigint | null
}

/** To be written, and told in the log or not; or to be foreseen, where what is decided has to be remembered. */
type How = { readonly writesLog: boolean } | { readonly seen: Map<bigint, Entry> }

type EntryRow = LockedRow & { readonly last_change: bigint | null }

/**
 * Orders are decided on one by one, as those of callers are, by id, and with the pets of all that differ locked first: so
 * what they reserve is right. What cannot be is refused with its line.
 */
export class OrderImport implements StagedImport<OrderRow> {
  readonly #tables: ImportTables<OrderRow>
  readonly #session: LongSession
  readonly #parts: OrderImportParts

  static async create(session: LongSession, parts: OrderImportParts): Promise<OrderImport> {
    return new OrderImport(await ImportTables.create(session, ORDER_PLAN, parts.dialect), parts)
  }

  private constructor(tables: ImportTables<OrderRow>, parts: OrderImportParts) {
    this.#tables = tables
    this.#session = tables.session
    this.#parts = parts
  }

  add(rows: readonly StagedRow<OrderRow>[]): Promise<void> {
    return this.#tables.add(rows)
  }

  seal(examples: number): ReturnType<StagedImport<OrderRow>['seal']> {
    return this.#tables.seal(examples)
  }

  async preview(examples: number): Promise<ImportPreview<OrderRow>> {
    await this.#tables.compareAll()
    const refused = await this.#decideAll({ at: 0, keyId: '', examples }, { seen: new Map() })
    return { ...(await this.#tables.preview(examples)), refused }
  }

  apply(options: ApplyOptions): Promise<ImportCounts> {
    const { dialect } = this.#parts
    return this.#session.writeInSteps(async () => {
      options.signal?.throwIfAborted()
      await this.#tables.compareAll()
      await this.#session.rows(
        `SELECT count(*) FROM (SELECT 1 FROM stock WHERE pet_id IN (SELECT pet_id FROM differing)
          ORDER BY pet_id ${dialect.forUpdate}) AS locked`,
      )
      await this.#session.run('INSERT INTO touched SELECT id FROM differing')
      await this.#tables.compareTouched()
      await this.#raiseIds()
      const writesLog = (await this.#tables.count('true')) <= MAX_LOGGED
      const refused = await this.#decideAll(options, { writesLog })
      if (refused.count > 0 && options.skipBad !== true) throw new RowsRefused(refused)
      if (!writesLog) await this.#tables.tellToRelist(dialect, options)
      options.signal?.throwIfAborted()
      return { ...(await this.#tables.counts()), ...(refused.count > 0 ? { refused } : {}) }
    })
  }

  discard(): Promise<void> {
    return this.#tables.discard()
  }

  /** Before the first of them is written: who makes an order meanwhile gets another id. */
  async #raiseIds(): Promise<void> {
    const [row] = await this.#session.rows<{ highest: bigint | null }>(
      `SELECT max(id) AS highest FROM differing WHERE is_new AND ${isOwnId('id')}`,
    )
    const highest = row?.highest ?? null
    if (highest !== null) await this.#session.rows(this.#parts.dialect.raiseIds('orders'), highest)
  }

  /** Decides on all that differs, step by step. What is refused is left out of it. */
  async #decideAll(
    { at, keyId, signal, onProgress, examples = 0 }: ApplyOptions,
    how: How,
  ): Promise<Tally<RefusedLine>> {
    const total = await this.#tables.count('true')
    if (total > 0) onProgress?.(0, total)
    let count = 0
    let done = 0
    let first: RefusedLine[] = []
    const steps = { table: 'differing', which: 'true', size: ROWS_A_STEP, signal } as const
    await inSteps(this.#session, steps, async ({ from, to, rows }) => {
      const refused = await this.#decide([from, to], { at, keyId }, how)
      await this.#tables.leaveOut(refused.map(({ id }) => id))
      count += refused.length
      first = [...first, ...refused.map(({ line, reason }) => ({ line, reason }))]
        .sort((one, other) => one.line - other.line)
        .slice(0, examples)
      done += rows
      onProgress?.(done, total)
    })
    return { count, first }
  }

  async #decide(
    range: readonly [from: bigint, to: bigint],
    by: ChangeOrigin,
    how: How,
  ): Promise<(RefusedLine & { readonly id: bigint })[]> {
    const seen = 'seen' in how ? how.seen : new Map<bigint, Entry>()
    const rows = await this.#session.rows<PlainRow>(`SELECT * ${STEP} ORDER BY id`, ...range)
    const fresh = await this.#entries(range)
    const entries = new Map(Array.from(fresh, ([petId, entry]) => [petId, seen.get(petId) ?? entry]))
    const found = await this.#found(range)
    // Of a pet that was seen, what is over was left out already.
    const expiredHolds = found.expiredHolds.filter(({ petId }) => !seen.has(petId))
    const stock = new StockDraft(entries)
    const orders = new OrdersDraft(stock, { ...found, expiredHolds }, 'writesLog' in how && how.writesLog)
    const refused = rows.flatMap((row) => {
      const order = ORDER_PLAN.toValue(row, '')
      const reason = importOrder(orders, order, by)
      stock.logThresholdCrossings(by)
      return reason === undefined ? [] : [{ line: Number(row.line), reason, id: order.id }]
    })
    const { changes } = orders
    if ('writesLog' in how) {
      const lastChangeOf = (petId: bigint) => entries.get(petId)?.lastChange ?? null
      const { records, reserved, low } = stock
      await this.#parts.write({ records, reserved, low, orders: changes, catalog: undefined }, lastChangeOf)
    }
    for (const [petId, entry] of 'seen' in how ? entries : []) {
      seen.set(petId, { ...entry, ...stock.entry(petId) })
    }
    return refused
  }

  async #entries(range: readonly [bigint, bigint]): Promise<Map<bigint, Entry>> {
    const rows = await this.#session.rows<EntryRow>(
      `SELECT ${LOCKED_FIELDS}, last_change FROM stock
      WHERE pet_id IN (SELECT pet_id ${STEP})`,
      ...range,
    )
    return new Map(rows.map((row) => [row.pet_id, { ...toLockedEntry(row), lastChange: row.last_change }]))
  }

  async #found(range: readonly [bigint, bigint]): Promise<LockedOrders> {
    const { clock, dialect } = this.#parts
    const [time] = await this.#session.rows<{ now: bigint }>(
      `SELECT ${clock.sql('$1')} AS now`,
      clock.given(),
    )
    if (time === undefined) throw new Error('the database did not tell the time')
    const named = await this.#session.rows<OrderRecord>(
      `SELECT ${ORDER_FIELDS} FROM orders WHERE id IN (SELECT id ${STEP})`,
      ...range,
    )
    const over = await this.#session.rows<OrderRecord>(
      `SELECT ${ORDER_FIELDS} FROM orders ${dialect.indexedBy('orders_held')}
      WHERE pet_id IN (SELECT pet_id ${STEP}) AND ${isExpiredSql('$3')}`,
      ...[...range, time.now],
    )
    return {
      ...{ now: Number(time.now), newIds: [], expiredHolds: over.map((row) => toOrder(row)) },
      orders: new Map(named.map((row) => [row.id, toOrder(row)])),
    }
  }
}
