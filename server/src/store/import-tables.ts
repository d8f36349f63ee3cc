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
import type { Dialect, LongSession } from './sql.ts'

/** Then others get a turn, and a signal is heard. */
const ROWS_A_STEP = 20_000
/** With more pets than this added or changed, the log says so in one row: all of the stock is to be read again. */
const MAX_LOGGED = 1_000
const LOWEST_ID = -(2n ** 63n)
const HIGHEST_ID = 2n ** 63n - 1n
// A new name is logged as well, though it is no change of the stock: another import may be comparing just now.
const IS_ENTRY = '(is_new OR old_status <> status)'
const TO_BE_LOGGED = `(${IS_ENTRY} OR (old_name, old_category_id) IS DISTINCT FROM (name, category_id))`

type Apply<Value> = (tables: ImportTables<Value>, options: ApplyOptions) => Promise<ImportCounts>

/**
 * The temporary tables of an import, on a connection of their own, so that nothing is locked while a file is read, and
 * little is in memory: `staged` has the rows as they come, `sorted` by id, `differing` those that the store has not or
 * has otherwise, and `touched` the ids that are to be compared again once nobody else can change them. How that is
 * brought about is the adapter's: it applies what is staged with the parts here.
 */
export class ImportTables<Value> implements StagedImport<Value> {
  readonly #session: LongSession
  readonly #plan: ImportPlan<Value>
  readonly #dialect: Dialect
  readonly #apply: Apply<Value>
  #rows = 0
  #written = 0

  static async create<Value>(
    session: LongSession,
    plan: ImportPlan<Value>,
    dialect: Dialect,
    apply: Apply<Value>,
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
      numbered: [`id ${integer}`, `pet_id ${integer}`],
    }
    for (const [name, parts] of Object.entries(tables)) {
      await session.run(`CREATE TEMP TABLE ${name} (${parts.join()})`)
    }
    return new ImportTables(session, plan, dialect, apply)
  }

  private constructor(session: LongSession, plan: ImportPlan<Value>, dialect: Dialect, apply: Apply<Value>) {
    this.#session = session
    this.#plan = plan
    this.#dialect = dialect
    this.#apply = apply
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
      `INSERT INTO sorted SELECT ${columns} FROM staged WHERE true ORDER BY id, line ON CONFLICT DO NOTHING`,
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
      unchanged: this.#rows - added - changed,
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
    for (let from = LOWEST_ID; from <= HIGHEST_ID; ) {
      signal?.throwIfAborted()
      const [step] = await this.#session.rows<{ last: bigint | null; rows: bigint }>(
        `SELECT max(id) AS last, count(*) AS rows FROM (
          SELECT id FROM differing WHERE id >= $1 AND ${which} ORDER BY id LIMIT ${ROWS_A_STEP}) AS step`,
        from,
      )
      if (step === undefined || step.last === null) return
      for (const text of writes) await this.#session.run(text, from, step.last)
      if (this.#plan.isLogged) {
        await this.#record(`${which} AND old_quantity <> quantity`, `'change'`, from, step.last, options)
      }
      this.#written += Number(step.rows)
      onProgress?.(this.#written, total)
      from = step.last + 1n
      await new Promise((resume) => setImmediate(resume))
    }
  }

  /** Tells those who follow the stock what else is new, in the end, and counts what was done. */
  async finish(options: ApplyOptions): Promise<ImportCounts> {
    if (this.#plan.isLogged) {
      const [entries] = await this.#session.rows(
        `SELECT 1 FROM differing WHERE ${TO_BE_LOGGED} LIMIT 1 OFFSET ${MAX_LOGGED}`,
      )
      if (entries === undefined) {
        const kind = `CASE WHEN ${IS_ENTRY} THEN 'entry' ELSE 'renamed' END`
        await this.#record(TO_BE_LOGGED, kind, LOWEST_ID, HIGHEST_ID, options)
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
    return { added, changed, unchanged: this.#rows - added - changed }
  }

  /** A row of the log for each of these pets, with the quantity that its stock has from then on. */
  async #record(
    which: string,
    kind: string,
    from: bigint,
    to: bigint,
    { at, keyId }: ApplyOptions,
  ): Promise<void> {
    await this.#session.run('DELETE FROM numbered')
    await this.#session.run(
      `INSERT INTO numbered SELECT ${this.#dialect.nextLogId}, id FROM differing
      WHERE id BETWEEN $1 AND $2 AND ${which} ORDER BY id`,
      from,
      to,
    )
    await this.#session.analyze('numbered')
    await this.#session.run(
      `INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous)
      SELECT numbered.id, kind, numbered.pet_id, CASE kind WHEN 'change' THEN old_quantity END, now.quantity, now.status,
        CAST($1 AS BIGINT), $2, last_change
      FROM numbered JOIN stock ON stock.pet_id = numbered.pet_id
      JOIN (SELECT *, ${kind} AS kind FROM differing) AS now ON now.id = numbered.pet_id`,
      at,
      keyId,
    )
    await this.#session.run(`
      UPDATE stock SET quantity = now.quantity, last_change = numbered.id
      FROM numbered JOIN differing AS now ON now.id = numbered.pet_id WHERE stock.pet_id = numbered.pet_id`)
  }

  async #count(which: string): Promise<number> {
    const [row] = await this.#session.rows<{ rows: bigint }>(
      `SELECT count(*) AS rows FROM differing WHERE ${which}`,
    )
    return Number(row?.rows ?? 0)
  }

  /** The tables go with the connection. */
  discard(): Promise<void> {
    return this.#session.close()
  }
}
