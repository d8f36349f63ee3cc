import type { DuplicateRow, StagedRow, StagedRows, Tally } from '../core/transfer/staged-import.ts'
import type { Columns, Dialect, LongSession, SqlValue } from './sql.ts'

const LOWEST_ID = -(2n ** 63n)
const HIGHEST_ID = 2n ** 63n - 1n
/** All ids, as what a statement takes from $1 to $2. */
export const ALL_IDS = [LOWEST_ID, HIGHEST_ID] as const

/** How the rows of a file are staged. */
export interface StagingPlan<Value> {
  /** The columns beside `id`. */
  readonly columns: Columns
  /** The id, then the columns. */
  readonly bind: (value: Value) => SqlValue[]
}

/** Makes temporary tables, each with an `id` and the columns that are given. */
export async function createTables(
  session: LongSession,
  { types }: Dialect,
  tables: Readonly<Record<string, { readonly id: string; readonly columns: Columns }>>,
): Promise<void> {
  for (const [name, { id, columns }] of Object.entries(tables)) {
    const parts = Object.entries(columns).map(([column, type]) => `${column} ${types[type]}`)
    await session.run(`CREATE TEMP TABLE ${name} (${[`id ${types.integer} ${id}`, ...parts].join()})`)
  }
}

/**
 * The rows of a file, in temporary tables of a connection of their own, so that nothing is locked while it is read, and
 * little is in memory: `staged` has them as they come, `sorted` by id.
 */
export class Staging<Value> implements StagedRows<Value> {
  readonly #session: LongSession
  readonly #plan: StagingPlan<Value>
  #rows = 0

  static async create<Value>(
    session: LongSession,
    plan: StagingPlan<Value>,
    dialect: Dialect,
  ): Promise<Staging<Value>> {
    const columns: Columns = { line: 'integer', ...plan.columns }
    await createTables(session, dialect, {
      staged: { id: '', columns },
      sorted: { id: 'PRIMARY KEY', columns },
    })
    return new Staging(session, plan)
  }

  private constructor(session: LongSession, plan: StagingPlan<Value>) {
    this.#session = session
    this.#plan = plan
  }

  /** How many there are; once sealed, each with an id of its own. */
  get rows(): number {
    return this.#rows
  }

  async add(rows: readonly StagedRow<Value>[]): Promise<void> {
    if (rows.length === 0) return
    this.#rows += rows.length
    await this.#session.insert(
      'staged',
      { line: 'integer', id: 'integer', ...this.#plan.columns },
      rows.map(({ line, value }) => [line, ...this.#plan.bind(value)]),
    )
  }

  /** Sorting once costs far less than keeping many rows in order while they arrive in none. */
  async seal(examples: number): Promise<Tally<DuplicateRow>> {
    const columns = ['id', 'line', ...Object.keys(this.#plan.columns)].join()
    const sorted = await this.#session.run(
      `INSERT INTO sorted (${columns}) SELECT ${columns} FROM staged WHERE true ORDER BY id, line ON CONFLICT DO NOTHING`,
    )
    await this.#session.analyze('sorted')
    const count = this.#rows - sorted
    const first = count === 0 ? [] : await this.#duplicates(examples)
    this.#rows = sorted
    await this.#session.run('DROP TABLE staged')
    return { count, first }
  }

  async #duplicates(limit: number): Promise<DuplicateRow[]> {
    const rows = await this.#session.rows<{ line: bigint; first_line: bigint; id: bigint }>(
      `SELECT staged.line, sorted.line AS first_line, sorted.id FROM staged JOIN sorted ON sorted.id = staged.id
      WHERE staged.line <> sorted.line ORDER BY staged.line LIMIT CAST($1 AS BIGINT)`,
      limit,
    )
    return rows.map(({ line, first_line, id }) => ({ line: Number(line), firstLine: Number(first_line), id }))
  }

  /** The tables go with the connection. */
  discard(): Promise<void> {
    return this.#session.close()
  }
}
