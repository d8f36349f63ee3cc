import type { StockedPet } from '../core/catalog/pet.ts'
import type {
  ApplyOptions,
  ImportCounts,
  ImportPreview,
  StagedImport,
  StagedRow,
} from '../core/transfer/staged-import.ts'
import { PET_PLAN } from './import-plan.ts'
import { ImportTables } from './import-tables.ts'
import { IS_OF_ENTRY } from './log-rows.ts'
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

/** Selects the stock of the pets in `touched`, in the order of their ids. */
export const TOUCHED_STOCK = 'SELECT 1 FROM stock WHERE pet_id IN (SELECT id FROM touched) ORDER BY pet_id'

/** These write what is in `differing` with ids from $1 to $2 for which `which` holds. */
const writesOf = (which: string) => [
  `INSERT INTO pets (id, name, category_id)
  SELECT id, name, category_id FROM differing
  WHERE id BETWEEN $1 AND $2 AND ${which} AND (old_name, old_category_id) IS DISTINCT FROM (name, category_id)
  ORDER BY id
  ON CONFLICT (id) DO UPDATE SET name = excluded.name, category_id = excluded.category_id`,
  // A pet that was removed and comes back goes on with its history.
  `INSERT INTO stock (pet_id, quantity, status, last_change)
  SELECT id, quantity, status, (SELECT max(log.id) FROM log WHERE pet_id = differing.id AND ${IS_OF_ENTRY})
  FROM differing WHERE id BETWEEN $1 AND $2 AND ${which} AND is_new ORDER BY id`,
  `UPDATE stock SET status = now.status FROM differing AS now
  WHERE now.id BETWEEN $1 AND $2 AND ${which} AND old_status <> now.status AND stock.pet_id = now.id`,
]

/** How what is staged is brought in is the adapter's: it does so with the parts of PetImport, in one transaction. */
type Apply = (pets: PetImport, options: ApplyOptions) => Promise<ImportCounts>

export class PetImport implements StagedImport<StockedPet> {
  readonly tables: ImportTables<StockedPet>
  readonly #session: LongSession
  readonly #dialect: Dialect
  readonly #apply: Apply
  #written = 0

  static async create(session: LongSession, dialect: Dialect, apply: Apply): Promise<PetImport> {
    const { integer } = dialect.types
    await session.run(`CREATE TEMP TABLE numbered (id ${integer}, pet_id ${integer})`)
    return new PetImport(await ImportTables.create(session, PET_PLAN, dialect), dialect, apply)
  }

  private constructor(tables: ImportTables<StockedPet>, dialect: Dialect, apply: Apply) {
    this.tables = tables
    this.#session = tables.session
    this.#dialect = dialect
    this.#apply = apply
  }

  add(rows: readonly StagedRow<StockedPet>[]): Promise<void> {
    return this.tables.add(rows)
  }

  seal(examples: number): ReturnType<StagedImport<StockedPet>['seal']> {
    return this.tables.seal(examples)
  }

  async preview(examples: number): Promise<ImportPreview<StockedPet>> {
    await this.tables.compareAll()
    return this.tables.preview(examples)
  }

  apply(options: ApplyOptions): Promise<ImportCounts> {
    return this.#apply(this, options)
  }

  discard(): Promise<void> {
    return this.tables.discard()
  }

  /** Writes what is fresh, or all the rest, in the transaction that is under way. */
  async write(which: 'is_fresh' | 'NOT is_fresh', options: ApplyOptions): Promise<void> {
    const { signal, onProgress } = options
    const total = await this.tables.count('true')
    const writes = writesOf(which)
    for (let from = LOWEST_ID; from <= HIGHEST_ID; ) {
      signal?.throwIfAborted()
      const [step] = await this.#session.rows<{ last: bigint | null; rows: bigint }>(
        `SELECT max(id) AS last, count(*) AS rows FROM (
          SELECT id FROM differing WHERE id >= $1 AND ${which} ORDER BY id LIMIT ${ROWS_A_STEP}) AS step`,
        from,
      )
      if (step === undefined || step.last === null) return
      for (const text of writes) await this.#session.run(text, from, step.last)
      await this.#record(`${which} AND old_quantity <> quantity`, `'change'`, from, step.last, options)
      this.#written += Number(step.rows)
      onProgress?.(this.#written, total)
      from = step.last + 1n
      await new Promise((resume) => setImmediate(resume))
    }
  }

  /** Tells those who follow the stock what else is new, in the end, and counts what was done. */
  async finish(options: ApplyOptions): Promise<ImportCounts> {
    const [entries] = await this.#session.rows(
      `SELECT 1 FROM differing WHERE ${TO_BE_LOGGED} LIMIT 1 OFFSET ${MAX_LOGGED}`,
    )
    if (entries === undefined) {
      const kind = `CASE WHEN ${IS_ENTRY} THEN 'entry' ELSE 'renamed' END`
      await this.#record(TO_BE_LOGGED, kind, LOWEST_ID, HIGHEST_ID, options)
    } else await this.tables.tellToRelist(this.#dialect, options)
    options.signal?.throwIfAborted()
    return this.tables.counts()
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
}
