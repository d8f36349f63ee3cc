import { nameKey } from '../core/catalog/catalog-fields.ts'
import { CATEGORY, type Category, type ImportedCategory, nameTaken } from '../core/catalog/category.ts'
import { nameWords } from '../core/catalog/name-words.ts'
import { type ImportedPet, PET_ROW } from '../core/catalog/pet.ts'
import type { ApplyOptions } from '../core/transfer/import.ts'
import type { RefusedLine } from '../core/transfer/rows.ts'
import { CATEGORY_COLUMNS, categoryDetailSql, PET_COLUMNS, petDetailSql } from './catalog-rows.ts'
import {
  ALL_IDS,
  compareInSql,
  type ImportKind,
  type ImportTables,
  layoutOf,
  type StoredColumns,
} from './import-tables.ts'
import { insertLogSql } from './log-rows.ts'
import { crossingStatements, IN_STEP, setThresholds, THRESHOLD } from './low-stock.ts'
import { excludedValues, runStatements, type SqlValue } from './sql.ts'

/**
 * If an import changes more pets than this and there is no webhook, it writes one `relist` row instead of a `pet` row for
 * each pet. Rows of the kinds `change`, `low` and `recovered` are always written.
 */
const MAX_LOGGED_PETS = 1_000

const PET_LAYOUT = layoutOf<ImportedPet>(PET_ROW, {
  keepsAbsentFields: true,
  computed: { words: ({ name }) => nameWords(name), category: ({ category = '' }) => category },
})
const STORED_PET: StoredColumns = {
  joins: 'LEFT JOIN pets ON pets.id = sorted.id LEFT JOIN stock ON stock.pet_id = sorted.id',
  id: 'stock.pet_id',
  column: (column) => {
    // The name in the file is used only for a new category. An existing category keeps its name, so this column never differs.
    if (column === 'category') return 'sorted.category'
    return `${column in PET_COLUMNS ? 'pets' : 'stock'}.${column}`
  },
}

/** The columns of `pets` except the id. */
const RECORD_COLUMNS = Object.keys(PET_COLUMNS).filter((column) => column !== 'id')
/** A condition on `differing`: the row changes a column of `pets`. */
const CHANGES_RECORD = `(${RECORD_COLUMNS.map((column) => `old_${column}`)}) IS DISTINCT FROM (${RECORD_COLUMNS})`
/** A condition on `differing`: the change is logged as a row of the kind `pet`. */
const NEEDS_PET_ROW = `(is_new OR old_status <> status OR ${CHANGES_RECORD})`
/** Barcodes are unique, so they are written last, when all pets have given up their old barcodes. */
const COLUMNS_WITHOUT_BARCODE = RECORD_COLUMNS.filter((column) => column !== 'barcode')

/** The categories that the import creates. Only some rows of a category may have its name. */
const NEW_CATEGORIES = `
  SELECT category_id AS id, coalesce(min(nullif(category, '')), 'Category ' || category_id) AS name,
    CAST(NULL AS BIGINT) AS low_stock_at
  FROM differing WHERE NOT EXISTS (SELECT 1 FROM categories WHERE categories.id = category_id) GROUP BY category_id`

/**
 * Statements that write the rows of `differing` with ids from $1 to $2 that fulfil the condition. Categories, barcodes and
 * changed quantities are written by other statements.
 */
const petWrites = (condition: string) => {
  const rows = `differing WHERE id BETWEEN $1 AND $2 AND ${condition}`
  return [
    `INSERT INTO pets (id, ${COLUMNS_WITHOUT_BARCODE}) SELECT id, ${COLUMNS_WITHOUT_BARCODE} FROM ${rows} AND ${CHANGES_RECORD} ORDER BY id
    ON CONFLICT (id) DO UPDATE SET ${excludedValues(COLUMNS_WITHOUT_BARCODE)}`,
    `INSERT INTO stock (pet_id, quantity, status, low_at) SELECT pets.id, quantity, status, ${THRESHOLD}
    FROM (SELECT * FROM ${rows} AND is_new) AS pets JOIN categories ON categories.id = category_id ORDER BY pets.id`,
    `UPDATE stock SET status = incoming.status FROM differing AS incoming
    WHERE incoming.id BETWEEN $1 AND $2 AND ${condition} AND old_status <> incoming.status AND stock.pet_id = incoming.id`,
    setThresholds(
      `pet_id BETWEEN $1 AND $2 AND pet_id IN (SELECT id FROM ${rows} AND NOT is_new AND ${CHANGES_RECORD})`,
    ),
  ]
}

const BARCODE_WRITES = [
  `UPDATE pets SET barcode = NULL WHERE barcode IS NOT NULL AND id IN (
    SELECT id FROM differing WHERE old_barcode IS DISTINCT FROM barcode AND old_barcode IS NOT NULL)`,
  `UPDATE pets SET barcode = incoming.barcode FROM differing AS incoming
    WHERE incoming.barcode IS NOT NULL AND incoming.old_barcode IS DISTINCT FROM incoming.barcode AND pets.id = incoming.id`,
]

/**
 * The rows whose barcode another pet keeps, or an earlier line uses. A row may occur several times. Its last
 * occurrence has the pet to report: the pet that keeps the barcode or, if there is none, the pet of the first line.
 */
const USED_BARCODES = `
  SELECT line, id, barcode, owner FROM (
    SELECT incoming.line, incoming.id, incoming.barcode, pets.id AS owner, 0 AS owner_line FROM differing AS incoming
    JOIN pets ON pets.barcode = incoming.barcode AND pets.id <> incoming.id
    LEFT JOIN differing AS other ON other.id = pets.id
    WHERE incoming.old_barcode IS DISTINCT FROM incoming.barcode AND (other.id IS NULL OR other.barcode = incoming.barcode)
    UNION
    SELECT incoming.line, incoming.id, incoming.barcode, other.id, other.line FROM differing AS incoming
    JOIN differing AS other ON other.barcode = incoming.barcode AND other.line < incoming.line
    WHERE incoming.old_barcode IS DISTINCT FROM incoming.barcode
  ) AS used ORDER BY line, owner_line DESC`

/** Imports pets with their stock. */
export const PET_IMPORT: ImportKind<ImportedPet> = {
  stagedLayout: PET_LAYOUT,
  differingLayout: PET_LAYOUT,
  isKeyedByPet: true,
  lock: (tables) => runStatements(tables.session, tables.database.dialect.lockCatalog),
  compare: (tables, scope) => compareInSql(tables, STORED_PET, scope),
  refuseInPreview: refuseUsedBarcodes,
  write: async (tables, options) => {
    await refuseUsedBarcodes(tables)
    await tables.throwIfRefused(options)
    await logCategories(tables, options, { query: `${NEW_CATEGORIES} ORDER BY id`, isNew: 'true' })
    await tables.session.run(
      `INSERT INTO categories (id, name) SELECT id, name FROM (${NEW_CATEGORIES}) AS created`,
    )
    if (tables.hasRowLocks) {
      // New rows are written before the existing rows are locked, to keep the locks short.
      await writePets(tables, 'is_fresh', options)
      await tables.markTouched('SELECT id FROM differing WHERE NOT is_fresh')
      await tables.lockStock('pet_id IN (SELECT id FROM touched)')
      await tables.compareTouched()
    }
    await writePets(tables, 'NOT is_fresh', options)
    await writeBarcodes(tables)
    await logPets(tables, options)
    await tables.inSteps({ table: 'differing', signal: options.signal }, ({ from, to }) =>
      runStatements(
        tables.session,
        crossingStatements(tables.database.dialect, IN_STEP, [from, to], options),
      ),
    )
    await tables.advanceIds('pets', 'id')
    await tables.advanceIds('categories', 'category_id')
  },
}

async function refuseUsedBarcodes(tables: ImportTables<ImportedPet>): Promise<void> {
  const used = await tables.session.rows<{ line: bigint; id: bigint; barcode: string; owner: bigint }>(
    USED_BARCODES,
  )
  // If a row occurs several times, the Map keeps its last occurrence.
  const byId = new Map(used.map((row) => [row.id, row]))
  const refused = Array.from(byId.values(), ({ id, line, barcode, owner }) => ({
    id,
    line: Number(line),
    reason: `barcode ${barcode} is already used by pet ${owner}`,
  }))
  await tables.refuse(refused)
}

async function writePets(
  tables: ImportTables<ImportedPet>,
  condition: 'is_fresh' | 'NOT is_fresh',
  options: ApplyOptions,
): Promise<void> {
  const writes = petWrites(condition)
  const changesQuantity = `${condition} AND old_quantity <> quantity`
  const writeStep = async (step: { readonly from: bigint; readonly to: bigint }) => {
    for (const text of writes) await tables.session.run(text, step.from, step.to)
    await tables.writePetChanges('change', step, options, { condition: changesQuantity })
  }
  await tables.writeInSteps(options, writeStep, { condition })
}

async function writeBarcodes({ session }: ImportTables<ImportedPet>): Promise<void> {
  const [changed] = await session.rows(
    'SELECT 1 FROM differing WHERE old_barcode IS DISTINCT FROM barcode LIMIT 1',
  )
  if (changed !== undefined) for (const text of BARCODE_WRITES) await session.run(text)
}

/** Webhooks need an event for each pet. Without webhooks, subscribers catch up faster if they read the whole stock again. */
async function logPets(tables: ImportTables<ImportedPet>, options: ApplyOptions): Promise<void> {
  const [row] = await tables.session.rows<{ hasWebhooks: boolean | bigint; hasManyPets: boolean | bigint }>(
    `SELECT EXISTS (SELECT 1 FROM webhooks) AS "hasWebhooks",
      EXISTS (SELECT 1 FROM differing WHERE ${NEEDS_PET_ROW} LIMIT 1 OFFSET ${MAX_LOGGED_PETS}) AS "hasManyPets"`,
  )
  if (row?.hasManyPets && !row.hasWebhooks) return tables.logRelist(options)
  const detail = petDetailSql(tables.database.dialect.jsonObjectFunction, 'is_new')
  const steps = { table: 'differing', condition: NEEDS_PET_ROW, signal: options.signal } as const
  await tables.inSteps(steps, (step) =>
    tables.writePetChanges('pet', step, options, { condition: NEEDS_PET_ROW, detail }),
  )
}

const CATEGORY_LAYOUT = layoutOf<ImportedCategory>(CATEGORY, { keepsAbsentFields: true })
const STORED_CATEGORY: StoredColumns = {
  joins: 'LEFT JOIN categories ON categories.id = sorted.id',
  id: 'categories.id',
  column: (column) => `categories.${column}`,
}
const CATEGORY_COLUMN_NAMES = Object.keys(CATEGORY_COLUMNS)
const WRITE_CATEGORIES = `
  INSERT INTO categories (${CATEGORY_COLUMN_NAMES})
  SELECT ${CATEGORY_COLUMN_NAMES} FROM differing WHERE id BETWEEN $1 AND $2 ORDER BY id
  ON CONFLICT (id) DO UPDATE SET ${excludedValues(CATEGORY_COLUMN_NAMES.filter((column) => column !== 'id'))}`

/** A condition on `stock`: a category with an id from $1 to $2 changes the threshold of the pet. */
const GETS_NEW_THRESHOLD = `pet_id IN (
  SELECT pets.id FROM differing AS incoming JOIN pets ON pets.category_id = incoming.id
  WHERE incoming.id BETWEEN $1 AND $2 AND incoming.old_low_stock_at IS DISTINCT FROM incoming.low_stock_at
    AND pets.low_stock_at IS NULL)`

interface LoggedCategories {
  /** Selects the categories. Its parameters begin with $3. */
  readonly query: string
  /** A condition on the rows of the query. */
  readonly isNew: string
  readonly values?: readonly SqlValue[]
}

async function logCategories<Value>(
  { session, database }: ImportTables<Value>,
  { at, keyId }: ApplyOptions,
  { query, isNew, values = [] }: LoggedCategories,
): Promise<void> {
  const { nextLogId, jsonObjectFunction } = database.dialect
  await session.run(
    insertLogSql(
      {
        id: nextLogId,
        kind: "'category'",
        at: 'CAST($1 AS BIGINT)',
        key_id: '$2',
        detail: categoryDetailSql(jsonObjectFunction, isNew),
      },
      `FROM (${query}) AS written`,
    ),
    at,
    keyId,
    ...values,
  )
}

/** Refuses the rows whose new name another category keeps, or an earlier line uses. */
async function refuseUsedNames(tables: ImportTables<ImportedCategory>): Promise<void> {
  const named = await tables.session.rows<Pick<Category, 'id' | 'name'> & { line: bigint }>(
    'SELECT id, name, line FROM differing WHERE is_new OR old_name <> name ORDER BY line',
  )
  const kept = await tables.session.rows<Pick<Category, 'id' | 'name'>>(
    `SELECT id, name FROM categories
    WHERE id NOT IN (SELECT id FROM differing WHERE old_name <> name) ORDER BY id DESC`,
  )
  const owners = new Map(kept.map((category) => [nameKey(category.name), category]))
  const refused: (RefusedLine & { id: bigint })[] = []
  for (const { id, name, line } of named) {
    const owner = owners.get(nameKey(name))
    if (owner === undefined) owners.set(nameKey(name), { id, name })
    else refused.push({ id, line: Number(line), reason: nameTaken(owner) })
  }
  await tables.refuse(refused)
}

export const CATEGORY_IMPORT: ImportKind<ImportedCategory> = {
  stagedLayout: CATEGORY_LAYOUT,
  differingLayout: CATEGORY_LAYOUT,
  isKeyedByPet: false,
  lock: (tables) => runStatements(tables.session, tables.database.dialect.lockCatalog),
  compare: (tables, scope) => compareInSql(tables, STORED_CATEGORY, scope),
  refuseInPreview: refuseUsedNames,
  write: async (tables, options) => {
    const { session, database } = tables
    await refuseUsedNames(tables)
    await tables.throwIfRefused(options)
    await tables.lockStock(GETS_NEW_THRESHOLD, ...ALL_IDS)
    await tables.writeInSteps(options, async ({ from, to }) => {
      await session.run(WRITE_CATEGORIES, from, to)
      const query = 'SELECT * FROM differing WHERE id BETWEEN $3 AND $4 ORDER BY id'
      await logCategories(tables, options, { query, isNew: 'is_new', values: [from, to] })
      await session.run(setThresholds(GETS_NEW_THRESHOLD), from, to)
      await runStatements(
        tables.session,
        crossingStatements(database.dialect, GETS_NEW_THRESHOLD, [from, to], options),
      )
    })
    await tables.advanceIds('categories', 'id')
  },
}
