import type {
  ApplyOptions,
  DuplicateRow,
  ImportCounts,
  ImportPreview,
  StagedImport,
  StagedRow,
  Tally,
} from '../core/transfer/staged-import.ts'
import type { ImportPlan, PlainRow } from './import-plan.ts'
import { ALL_IDS, createTables, Staging } from './import-staging.ts'
import { inSteps, ROWS_A_STEP, record } from './import-steps.ts'
import type { Columns, Dialect, LongSession } from './sql.ts'

/** With more pets than this added or changed, the log says so in one row: all of the stock is to be read again. */
const MAX_LOGGED = 1_000
// A new name is logged as well, though it is no change of the stock: another import may be comparing just now.
const IS_ENTRY = '(is_new OR old_status <> status)'
const TO_BE_LOGGED = `(${IS_ENTRY} OR (old_name, old_category_id) IS DISTINCT FROM (name, category_id))`

type Apply<Value> = (tables: ImportTables<Value>, options: ApplyOptions) => Promise<ImportCounts>

/**
 * The temporary tables of an import beside those of its rows: `differing` has what the store has not or has otherwise,
 * and `touched` the ids that are to be compared again once nobody else can change them. How that is brought about is the
 * adapter's: it applies what is staged with the parts here.
 */
export class ImportTables<Value> implements StagedImport<Value> {
  readonly #session: LongSession
  readonly #staging: Staging<Value>
  readonly #plan: ImportPlan<Value>
  readonly #dialect: Dialect
  readonly #apply: Apply<Value>
  #written = 0

  static async create<Value>(
    session: LongSession,
    plan: ImportPlan<Value>,
    dialect: Dialect,
    apply: Apply<Value>,
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
      numbered: { id: '', columns: { pet_id: 'integer' } },
    })
    return new ImportTables(session, await Staging.create(session, plan, dialect), plan, dialect, apply)
  }

  private constructor(
    session: LongSession,
    staging: Staging<Value>,
    plan: ImportPlan<Value>,
    dialect: Dialect,
    apply: Apply<Value>,
  ) {
    this.#session = session
    this.#staging = staging
    this.#plan = plan
    this.#dialect = dialect
    this.#apply = apply
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

  async preview(examples: number): Promise<ImportPreview<Value>> {
    await this.compareAll()
    const first = (which: string) =>
      this.#session.rows<PlainRow>(
        `SELECT * FROM differing WHERE ${which} ORDER BY line LIMIT CAST($1 AS BIGINT)`,
        examples,
      )
    const toRow = (row: PlainRow) => ({ line: Number(row.line), value: this.#plan.toValue(row, '') })
    const added = await this.#count('is_new')
    const changed = await this.#count('NOT is_new')
    return {
      added: { count: added, first: (await first('is_new')).map(toRow) },
      changed: {
        count: changed,
        first: (await first('NOT is_new')).map((row) => ({
          ...toRow(row),
          before: this.#plan.toValue(row, 'old_'),
        })),
      },
      unchanged: this.#staging.rows - added - changed,
    }
  }

  apply(options: ApplyOptions): Promise<ImportCounts> {
    return this.#apply(this, options)
  }

  /** Fresh, where that may be, is what the store does not have: nobody else knows of it yet. */
  async compareAll({ mayBeFresh = false } = {}): Promise<void> {
    await this.#session.run('DELETE FROM differing')
    await this.#compare('true', mayBeFresh)
  }

  /** Compares again what is in `touched`. */
  async compareTouched(): Promise<void> {
    await this.#session.analyze('touched')
    await this.#session.run('DELETE FROM differing WHERE id IN (SELECT id FROM touched)')
    await this.#compare('sorted.id IN (SELECT id FROM touched)', false)
  }

  async #compare(where: string, mayBeFresh: boolean): Promise<void> {
    const { columns, store } = this.#plan
    const given = Object.keys(columns).map((name) => `sorted.${name}`)
    await this.#session.run(`
      INSERT INTO differing
      SELECT sorted.id, line, ${store.id} IS NULL, ${mayBeFresh} AND ${store.id} IS NULL, ${given}, ${store.columns}
      FROM sorted ${store.joins} WHERE ${where} AND (${store.columns}) IS DISTINCT FROM (${given})`)
    await this.#session.analyze('differing')
  }

  /** Writes what is fresh, or all the rest, in the transaction that is under way. */
  async write(which: 'is_fresh' | 'NOT is_fresh', options: ApplyOptions): Promise<void> {
    const { signal, onProgress } = options
    const total = await this.#count('true')
    const writes = this.#plan.writes(which)
    const steps = { table: 'differing', which, size: ROWS_A_STEP, signal } as const
    await inSteps(this.#session, steps, async ({ from, to, rows }) => {
      for (const text of writes) await this.#session.run(text, from, to)
      if (this.#plan.isLogged) {
        await this.#record(`${which} AND old_quantity <> quantity`, `'change'`, [from, to], options)
      }
      this.#written += rows
      onProgress?.(this.#written, total)
    })
  }

  /** Tells those who follow the stock what else is new, in the end, and counts what was done. */
  async finish(options: ApplyOptions): Promise<ImportCounts> {
    if (this.#plan.isLogged) {
      const [entries] = await this.#session.rows(
        `SELECT 1 FROM differing WHERE ${TO_BE_LOGGED} LIMIT 1 OFFSET ${MAX_LOGGED}`,
      )
      if (entries === undefined) {
        const kind = `CASE WHEN ${IS_ENTRY} THEN 'entry' ELSE 'renamed' END`
        await this.#record(TO_BE_LOGGED, kind, ALL_IDS, options)
      } else {
        await this.#session.run(
          `INSERT INTO log (id, kind, at, key_id) SELECT ${this.#dialect.nextLogId}, 'relist', CAST($1 AS BIGINT), $2`,
          options.at,
          options.keyId,
        )
      }
    }
    options.signal?.throwIfAborted()
    const added = await this.#count('is_new')
    const changed = await this.#count('NOT is_new')
    return { added, changed, unchanged: this.#staging.rows - added - changed }
  }

  #record(
    which: string,
    kind: string,
    [from, to]: readonly [from: bigint, to: bigint],
    { at, keyId }: ApplyOptions,
  ): Promise<void> {
    return record(this.#session, this.#dialect, { which, kind, from, to }, { at, keyId })
  }

  async #count(which: string): Promise<number> {
    const [row] = await this.#session.rows<{ rows: bigint }>(
      `SELECT count(*) AS rows FROM differing WHERE ${which}`,
    )
    return Number(row?.rows ?? 0)
  }
}
