import type { ImportedCategory } from '../core/catalog/category.ts'
import type {
  ApplyOptions,
  ImportCounts,
  ImportPreview,
  StagedImport,
  StagedRow,
} from '../core/transfer/staged-import.ts'
import { categoryDetailSql } from './catalog-rows.ts'
import { CATEGORY_PLAN } from './import-plan.ts'
import { ALL_IDS } from './import-staging.ts'
import { inSteps, ROWS_A_STEP, raiseIds } from './import-steps.ts'
import { ImportTables } from './import-tables.ts'
import { logThresholdCrossings } from './low-stock.ts'
import type { Dialect, LongSession } from './sql.ts'

/** These write what is in `differing` with ids from $1 to $2. */
const WRITE = `
  INSERT INTO categories (id, name, low_stock_at)
  SELECT id, name, low_stock_at FROM differing WHERE id BETWEEN $1 AND $2 ORDER BY id
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, low_stock_at = excluded.low_stock_at`
const record = ({ nextLogId, jsonObject }: Dialect) => `
  INSERT INTO log (id, kind, at, key_id, detail)
  SELECT ${nextLogId}, 'category', CAST($3 AS BIGINT), $4, ${categoryDetailSql(jsonObject, 'is_new')}
  FROM (SELECT * FROM differing WHERE id BETWEEN $1 AND $2 ORDER BY id) AS written`

/** Of a row of `stock`: its pet gets another threshold by one of these categories. */
const GETS_ANOTHER = `pet_id IN (
  SELECT pets.id FROM differing AS now JOIN pets ON pets.category_id = now.id
  WHERE now.id BETWEEN $1 AND $2 AND now.old_low_stock_at IS DISTINCT FROM now.low_stock_at
    AND pets.low_stock_at IS NULL)`
const GIVE_THRESHOLD = `
  UPDATE stock SET low_at = (
    SELECT now.low_stock_at FROM pets JOIN differing AS now ON now.id = pets.category_id WHERE pets.id = pet_id)
  WHERE ${GETS_ANOTHER}`

/** Categories on their way in. Nobody else changes the catalogue while they are compared and written. */
export class CategoryImport implements StagedImport<ImportedCategory> {
  readonly #tables: ImportTables<ImportedCategory>
  readonly #session: LongSession
  readonly #dialect: Dialect

  static async create(session: LongSession, dialect: Dialect): Promise<CategoryImport> {
    return new CategoryImport(await ImportTables.create(session, CATEGORY_PLAN, dialect), dialect)
  }

  private constructor(tables: ImportTables<ImportedCategory>, dialect: Dialect) {
    this.#tables = tables
    this.#session = tables.session
    this.#dialect = dialect
  }

  add(rows: readonly StagedRow<ImportedCategory>[]): Promise<void> {
    return this.#tables.add(rows)
  }

  seal(examples: number): ReturnType<StagedImport<ImportedCategory>['seal']> {
    return this.#tables.seal(examples)
  }

  async preview(examples: number): Promise<ImportPreview<ImportedCategory>> {
    await this.#tables.compareAll()
    return this.#tables.preview(examples)
  }

  apply(options: ApplyOptions): Promise<ImportCounts> {
    return this.#session.writeInSteps(async () => {
      options.signal?.throwIfAborted()
      for (const { text, values } of this.#dialect.lockCatalog) await this.#session.run(text, ...values)
      await this.#tables.compareAll()
      await this.#lockStock()
      await this.#write(options)
      await raiseIds(this.#session, this.#dialect, 'categories', 'id')
      options.signal?.throwIfAborted()
      return this.#tables.counts()
    })
  }

  discard(): Promise<void> {
    return this.#tables.discard()
  }

  /** All at once, in the order of their ids. */
  async #lockStock(): Promise<void> {
    await this.#session.rows(
      `SELECT count(*) FROM (
        SELECT 1 FROM stock WHERE ${GETS_ANOTHER} ORDER BY pet_id ${this.#dialect.forUpdate}) AS locked`,
      ...ALL_IDS,
    )
  }

  async #write({ at, keyId, signal, onProgress }: ApplyOptions): Promise<void> {
    const total = await this.#tables.count('true')
    if (total > 0) onProgress?.(0, total)
    let written = 0
    const steps = { table: 'differing', which: 'true', size: ROWS_A_STEP, signal } as const
    await inSteps(this.#session, steps, async ({ from, to, rows }) => {
      await this.#session.run(WRITE, from, to)
      await this.#session.run(record(this.#dialect), from, to, at, keyId)
      await this.#session.run(GIVE_THRESHOLD, from, to)
      for (const { text, values } of logThresholdCrossings(this.#dialect, GETS_ANOTHER, [from, to], {
        at,
        keyId,
      }))
        await this.#session.run(text, ...values)
      written += rows
      onProgress?.(written, total)
    })
  }
}
