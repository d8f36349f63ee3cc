import type { ColumnType } from '../core/transfer/copy.ts'

/** A value that both databases accept as a parameter. */
export type SqlValue = bigint | number | string | boolean | null

/** SQL that both databases understand. `$1` is the first value. Numbers must be integers. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** A forgettable commit does not wait for the disk: a crash of the machine, and nothing else, may undo it. */
export type Durability = 'durable' | 'forgettable'

/** Column names with their types, in order. */
export type Columns = Readonly<Record<string, ColumnType>>

/** The fragments of SQL that differ between the two databases. */
export interface Dialect {
  readonly types: Readonly<Record<ColumnType, string>>
  /** Generates the id of a new row of the log for each selected row. Not allowed with FOR UPDATE. */
  readonly nextLogId: string
  /** At the end of a SELECT: locks the rows until the commit. */
  readonly forUpdate: string
  /** After `forUpdate`: skips rows that another transaction has locked. */
  readonly skipLocked: string
  /** After a table: requires this index, if the planner would not choose it. */
  readonly indexedBy: (index: string) => string
  /** Joins a table by an index lookup for each row, even if the planner would rather scan the table. */
  readonly lookUp: (table: string, condition: string) => string
  /** Selects the elements of a parameter that holds a JSON array of ids, as `id`. */
  readonly idsInJsonArray: (parameter: string) => string
  /** Makes generated ids start above $1. */
  readonly raiseIds: (table: GeneratedIdTable) => string
  /** The first statements of a commit that changes many pets or categories. They prevent deadlocks. */
  readonly lockCatalog: readonly Statement[]
  /** The function that builds a JSON object from names and values. */
  readonly jsonObject: string
  /** The column of `keys` that holds the order of insertion. */
  readonly keyOrder: string
  /** Statements for a database with new contents: a new identity, which invalidates all cursors, and higher generated ids. */
  readonly newIdentity: readonly string[]
  /** Statements that skip the ids which the original database may have generated since the backup. */
  readonly skipIds: readonly string[]
}

/** The tables whose rows get a generated id if the caller chooses none. */
export type GeneratedIdTable = 'orders' | 'pets' | 'categories'

/** The database for code that both adapters share. Integers are returned as `bigint`. */
export interface SqlDatabase {
  readonly dialect: Dialect
  /** Booleans are returned as booleans, or as 0 and 1. */
  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]>
  /** Runs the statements in one transaction. Returns the number of rows that each has changed. */
  commit(statements: readonly Statement[], durability?: Durability): Promise<number[]>
  longSession(): Promise<LongSession>
}

/** A connection for one caller until it is closed. Its statements may take long without blocking others. */
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
  writeInSteps<T>(work: () => Promise<T>): Promise<T>
  /** Updates the planner's statistics of a temporary table. */
  analyze(table: string): Promise<void>
  close(): Promise<void>
}

export async function inLongSession<T>(
  database: SqlDatabase,
  work: (session: LongSession) => Promise<T>,
): Promise<T> {
  const session = await database.longSession()
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}

export function statement(text: string, ...values: readonly SqlValue[]): Statement {
  return { text, values }
}

/** A prepared statement exists for each number of rows up to this one. */
const ROWS_PER_INSERT = 20

/** Inserts rows into the table and columns that `into` names, with few statements. */
export function insertRows(
  into: string,
  rows: readonly (readonly SqlValue[])[],
  onConflict = '',
): Statement[] {
  const statements: Statement[] = []
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    const batch = rows.slice(from, from + ROWS_PER_INSERT)
    let parameter = 0
    const values = batch.map((row) => `(${row.map(() => `$${++parameter}`).join()})`).join()
    statements.push({ text: `INSERT INTO ${into} VALUES ${values} ${onConflict}`, values: batch.flat() })
  }
  return statements
}

/** The clock that all users of a store share, for use in SQL. */
export interface StoreClock {
  /** SQL for the time in milliseconds, evaluated once per statement. The parameter holds the value of `given`. */
  readonly sql: (given: `$${number}`) => string
  /** The time, or null to use the clock of the database. */
  readonly given: () => number | null
}

export async function readClock(session: LongSession, clock: StoreClock): Promise<bigint> {
  const [row] = await session.rows<{ now: bigint }>(`SELECT ${clock.sql('$1')} AS now`, clock.given())
  if (row === undefined) throw new Error('the database returned no time')
  return row.now
}
