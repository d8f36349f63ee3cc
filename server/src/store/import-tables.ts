import type { ImportableDecision } from '../core/stock/decide.ts'
import type { GeneratedIdTable } from '../core/transfer/copy.ts'
import {
  type ApplyOptions,
  type DuplicateRow,
  type ImportCounts,
  type ImportPreview,
  RowsRefused,
  type StagedImport,
  type StagedRow,
  type Tally,
} from '../core/transfer/import.ts'
import type { RefusedLine } from '../core/transfer/rows.ts'
import { codecsOf, columnName, type Fields, MAX_INT64, MIN_INT64 } from '../core/values/field.ts'
import { isInGeneratedRangeSql } from './generated-ids.ts'
import { insertLogSql } from './log-rows.ts'
import type { Columns, Dialect, LongSession, SqlValue, StoreClock } from './sql.ts'

/** Parameter values that make a statement with `id BETWEEN $1 AND $2` cover all ids. */
export const ALL_IDS = [MIN_INT64, MAX_INT64] as const

/** The number of rows that one statement writes. */
export const ROWS_PER_STEP = 20_000

/** The part of an import that depends on the database. */
export interface ImportDatabase {
  /** A separate connection, so that reading the file locks nothing. */
  readonly session: LongSession
  readonly dialect: Dialect
  readonly clock: StoreClock
  /** Calls `write` in one transaction, in which `differing` has exactly the rows that differ from the store. */
  apply<Value, Result>(tables: ImportTables<Value>, write: () => Promise<Result>): Promise<Result>
  /** Writes a decision in the current transaction of the session. */
  writeDecision(decision: ImportableDecision): Promise<unknown>
}

/** The part of an import that depends on the kind of record. */
export interface ImportKind<Value> {
  readonly stagedLayout: Layout<Value>
  readonly differingLayout: Layout<Value>
  /**
   * Whether the ids are pet ids. If they are, SQLite first compares all rows without a lock. Under the lock, it compares
   * only the pets that have log rows since then.
   */
  readonly isKeyedByPet: boolean
  /** Called only on PostgreSQL, at the start of the transaction, before the comparison. */
  lock(tables: ImportTables<Value>): Promise<void>
  /** Compares the rows of `sorted` in this scope with the store, and inserts those that differ into `differing`. */
  compare(tables: ImportTables<Value>, scope: Scope): Promise<void>
  /** Moves rows that cannot be written, such as a pet whose barcode another pet uses, from `differing` to `refused`. */
  refuseInPreview?(tables: ImportTables<Value>): Promise<void>
  /** Writes the rows of `differing`. Throws `RowsRefused` if a row is refused. */
  write(tables: ImportTables<Value>, options: ApplyOptions): Promise<void>
}

/** Which rows of `sorted` are compared. */
export type Scope = 'all' | 'touched'
export const IN_SCOPE = { all: 'true', touched: 'sorted.id IN (SELECT id FROM touched)' } as const

export type TableRow = Readonly<Record<string, bigint | string | boolean | null>>

/** The columns of a record in the temporary tables. */
export interface Layout<Value> {
  /** All columns except `id`. */
  readonly columns: Columns
  /** The columns that keep their stored value if a row lacks the field, each with its bit in the column `absent`. */
  readonly absentBits: ReadonlyMap<string, number>
  /** The id, the values of the columns and, if the layout has `absentBits`, the value of `absent`. */
  readonly toSql: (value: Value) => SqlValue[]
  readonly fromSql: (row: TableRow, prefix?: 'old_') => Value
}

interface LayoutOptions<Value> {
  /** Whether the store keeps the value of an optional field that a row lacks, so that only null clears it. */
  readonly keepsAbsentFields?: boolean
  /** Additional text columns that are computed from the record. */
  readonly computed?: Readonly<Record<string, (value: Value) => string>>
}

/** The layout of a record. Its first field is the id. */
export function layoutOf<Value extends object>(
  fields: Fields,
  { keepsAbsentFields = false, computed = {} }: LayoutOptions<Value> = {},
): Layout<Value> {
  const [idCodec, ...codecs] = codecsOf(fields).map((codec) => ({ ...codec, column: columnName(codec.name) }))
  if (idCodec === undefined) throw new Error('a record without fields cannot be imported')
  const keptIfAbsent = keepsAbsentFields ? codecs.filter(({ isOptional }) => isOptional) : []
  const absentBits = new Map(keptIfAbsent.map(({ column }, index) => [column, 2 ** index]))
  const columns: Columns = Object.fromEntries([
    ...codecs.map(({ column, sql }) => [column, sql]),
    ...Object.keys(computed).map((column) => [column, 'text']),
  ])
  return {
    columns,
    absentBits,
    toSql: (value) => {
      // The fields were read with their codecs, and SQL accepts their values.
      const record = value as Readonly<Record<string, SqlValue | undefined>>
      const values = [record[idCodec.name] ?? null]
      let absent = 0
      for (const { name, column } of codecs) {
        const field = record[name]
        if (field === undefined) absent += absentBits.get(column) ?? 0
        values.push(field ?? null)
      }
      for (const compute of Object.values(computed)) values.push(compute(value))
      if (absentBits.size > 0) values.push(absent)
      return values
    },
    fromSql: (row, prefix) => {
      const record: Record<string, unknown> = { [idCodec.name]: row.id }
      for (const { name, column, fromSql } of codecs) {
        const value = row[(prefix ?? '') + column] ?? null
        if (value !== null) record[name] = fromSql(value)
        else if (absentBits.has(column)) record[name] = null
      }
      // `toSql` wrote the row, or it comes from a table with the same columns.
      return record as Value
    },
  }
}

/** The tables and columns of the store that hold the records of an import. */
export interface StoredColumns {
  /** Joins the tables of the record with `sorted`. */
  readonly joins: string
  /** An expression that is null if the store does not have the record. */
  readonly id: string
  /** The expression for the stored value of a column. */
  readonly column: (column: string) => string
}

export async function compareInSql<Value>(
  { session, hasRowLocks, kind: { stagedLayout } }: ImportTables<Value>,
  { joins, id, column: storedValue }: StoredColumns,
  scope: Scope,
): Promise<void> {
  const names = Object.keys(stagedLayout.columns)
  const storedValues = names.map(storedValue)
  const newValues = names.map((name) => {
    const bit = stagedLayout.absentBits.get(name)
    if (bit === undefined) return `sorted.${name}`
    return `CASE WHEN (sorted.absent & ${bit}) <> 0 THEN ${storedValue(name)} ELSE sorted.${name} END`
  })
  const isFresh = hasRowLocks && scope === 'all' ? `${id} IS NULL` : 'false'
  await session.run(`
    INSERT INTO differing
    SELECT sorted.id, line, ${id} IS NULL, ${isFresh}, ${newValues}, ${storedValues}
    FROM sorted ${joins} WHERE ${IN_SCOPE[scope]} AND (${storedValues}) IS DISTINCT FROM (${newValues})`)
}

/** Consecutive rows of a temporary table, with the ids from `from` to `to`. */
export interface Step {
  readonly from: bigint
  readonly to: bigint
  readonly rows: number
}

interface StepOptions {
  readonly table: 'sorted' | 'differing'
  readonly condition?: string
  readonly size?: number
  readonly signal?: AbortSignal | undefined
}

/**
 * An import. It keeps its rows in temporary tables of a separate connection, so that it needs little memory.
 *
 * - `staged`: the rows in the order of the file. `sorted`: the same rows by id, without duplicates.
 * - `differing`: the rows that differ from the store, with the values of the store in columns that start with `old_`.
 *   `is_new`: the store does not have the record. `is_fresh` (only PostgreSQL): the record was already new in the first
 *   comparison, before any row was locked. The import inserts fresh pets before it locks existing pets, to keep locks short.
 * - `refused`: the rows that cannot be written, such as a pet whose barcode another pet uses, each with the reason.
 * - `touched`: the ids of the rows that have to be compared again.
 * - `numbered`: the log ids of the pets in a step.
 */
export class ImportTables<Value> implements StagedImport<Value> {
  readonly session: LongSession
  readonly database: ImportDatabase
  readonly kind: ImportKind<Value>
  readonly #stagedColumns: Columns
  #rowCount = 0
  #writtenCount = 0

  static async create<Value>(
    database: ImportDatabase,
    kind: ImportKind<Value>,
  ): Promise<ImportTables<Value>> {
    const tables = new ImportTables(database, kind)
    await tables.#createTables()
    return tables
  }

  private constructor(database: ImportDatabase, kind: ImportKind<Value>) {
    this.session = database.session
    this.database = database
    this.kind = kind
    const { columns, absentBits } = kind.stagedLayout
    this.#stagedColumns = absentBits.size === 0 ? columns : { ...columns, absent: 'integer' }
  }

  async #createTables(): Promise<void> {
    const { types } = this.database.dialect
    const createTable = async (name: string, idConstraint: string, columns: Columns) => {
      const definitions = Object.entries(columns).map(([column, type]) => `${column} ${types[type]}`)
      await this.session.run(
        `CREATE TEMP TABLE ${name} (${[`id ${types.integer} ${idConstraint}`, ...definitions].join()})`,
      )
    }
    const staged: Columns = { line: 'integer', ...this.#stagedColumns }
    const { columns } = this.kind.differingLayout
    const oldColumns: Columns = Object.fromEntries(
      Object.entries(columns).map(([name, type]) => [`old_${name}`, type]),
    )
    await createTable('staged', '', staged)
    await createTable('sorted', 'PRIMARY KEY', staged)
    await createTable('differing', 'PRIMARY KEY', {
      line: 'integer',
      is_new: 'boolean',
      is_fresh: 'boolean',
      ...columns,
      ...oldColumns,
    })
    await createTable('refused', 'PRIMARY KEY', { line: 'integer', reason: 'text' })
    await createTable('touched', '', {})
    await createTable('numbered', '', { pet_id: 'integer' })
  }

  async add(rows: readonly StagedRow<Value>[]): Promise<void> {
    if (rows.length === 0) return
    this.#rowCount += rows.length
    await this.session.insert(
      'staged',
      { line: 'integer', id: 'integer', ...this.#stagedColumns },
      rows.map(({ line, value }) => [line, ...this.kind.stagedLayout.toSql(value)]),
    )
  }

  /**
   * Called after the last `add`. Moves the rows to `sorted` and returns the duplicates. Sorting once is much cheaper
   * than an index that is updated with each row.
   */
  async finishStaging(maxExamples: number): Promise<Tally<DuplicateRow>> {
    const columns = ['id', 'line', ...Object.keys(this.#stagedColumns)].join()
    const sortedCount = await this.session.run(
      `INSERT INTO sorted (${columns}) SELECT ${columns} FROM staged WHERE true ORDER BY id, line ON CONFLICT DO NOTHING`,
    )
    await this.session.analyze('sorted')
    const count = this.#rowCount - sortedCount
    const first = count === 0 ? [] : await this.#firstDuplicates(maxExamples)
    this.#rowCount = sortedCount
    await this.session.run('DROP TABLE staged')
    return { count, first }
  }

  async #firstDuplicates(limit: number): Promise<DuplicateRow[]> {
    const rows = await this.session.rows<{ line: bigint; first_line: bigint; id: bigint }>(
      `SELECT staged.line, sorted.line AS first_line, sorted.id FROM staged JOIN sorted ON sorted.id = staged.id
      WHERE staged.line <> sorted.line ORDER BY staged.line LIMIT CAST($1 AS BIGINT)`,
      limit,
    )
    return rows.map(({ line, first_line, id }) => ({ line: Number(line), firstLine: Number(first_line), id }))
  }

  async preview(maxExamples: number): Promise<ImportPreview<Value>> {
    await this.compareAll()
    await this.kind.refuseInPreview?.(this)
    const first = (condition: string) =>
      this.session.rows<TableRow>(
        `SELECT * FROM differing WHERE ${condition} ORDER BY line LIMIT CAST($1 AS BIGINT)`,
        maxExamples,
      )
    const { fromSql } = this.kind.differingLayout
    const toRow = (row: TableRow) => ({ line: Number(row.line), value: fromSql(row) })
    const { added, changed, unchanged } = await this.#counts()
    const refused = await this.#refusedLines(maxExamples)
    return {
      added: { count: added, first: (await first('is_new')).map(toRow) },
      changed: {
        count: changed,
        first: (await first('NOT is_new')).map((row) => ({ ...toRow(row), before: fromSql(row, 'old_') })),
      },
      unchanged: unchanged - refused.count,
      ...(refused.count === 0 ? {} : { refused }),
    }
  }

  apply(options: ApplyOptions): Promise<ImportCounts> {
    options.signal?.throwIfAborted()
    return this.database.apply(this, async () => {
      options.signal?.throwIfAborted()
      await this.kind.write(this, options)
      options.signal?.throwIfAborted()
      return this.#counts()
    })
  }

  /** Closing the connection drops the temporary tables. */
  discard(): Promise<void> {
    return this.session.close()
  }

  /** Counts the refused rows as unchanged. */
  async #counts(): Promise<ImportCounts> {
    const added = await this.count('is_new')
    const changed = await this.count('NOT is_new')
    return { added, changed, unchanged: this.#rowCount - added - changed }
  }

  /** The number of rows of `differing` that fulfil the condition. */
  async count(condition = 'true'): Promise<number> {
    const [row] = await this.session.rows<{ rows: bigint }>(
      `SELECT count(*) AS rows FROM differing WHERE ${condition}`,
    )
    return Number(row?.rows ?? 0)
  }

  async #refusedLines(maxExamples: number): Promise<Tally<RefusedLine>> {
    const [total] = await this.session.rows<{ rows: bigint }>('SELECT count(*) AS rows FROM refused')
    const first = await this.session.rows<{ line: bigint; reason: string }>(
      'SELECT line, reason FROM refused ORDER BY line LIMIT CAST($1 AS BIGINT)',
      maxExamples,
    )
    return {
      count: Number(total?.rows ?? 0),
      first: first.map(({ line, reason }) => ({ line: Number(line), reason })),
    }
  }

  /** Moves rows from `differing` to `refused`. */
  async refuse(rows: readonly (RefusedLine & { readonly id: bigint })[]): Promise<void> {
    if (rows.length === 0) return
    await this.session.insert(
      'refused',
      { id: 'integer', line: 'integer', reason: 'text' },
      rows.map(({ id, line, reason }) => [id, line, reason]),
    )
    const ids = rows.map(({ id }) => id).sort((a, b) => (a < b ? -1 : 1))
    await this.session.run(
      `DELETE FROM differing WHERE id BETWEEN $1 AND $2
        AND id IN (SELECT id FROM refused WHERE id BETWEEN $1 AND $2)`,
      ids[0] ?? null,
      ids.at(-1) ?? null,
    )
  }

  async throwIfRefused({ maxExamples = 0 }: ApplyOptions): Promise<void> {
    const refused = await this.#refusedLines(maxExamples)
    if (refused.count > 0) throw new RowsRefused(refused)
  }

  async compareAll(): Promise<void> {
    this.#writtenCount = 0
    await this.session.run('DELETE FROM differing')
    await this.session.run('DELETE FROM refused')
    await this.kind.compare(this, 'all')
    await this.session.analyze('differing')
  }

  async compareTouched(): Promise<void> {
    await this.session.run('DELETE FROM differing WHERE id IN (SELECT id FROM touched)')
    await this.session.run('DELETE FROM refused WHERE id IN (SELECT id FROM touched)')
    await this.kind.compare(this, 'touched')
    await this.session.analyze('differing')
  }

  /** Whether other transactions can write at the same time. */
  get hasRowLocks(): boolean {
    return this.database.dialect.forUpdate !== ''
  }

  /** Locks the stock rows that fulfil the condition. They are locked in the order of their ids, which prevents deadlocks. */
  async lockStock(condition: string, ...values: readonly SqlValue[]): Promise<void> {
    if (!this.hasRowLocks) return
    await this.session.rows(
      `SELECT count(*) FROM (
        SELECT 1 FROM stock WHERE ${condition} ORDER BY pet_id ${this.database.dialect.forUpdate}) AS locked`,
      ...values,
    )
  }

  /** Replaces the contents of `touched` with the ids that the query selects. */
  async markTouched(idQuery: string, ...values: readonly SqlValue[]): Promise<void> {
    await this.session.run('DELETE FROM touched')
    await this.session.run(`INSERT INTO touched ${idQuery}`, ...values)
    await this.session.analyze('touched')
  }

  /** Calls `work` for each step, in order. Between two steps, the event loop gets a turn and the signal is checked. */
  async inSteps(
    { table, condition = 'true', size = ROWS_PER_STEP, signal }: StepOptions,
    work: (step: Step) => Promise<void>,
  ): Promise<void> {
    for (let from = MIN_INT64; from <= MAX_INT64; ) {
      signal?.throwIfAborted()
      const [step] = await this.session.rows<{ last: bigint | null; rows: bigint }>(
        `SELECT max(id) AS last, count(*) AS rows FROM (
          SELECT id FROM ${table} WHERE id >= $1 AND ${condition} ORDER BY id LIMIT ${size}) AS step`,
        from,
      )
      if (step === undefined || step.last === null) return
      await work({ from, to: step.last, rows: Number(step.rows) })
      from = step.last + 1n
      await new Promise((resume) => setImmediate(resume))
    }
  }

  /** Calls `work` for each step of `differing`. The reported progress adds up all calls since `compareAll`. */
  async writeInSteps(
    { signal, onProgress }: ApplyOptions,
    work: (step: Step) => Promise<void>,
    { condition = 'true', size = ROWS_PER_STEP }: Pick<StepOptions, 'condition' | 'size'> = {},
  ): Promise<void> {
    const total = await this.count()
    if (total > this.#writtenCount) onProgress?.(this.#writtenCount, total)
    await this.inSteps({ table: 'differing', condition, size, signal }, async (step) => {
      await work(step)
      this.#writtenCount += step.rows
      onProgress?.(this.#writtenCount, total)
    })
  }

  /** Makes generated ids start above the ids in this column of `differing`. */
  async advanceIds(table: GeneratedIdTable, column: string, condition = 'true'): Promise<void> {
    const [row] = await this.session.rows<{ highest: bigint | null }>(
      `SELECT max(${column}) AS highest FROM differing WHERE ${isInGeneratedRangeSql(column)} AND ${condition}`,
    )
    const highest = row?.highest ?? null
    if (highest !== null) await this.session.rows(this.database.dialect.advanceIds(table), highest)
  }

  /** Writes one log row that asks subscribers to read the whole stock again, instead of a row for each change. */
  async logRelist({ at, keyId }: ApplyOptions): Promise<void> {
    await this.session.run(
      insertLogSql(
        {
          id: this.database.dialect.nextLogId,
          kind: "'relist'",
          at: 'CAST($1 AS BIGINT)',
          key_id: '$2',
        },
        // The id needs a SELECT.
        '',
      ),
      at,
      keyId,
    )
  }

  /**
   * Writes a log row for each pet of the step that fulfils the condition, and sets its quantity in `stock`. The statements
   * limit each table to the ids of the step. Otherwise PostgreSQL would scan whole tables in each step.
   */
  async writePetChanges(
    logKind: 'change' | 'pet',
    { from, to }: Pick<Step, 'from' | 'to'>,
    { at, keyId, reason, reference }: ApplyOptions,
    { condition = 'true', detail = 'NULL' }: { readonly condition?: string; readonly detail?: string } = {},
  ): Promise<void> {
    const before = logKind === 'change' ? 'old_quantity' : 'CASE WHEN is_new THEN 0 END'
    await this.session.run('DELETE FROM numbered')
    await this.session.run(
      `INSERT INTO numbered SELECT ${this.database.dialect.nextLogId}, id FROM differing
      WHERE id BETWEEN $1 AND $2 AND ${condition} ORDER BY id`,
      from,
      to,
    )
    await this.session.analyze('numbered')
    await this.session.run(
      insertLogSql(
        {
          id: 'numbered.id',
          kind: `'${logKind}'`,
          pet_id: 'numbered.pet_id',
          before,
          after: 'incoming.quantity',
          status: 'stock.status',
          at: 'CAST($3 AS BIGINT)',
          key_id: '$4',
          reason: '$5',
          reference: '$6',
          detail: 'detail',
        },
        `FROM numbered
        JOIN stock ON stock.pet_id = numbered.pet_id AND stock.pet_id BETWEEN $1 AND $2
        JOIN (SELECT *, ${detail} AS detail FROM differing WHERE id BETWEEN $1 AND $2) AS incoming ON incoming.id = numbered.pet_id`,
      ),
      from,
      to,
      at,
      keyId,
      reason ?? null,
      reference ?? null,
    )
    await this.session.run(
      `UPDATE stock SET quantity = incoming.quantity
      FROM numbered JOIN differing AS incoming ON incoming.id = numbered.pet_id AND incoming.id BETWEEN $1 AND $2
      WHERE stock.pet_id = numbered.pet_id AND stock.pet_id BETWEEN $1 AND $2`,
      from,
      to,
    )
  }
}
