import type { ContentType } from '../core/transfer/store-contents.ts'

/** What both databases take as a value. */
export type SqlValue = bigint | number | string | boolean | null

/** SQL that both databases understand; `$1` stands for the first of the values. Numbers are whole. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** What is forgettable is not waited for on disk: a crash of the machine may undo it, nobody sees it undone. */
export type Durability = 'durable' | 'forgettable'

/** Each with its type, in their order. */
export type Columns = Readonly<Record<string, ContentType>>

/** The few words in which the two differ, for statements that are the same otherwise. */
export interface Dialect {
  readonly types: Readonly<Record<ContentType, string>>
  /** The id of the next row of the log, for each row that is selected; not under FOR UPDATE. */
  readonly nextLogId: string
  /** Ends a SELECT whose rows stay as they are until the commit. */
  readonly forUpdate: string
  /** Behind that: without those that somebody else has locked. */
  readonly skipLocked: string
  /** Behind a table: by this index, where the database would not find that by itself. */
  readonly indexedBy: (index: string) => string
  /** Joins a row of a table to each row before it by an index, where the database might rather read all of the table. */
  readonly lookUp: (table: string, which: string) => string
  /** Selects the ids, as `id`, of a parameter that holds them as a JSON array. */
  readonly listedIds: (parameter: string) => string
  /** Lets what is made here get higher ids than $1. */
  readonly raiseIds: (table: OwnIds) => string
  /** Come first in a commit that changes pets or categories: two that bring the same ones would wait crosswise. */
  readonly lockCatalog: readonly Statement[]
  /** The function that makes JSON of names and values. */
  readonly jsonObject: string
  /** The column of `keys` that tells in which order they were added. */
  readonly keyOrder: string
  /** Give a database whose contents were replaced a log of its own, which no earlier cursor is of; new ids go on behind. */
  readonly newIdentity: readonly string[]
  /** Leave out ids that the original may have given since a backup was taken of it. */
  readonly skipIds: readonly string[]
}

/** Those whose rows get an id where the caller gives none. */
export type OwnIds = 'orders' | 'pets' | 'categories'

/** What the verbs that are written once for both databases need of each. Integers come as `bigint`. */
export interface SqlDatabase {
  readonly dialect: Dialect
  /** A boolean comes as one, or as 0 or 1. */
  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]>
  /** Runs the statements in one transaction, and gives how many rows each has changed. */
  commit(statements: readonly Statement[], durability?: Durability): Promise<number[]>
  longSession(): Promise<LongSession>
}

/** A connection of the caller's own, until it is closed: its statements take the time they need, and others go on. */
export interface LongSession {
  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]>
  /** Gives how many rows were changed. */
  run(text: string, ...values: readonly SqlValue[]): Promise<number>
  /** Adds many rows at once, their values in the order of the columns. */
  insert(table: string, columns: Columns, rows: readonly (readonly SqlValue[])[]): Promise<void>
  /** All that is read from here on is of one moment. */
  beginRead(): Promise<void>
  /** What `text` selects, batch by batch. After `beginRead`. */
  batches<Row>(text: string): AsyncIterable<Row[]>
  /** Runs `work`, which pauses, in one transaction that is on disk when the promise resolves. */
  writeInSteps<T>(work: () => Promise<T>): Promise<T>
  /** Lets a temporary table be read as what it holds by now. */
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

/** Rows that one statement takes. As many forms of it are prepared, at the most. */
const ROWS_A_STATEMENT = 20

/** Adds rows to the table and columns that `into` names, in as few statements as can be. */
export function insertRows(
  into: string,
  rows: readonly (readonly SqlValue[])[],
  onConflict = '',
): Statement[] {
  const statements: Statement[] = []
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
    const some = rows.slice(from, from + ROWS_A_STATEMENT)
    let parameter = 0
    const values = some.map((row) => `(${row.map(() => `$${++parameter}`).join()})`).join()
    statements.push({ text: `INSERT INTO ${into} VALUES ${values} ${onConflict}`, values: some.flat() })
  }
  return statements
}
