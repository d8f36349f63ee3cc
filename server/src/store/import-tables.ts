import type {
  ApplyOptions,
  DuplicateRow,
  ImportCounts,
  ImportPreview,
  StagedRow,
  Tally,
} from '../core/transfer/staged-import.ts'
import type { ImportPlan, PlainRow } from './import-plan.ts'
import { createTables, Staging } from './import-staging.ts'
import type { Columns, Dialect, LongSession } from './sql.ts'

/**
 * The temporary tables of an import beside those of its rows: `differing` has what the store has not or has otherwise,
 * and `touched` the ids that are to be compared again once nobody else can change them.
 */
export class ImportTables<Value> {
  readonly session: LongSession
  readonly #staging: Staging<Value>
  readonly #plan: ImportPlan<Value>
  #leftOut = 0

  static async create<Value>(
    session: LongSession,
    plan: ImportPlan<Value>,
    dialect: Dialect,
  ): Promise<ImportTables<Value>> {
    const old: Columns = Object.fromEntries(
      Object.entries(plan.columns).map(([name, type]) => [`old_${name}`, type]),
    )
    await createTables(session, dialect, {
      differing: {
        id: 'PRIMARY KEY',
        columns: { line: 'integer', is_new: 'boolean', is_fresh: 'boolean', ...plan.columns, ...old },
      },
      touched: { id: '', columns: {} },
    })
    return new ImportTables(session, await Staging.create(session, plan, dialect), plan)
  }

  private constructor(session: LongSession, staging: Staging<Value>, plan: ImportPlan<Value>) {
    this.session = session
    this.#staging = staging
    this.#plan = plan
  }

  add(rows: readonly StagedRow<Value>[]): Promise<void> {
    return this.#staging.add(rows)
  }

  seal(examples: number): Promise<Tally<DuplicateRow>> {
    return this.#staging.seal(examples)
  }

  discard(): Promise<void> {
    return this.#staging.discard()
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
    return { added, changed, unchanged: this.#staging.rows - this.#leftOut - added - changed }
  }

  /** Leaves these out, as if they had not been there. */
  async leaveOut(ids: readonly bigint[]): Promise<void> {
    for (const id of ids) await this.session.run('DELETE FROM differing WHERE id = $1', id)
    this.#leftOut += ids.length
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
    this.#leftOut = 0
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
    const { columns, store, given: comesTo = {} } = this.#plan
    const given = Object.keys(columns).map((name) => comesTo[name] ?? `sorted.${name}`)
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
}
