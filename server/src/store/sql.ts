import type { ColumnType, GeneratedIdTable } from '../core/transfer/copy.ts'

/** A value that both databases accept as a parameter. */
export type SqlValue = bigint | number | string | boolean | null

/** SQL that both databases understand. `$1` is the first value. Numbers must be integers. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** An unflushed commit does not wait for the disk. Only a crash of the machine or the database server can undo it. */
export type Durability = 'durable' | 'unflushed'

/** Column names with their types, in order. */
export type Columns = Readonly<Record<string, ColumnType>>

/** The fragments of SQL that differ between the two databases. */
export interface Dialect {
  readonly types: Readonly<Record<ColumnType, string>>
  /** A condition on `log_state`: rows of the log were pruned. */
  readonly isLogPruned: string
  /** The end of a SELECT that locks its rows until the commit; empty if the database has no row locks. */
  readonly forUpdate: string
  /** Follows `forUpdate` and skips rows that another transaction has locked. */
  readonly skipLocked: string
  /** Follows the name of a table and makes the planner use this index. */
  readonly indexedBy: (index: string) => string
  /** Joins a table with one index lookup per row, even if the planner would choose to scan the table. */
  readonly joinByIndex: (table: string, condition: string) => string
  /** Selects the ids in the JSON array that the parameter holds. The column is named `id`. */
  readonly idsInJsonArray: (parameter: string) => string
  /** Selects the texts in the JSON array that the parameter holds. The column is named `text`. */
  readonly textsInJsonArray: (parameter: string) => string
  /** Selects the id that was generated last. Before the first one, selects a number below all generated ids. */
  readonly lastIdSql: (table: GeneratedIdTable) => string
  /** A statement that makes generated ids start above $1. */
  readonly advanceIds: (table: GeneratedIdTable) => string
  /** The column of `keys` that holds the order of insertion. */
  readonly apiKeyOrderColumn: string
  /**
   * Statements for a database whose contents were replaced. They set a new identity, which invalidates all cursors, and make
   * generated ids start above the existing ids.
   */
  readonly newIdentity: readonly string[]
  /** Statements for a restored database. They skip the ids that the original may have generated since the backup. */
  readonly skipIds: readonly string[]
}

/** A database as seen by the code that both adapters share. Integers are returned as `bigint`. */
export interface SqlDatabase {
  readonly dialect: Dialect
  /** Booleans are returned as booleans by PostgreSQL, and as 0 and 1 by SQLite. */
  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]>
  /** Runs the statements in one transaction. Returns the number of rows that each statement changed. */
  commit(statements: readonly Statement[], durability?: Durability): Promise<number[]>
  openLongSession(options?: LongSessionOptions): Promise<LongSession>
}

export type RowSource = Pick<SqlDatabase, 'rows'>

export interface LongSessionOptions {
  /** Whether the statement timeout of PostgreSQL applies, as it does outside a long session. SQLite has no such timeout. */
  readonly hasStatementTimeout?: boolean
}

/** A connection that one caller uses until it is closed. Its statements may take long without blocking other callers. */
export interface LongSession {
  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]>
  /** Returns the number of changed rows. */
  run(text: string, ...values: readonly SqlValue[]): Promise<number>
  /** Inserts many rows. The values are in the order of the columns. */
  insert(table: string, columns: Columns, rows: readonly (readonly SqlValue[])[]): Promise<void>
  /** Starts a transaction in which all reads see one snapshot. */
  beginRead(): Promise<void>
  /** The rows of a SELECT in batches. `beginRead` must have been called. */
  batches<Row>(text: string): AsyncIterable<Row[]>
  /** Runs asynchronous work in one transaction, which is on disk when the promise resolves. */
  writeInTransaction<T>(work: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

export async function inLongSession<T>(
  database: SqlDatabase,
  work: (session: LongSession) => Promise<T>,
  options?: LongSessionOptions,
): Promise<T> {
  const session = await database.openLongSession(options)
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}

export async function runStatements(session: LongSession, statements: readonly Statement[]): Promise<void> {
  for (const { text, values } of statements) await session.run(text, ...values)
}

export function statement(text: string, ...values: readonly SqlValue[]): Statement {
  return { text, values }
}

/** Placeholders for `count` values: `$1,$2,$3`. */
export function placeholders(count: number, first = 1): string {
  return Array.from({ length: count }, (_, index) => `$${first + index}`).join()
}

/** The assignments of ON CONFLICT DO UPDATE: `name = excluded.name`. */
export function excludedValues(columns: readonly string[]): string {
  return columns.map((column) => `${column} = excluded.${column}`).join()
}

/** A statement that adds rows. */
export function insertSql(table: string, columns: readonly string[], rowCount = 1): string {
  const { length } = columns
  const rows = Array.from({ length: rowCount }, (_, row) => `(${placeholders(length, 1 + row * length)})`)
  return `INSERT INTO ${table} (${columns}) VALUES ${rows}`
}

/**
 * A statement that changes a row. The values are in the order of the columns. The first of the fixed columns is the key; the
 * others keep their values.
 */
export function updateSql(table: string, columns: readonly string[], fixed: readonly string[]): string {
  const [key = ''] = fixed
  const assignments = columns.flatMap((column, index) =>
    fixed.includes(column) ? [] : [`${column} = $${index + 1}`],
  )
  return `UPDATE ${table} SET ${assignments} WHERE ${key} = $${columns.indexOf(key) + 1}`
}

/** A statement that writes rows, and replaces those with the same ids if there are any. */
export function upsertSql(table: string, columns: readonly string[], id = 'id', rowCount = 1): string {
  return `${insertSql(table, columns, rowCount)}
    ON CONFLICT (${id}) DO UPDATE SET ${excludedValues(columns.filter((column) => column !== id))}`
}

/** The maximum number of rows of one INSERT. It is small because each number of rows needs its own prepared statement. */
const ROWS_PER_INSERT = 20

/** Statements that insert many rows. `target` is a table with its columns: `bans (key_id, number)`. */
export function insertRows(
  target: string,
  rows: readonly (readonly SqlValue[])[],
  onConflict = '',
): Statement[] {
  const statements: Statement[] = []
  for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
    const batch = rows.slice(start, start + ROWS_PER_INSERT)
    const rowsOfValues = batch.map((row, index) => `(${placeholders(row.length, 1 + index * row.length)})`)
    statements.push({
      text: `INSERT INTO ${target} VALUES ${rowsOfValues} ${onConflict}`,
      values: batch.flat(),
    })
  }
  return statements
}

/** The clock of a store for use in SQL: that of the machine for SQLite, that of the database server for PostgreSQL. */
export interface StoreClock {
  /** SQL for the time in milliseconds, evaluated once per statement. The value of the placeholder must be `processTime()`. */
  readonly nowSql: (placeholder: `$${number}`) => string
  /** The time of this process; null if SQL reads the clock of the database server. */
  readonly processTime: () => number | null
  /** Whether the clock may show this time. If it has jumped, `processTime` returns the time that counts from now on. */
  readonly isCredible: (time: number) => boolean
}

export async function readClock(source: RowSource, clock: StoreClock): Promise<bigint> {
  const [row] = await source.rows<{ now: bigint }>(`SELECT ${clock.nowSql('$1')} AS now`, clock.processTime())
  if (row === undefined) throw new Error('the database returned no time')
  return clock.isCredible(Number(row.now)) ? row.now : readClock(source, clock)
}
