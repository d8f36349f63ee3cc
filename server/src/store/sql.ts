/** What both databases take as a value. */
export type SqlValue = bigint | number | string | boolean | null

/** SQL that both databases understand; `$1` stands for the first of the values. Numbers are whole. */
export interface Statement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** What is forgettable is not waited for on disk: a crash of the machine may undo it, nobody sees it undone. */
export type Durability = 'durable' | 'forgettable'

/** What the verbs that are written once for both databases need of each. */
export interface SqlDatabase {
  /** Integers come as `bigint`; a boolean comes as one, or as 0 or 1. */
  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]>
  /** Runs the statements in one transaction, and gives how many rows each has changed. */
  commit(statements: readonly Statement[], durability?: Durability): Promise<number[]>
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

export function isTrue(value: boolean | bigint): boolean {
  return value === true || value === 1n
}
