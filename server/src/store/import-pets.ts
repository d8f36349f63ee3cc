import type { ImportedPet } from '../core/catalog/pet.ts'
import type { RefusedLine } from '../core/transfer/exchange-rows.ts'
import {
  type ApplyOptions,
  type ImportCounts,
  type ImportPreview,
  RowsRefused,
  type StagedImport,
  type StagedRow,
  type Tally,
} from '../core/transfer/staged-import.ts'
import { petDetailSql } from './catalog-rows.ts'
import { PET_PLAN } from './import-plan.ts'
import { createTables } from './import-staging.ts'
import { inSteps, ROWS_A_STEP, raiseIds, record } from './import-steps.ts'
import { ImportTables } from './import-tables.ts'
import { IS_OF_PET } from './log-rows.ts'
import { IN_STEP, logThresholdCrossings, THRESHOLD } from './low-stock.ts'
import type { Dialect, LongSession } from './sql.ts'

/** If more pets are added or changed and there is no webhook, the log has one row for all: list the stock again. */
const MAX_LOGGED = 1_000
const RECORD = 'name, words, category_id, barcode, low_stock_at'
const OLD_RECORD = 'old_name, old_words, old_category_id, old_barcode, old_low_stock_at'
const IS_OTHER_RECORD = `(${OLD_RECORD}) IS DISTINCT FROM (${RECORD})`
const TO_BE_LOGGED = `(is_new OR old_status <> status OR ${IS_OTHER_RECORD})`

/** These write what is in `differing` with ids from $1 to $2 for which `which` holds, without barcodes. */
const writesOf = (which: string) => {
  const rows = `differing WHERE id BETWEEN $1 AND $2 AND ${which}`
  return [
    `INSERT INTO categories (id, name)
    SELECT DISTINCT category_id, 'Category ' || category_id FROM ${rows} ON CONFLICT (id) DO NOTHING`,
    `INSERT INTO pets (id, name, words, category_id, low_stock_at)
    SELECT id, name, words, category_id, low_stock_at FROM ${rows} AND ${IS_OTHER_RECORD} ORDER BY id
    ON CONFLICT (id) DO UPDATE SET
      name = excluded.name, words = excluded.words, category_id = excluded.category_id, low_stock_at = excluded.low_stock_at`,
    // A pet that was removed and comes back goes on with its history.
    `INSERT INTO stock (pet_id, quantity, status, low_at, last_change)
    SELECT pets.id, quantity, status, ${THRESHOLD}, (SELECT max(log.id) FROM log WHERE pet_id = pets.id AND ${IS_OF_PET})
    FROM (SELECT * FROM ${rows} AND is_new) AS pets JOIN categories ON categories.id = category_id ORDER BY pets.id`,
    `UPDATE stock SET status = now.status FROM differing AS now
    WHERE now.id BETWEEN $1 AND $2 AND ${which} AND old_status <> now.status AND stock.pet_id = now.id`,
    `UPDATE stock SET low_at = (
      SELECT ${THRESHOLD} FROM pets JOIN categories ON categories.id = category_id WHERE pets.id = pet_id)
    WHERE pet_id BETWEEN $1 AND $2 AND pet_id IN (SELECT id FROM ${rows} AND NOT is_new AND ${IS_OTHER_RECORD})`,
  ]
}

/** Barcodes go from one to another only when those who had them have given them up. */
const BARCODE_WRITES = [
  `UPDATE pets SET barcode = NULL WHERE barcode IS NOT NULL AND id IN (
    SELECT id FROM differing WHERE old_barcode IS DISTINCT FROM barcode AND old_barcode IS NOT NULL)`,
  `UPDATE pets SET barcode = now.barcode FROM differing AS now
    WHERE now.barcode IS NOT NULL AND now.old_barcode IS DISTINCT FROM now.barcode AND pets.id = now.id`,
]

/** Lines that want a barcode that another pet has and keeps, or that a line before them wants: the first is given it. */
const TAKEN_BARCODES = `
  SELECT line, id, barcode, owner FROM (
    SELECT now.line, now.id, now.barcode, pets.id AS owner FROM differing AS now
    JOIN pets ON pets.barcode = now.barcode AND pets.id <> now.id
    LEFT JOIN differing AS other ON other.id = pets.id
    WHERE now.old_barcode IS DISTINCT FROM now.barcode AND (other.id IS NULL OR other.barcode = now.barcode)
    UNION
    SELECT now.line, now.id, now.barcode, other.id FROM differing AS now
    JOIN differing AS other ON other.barcode = now.barcode AND other.line < now.line
    WHERE now.old_barcode IS DISTINCT FROM now.barcode
  ) AS taken ORDER BY line`

/** How what is staged is brought in is the adapter's: it does so with the parts of PetImport, in one transaction. */
type Apply = (pets: PetImport, options: ApplyOptions) => Promise<ImportCounts>

export class PetImport implements StagedImport<ImportedPet> {
  readonly tables: ImportTables<ImportedPet>
  readonly #session: LongSession
  readonly #dialect: Dialect
  readonly #apply: Apply
  #written = 0

  static async create(session: LongSession, dialect: Dialect, apply: Apply): Promise<PetImport> {
    await createTables(session, dialect, { numbered: { id: '', columns: { pet_id: 'integer' } } })
    return new PetImport(await ImportTables.create(session, PET_PLAN, dialect), dialect, apply)
  }

  private constructor(tables: ImportTables<ImportedPet>, dialect: Dialect, apply: Apply) {
    this.tables = tables
    this.#session = tables.session
    this.#dialect = dialect
    this.#apply = apply
  }

  add(rows: readonly StagedRow<ImportedPet>[]): Promise<void> {
    return this.tables.add(rows)
  }

  seal(examples: number): ReturnType<StagedImport<ImportedPet>['seal']> {
    return this.tables.seal(examples)
  }

  async preview(examples: number): Promise<ImportPreview<ImportedPet>> {
    await this.tables.compareAll()
    const refused = await this.refuse(examples)
    return { ...(await this.tables.preview(examples)), ...(refused.count > 0 ? { refused } : {}) }
  }

  apply(options: ApplyOptions): Promise<ImportCounts> {
    this.#written = 0
    return this.#apply(this, options)
  }

  discard(): Promise<void> {
    return this.tables.discard()
  }

  /** Refuses them all where one cannot be, unless such are to be left out. */
  async refuseOrLeaveOut({ skipBad, examples = 0 }: ApplyOptions): Promise<Tally<RefusedLine>> {
    const refused = await this.refuse(examples)
    if (refused.count > 0 && skipBad !== true) throw new RowsRefused(refused)
    return refused
  }

  /** Leaves out what cannot be, which is told with its line. Nobody else changes the catalogue meanwhile. */
  async refuse(examples: number): Promise<Tally<RefusedLine>> {
    let first: RefusedLine[] = []
    let count = 0
    for (;;) {
      const taken = await this.#session.rows<{ line: bigint; id: bigint; barcode: string; owner: bigint }>(
        TAKEN_BARCODES,
      )
      // Who is left out keeps the barcode that it has, which another line may want.
      if (taken.length === 0) return { count, first }
      const byId = new Map(taken.map((row) => [row.id, row]))
      await this.tables.leaveOut([...byId.keys()])
      count += byId.size
      first = [...first, ...Array.from(byId.values(), refusalOf)]
        .sort((one, other) => one.line - other.line)
        .slice(0, examples)
    }
  }

  /** Writes what is fresh, or all the rest, in the transaction that is under way. */
  async write(which: 'is_fresh' | 'NOT is_fresh', options: ApplyOptions): Promise<void> {
    const { signal, onProgress } = options
    const total = await this.tables.count('true')
    if (total > this.#written) onProgress?.(this.#written, total)
    const writes = writesOf(which)
    const steps = { table: 'differing', which, size: ROWS_A_STEP, signal } as const
    await inSteps(this.#session, steps, async ({ from, to, rows }) => {
      for (const text of writes) await this.#session.run(text, from, to)
      await this.#record(`${which} AND old_quantity <> quantity`, `'change'`, [from, to], options)
      this.#written += rows
      onProgress?.(this.#written, total)
    })
  }

  /** Tells those who follow the stock what else is new, in the end, and counts what was done. */
  async finish(options: ApplyOptions, refused: Tally<RefusedLine>): Promise<ImportCounts> {
    const [barcode] = await this.#session.rows(
      'SELECT 1 FROM differing WHERE old_barcode IS DISTINCT FROM barcode LIMIT 1',
    )
    if (barcode !== undefined) for (const text of BARCODE_WRITES) await this.#session.run(text)
    await this.#logPets(options)
    await this.#tellCrossings(options)
    await raiseIds(this.#session, this.#dialect, 'pets', 'id')
    await raiseIds(this.#session, this.#dialect, 'categories', 'category_id')
    options.signal?.throwIfAborted()
    return { ...(await this.tables.counts()), ...(refused.count > 0 ? { refused } : {}) }
  }

  /** A webhook is owed an event for each pet; streams and other instances are served faster by a relist. */
  async #logPets(options: ApplyOptions): Promise<void> {
    const [found] = await this.#session.rows<{ isOwed: boolean | bigint; isMany: boolean | bigint }>(
      `SELECT EXISTS (SELECT 1 FROM webhooks) AS "isOwed",
        EXISTS (SELECT 1 FROM differing WHERE ${TO_BE_LOGGED} LIMIT 1 OFFSET ${MAX_LOGGED}) AS "isMany"`,
    )
    if (found?.isMany && !found.isOwed) {
      await this.tables.tellToRelist(this.#dialect, options)
      return
    }
    const steps = {
      table: 'differing',
      which: TO_BE_LOGGED,
      size: ROWS_A_STEP,
      signal: options.signal,
    } as const
    await inSteps(this.#session, steps, ({ from, to }) =>
      this.#record(TO_BE_LOGGED, `'pet'`, [from, to], options),
    )
  }

  async #tellCrossings(options: ApplyOptions): Promise<void> {
    const steps = { table: 'differing', which: 'true', size: ROWS_A_STEP, signal: options.signal } as const
    await inSteps(this.#session, steps, async ({ from, to }) => {
      for (const { text, values } of logThresholdCrossings(this.#dialect, IN_STEP, [from, to], options))
        await this.#session.run(text, ...values)
    })
  }

  #record(
    which: string,
    kind: string,
    [from, to]: readonly [from: bigint, to: bigint],
    { at, keyId }: ApplyOptions,
  ): Promise<void> {
    const detail = petDetailSql(this.#dialect.jsonObject, 'is_new')
    return record(this.#session, this.#dialect, { which, kind, from, to, detail }, { at, keyId })
  }
}

function refusalOf({ line, barcode, owner }: { line: bigint; barcode: string; owner: bigint }): RefusedLine {
  return { line: Number(line), reason: `barcode ${barcode} is that of pet ${owner}` }
}
