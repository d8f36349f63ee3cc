import type {
  ApplyOptions,
  DuplicateRow,
  ImportCounts,
  ImportPreview,
  StagedRow,
  Tally,
} from '../core/transfer/staged-import.ts'
import type { ImportPlan, PlainRow } from './import-plan.ts'
import type { Dialect, LongSession } from './sql.ts'

/**
 * The temporary tables of an import, on a connection of their own, so that nothing is locked while a file is read, and
 * little is in memory: `staged` has the rows as they come, `sorted` by id, `differing` those that the store has not or
 * has otherwise, and `touched` the ids that are to be compared again once nobody else can change them.
 */
export class ImportTables<Value> {
  readonly session: LongSession
  readonly #plan: ImportPlan<Value>
  #rows = 0

  static async create<Value>(
    session: LongSession,
    plan: ImportPlan<Value>,
    dialect: Dialect,
  ): Promise<ImportTables<Value>> {
    const { integer, boolean } = dialect.types
    const columns = (prefix: '' | 'old_') =>
      Object.entries(plan.columns).map(([name, type]) => `${prefix}${name} ${dialect.types[type]}`)
    const tables = {
      staged: [`line ${integer}`, `id ${integer}`, ...columns('')],
      sorted: [`id ${integer} PRIMARY KEY`, `line ${integer}`, ...columns('')],
      differing: [
        ...[`id ${integer} PRIMARY KEY`, `line ${integer}`, `is_new ${boolean}`, `is_fresh ${boolean}`],
        ...columns(''),
        ...columns('old_'),
      ],
      touched: [`id ${integer}`],
    }
    for (const [name, parts] of Object.entries(tables)) {
      await session.run(`CREATE TEMP TABLE ${name} (${parts.join()})`)
    }
    return new ImportTables(session, plan)
  }

  private constructor(session: LongSession, plan: ImportPlan<Value>) {
    this.session = session
    this.#plan = plan
  }

  async add(rows: readonly StagedRow<Value>[]): Promise<void> {
    if (rows.length === 0) return
    this.#rows += rows.length
    await this.session.insert(
      'staged',
      { line: 'integer', id: 'integer', ...this.#plan.columns },
      rows.map(({ line, value }) => [line, ...this.#plan.bind(value)]),
    )
  }

  /** Sorting once costs far less than keeping many rows in order while they arrive in none. */
  async seal(examples: number): Promise<Tally<DuplicateRow>> {
    const columns = ['id', 'line', ...Object.keys(this.#plan.columns)].join()
    const sorted = await this.session.run(
      `INSERT INTO sorted SELECT ${columns} FROM staged WHERE true ORDER BY id, line ON CONFLICT DO NOTHING`,
    )
    await this.session.analyze('sorted')
    const count = this.#rows - sorted
    const first = count === 0 ? [] : await this.#duplicates(examples)
    this.#rows = sorted
    await this.session.run('DROP TABLE staged')
    return { count, first }
  }

  async #duplicates(limit: number): Promise<DuplicateRow[]> {
    const rows = await this.session.rows<{ line: bigint; first_line: bigint; id: bigint }>(
      `SELECT staged.line, sorted.line AS first_line, sorted.id FROM staged JOIN sorted ON sorted.id = staged.id
      WHERE staged.line <> sorted.line ORDER BY staged.line LIMIT CAST($1 AS BIGINT)`,
      limit,
    )
    return rows.map(({ line, first_line, id }) => ({ line: Number(line), firstLine: Number(first_line), id }))
  }

  /** What was found to differ. */
  async preview(examples: number): Promise<ImportPreview<Value>> {
    const first = (which: string) =>
      this.session.rows<PlainRow>(
        `SELECT * FROM differing WHERE ${which} ORDER BY line LIMIT CAST($1 AS BIGINT)`,
        examples,
      )
    const toRow = (row: PlainRow) => ({ line: Number(row.line), value: this.#plan.toValue(row, '') })
    const { added, changed, unchanged } = await this.counts()
    return {
      added: { count: added, first: (await first('is_new')).map(toRow) },
      changed: {
        count: changed,
        first: (await first('NOT is_new')).map((row) => ({
          ...toRow(row),
          before: this.#plan.toValue(row, 'old_'),
        })),
      },
      unchanged,
    }
  }

  async counts(): Promise<ImportCounts> {
    const added = await this.count('is_new')
    const changed = await this.count('NOT is_new')
    return { added, changed, unchanged: this.#rows - added - changed }
  }

  /** Leaves these out, as if they had not been there. */
  async leaveOut(ids: readonly bigint[]): Promise<void> {
    for (const id of ids) await this.session.run('DELETE FROM differing WHERE id = $1', id)
    this.#rows -= ids.length
  }

  /** Says in one row of the log that so much has changed that all of it is to be read again. */
  async tellToRelist({ nextLogId }: Dialect, { at, keyId }: ApplyOptions): Promise<void> {
    await this.session.run(
      `INSERT INTO log (id, kind, at, key_id) SELECT ${nextLogId}, 'relist', CAST($1 AS BIGINT), $2`,
      at,
      keyId,
    )
  }

  /** Fresh, where that may be, is what the store does not have: nobody else knows of it yet. */
  async compareAll({ mayBeFresh = false } = {}): Promise<void> {
    await this.session.run('DELETE FROM differing')
    await this.#compare('true', mayBeFresh)
  }

  /** Compares again what is in `touched`. */
  async compareTouched(): Promise<void> {
    await this.session.analyze('touched')
    await this.session.run('DELETE FROM differing WHERE id IN (SELECT id FROM touched)')
    await this.#compare('sorted.id IN (SELECT id FROM touched)', false)
  }

  async #compare(where: string, mayBeFresh: boolean): Promise<void> {
    const { columns, store } = this.#plan
    const given = Object.keys(columns).map((name) => `sorted.${name}`)
    await this.session.run(`
      INSERT INTO differing
      SELECT sorted.id, line, ${store.id} IS NULL, ${mayBeFresh} AND ${store.id} IS NULL, ${given}, ${store.columns}
      FROM sorted ${store.joins} WHERE ${where} AND (${store.columns}) IS DISTINCT FROM (${given})`)
    await this.session.analyze('differing')
  }

  async count(which: string): Promise<number> {
    const [row] = await this.session.rows<{ rows: bigint }>(
      `SELECT count(*) AS rows FROM differing WHERE ${which}`,
    )
    return Number(row?.rows ?? 0)
  }

  /** The tables go with the connection. */
  discard(): Promise<void> {
    return this.session.close()
  }
}
