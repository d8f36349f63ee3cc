import type { CatalogChanges } from '../core/catalog/catalog-draft.ts'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import { defaultCategoryName } from '../core/catalog/category.ts'
import type { StockedPet } from '../core/catalog/pet.ts'
import { SYSTEM_KEY_ID } from '../core/stock/change-origin.ts'
import type { Clock } from '../core/values/clock.ts'
import { MAX_INT64, MIN_INT64 } from '../core/values/field.ts'
import {
  CATEGORY_COLUMNS,
  CATEGORY_SELECT_LIST,
  categoryValues,
  PET_COLUMNS,
  PET_SELECT_LIST,
  petDetailSql,
  petValues,
  toCategory,
  toPet,
} from './catalog-rows.ts'
import { advanceIdsStatements } from './generated-ids.ts'
import { insertLogSql } from './log-rows.ts'
import { crossingStatements, setThresholds, thresholdMethods } from './low-stock.ts'
import {
  type Dialect,
  insertRows,
  placeholders,
  type SqlDatabase,
  type Statement,
  statement,
  upsertSql,
} from './sql.ts'

const SELECT_PETS = `SELECT ${PET_SELECT_LIST} FROM stock JOIN pets ON pets.id = pet_id`

const PETS_PER_STATEMENT = 20

export function petMethods(
  database: SqlDatabase,
  clock: Clock,
): Omit<CatalogStore, 'searchPets' | 'prepareSearch'> {
  return {
    ...thresholdMethods(database),

    findPet: async (petId) => {
      const [row] = await database.rows<object>(`${SELECT_PETS} WHERE pet_id = $1`, petId)
      return row === undefined ? undefined : toPet(row)
    },

    findPetsByBarcode: async (barcodes) => {
      const rows = await database.rows<{ id: bigint; barcode: string }>(
        `SELECT id, barcode FROM pets WHERE barcode IN (${placeholders(barcodes.length)})`,
        ...barcodes,
      )
      return new Map(rows.map(({ id, barcode }) => [barcode, id]))
    },

    listPets: async (after, limit) => {
      if (after === MAX_INT64) return []
      const rows = await database.rows<object>(
        `${SELECT_PETS} WHERE pet_id >= $1 ORDER BY pet_id LIMIT CAST($2 AS BIGINT)`,
        after === undefined ? MIN_INT64 : after + 1n,
        limit,
      )
      return rows.map(toPet)
    },

    countPets: async () => {
      const [row] = await database.rows<{ pets: bigint }>('SELECT count(*) AS pets FROM pets')
      return Number(row?.pets ?? 0)
    },

    listCategories: async (after, limit) => {
      if (after === MAX_INT64) return []
      const rows = await database.rows<object>(
        `SELECT ${CATEGORY_SELECT_LIST} FROM categories WHERE id >= $1 ORDER BY id LIMIT CAST($2 AS BIGINT)`,
        after === undefined ? MIN_INT64 : after + 1n,
        limit,
      )
      return rows.map((row) => toCategory(row))
    },

    addPets: (pets) => addPets(database, clock(), pets),
  }
}

async function addPets(database: SqlDatabase, at: number, pets: readonly StockedPet[]): Promise<void> {
  const { dialect } = database
  // Sorted by id, so that two commits that add the same pets do not deadlock.
  const sorted = pets.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const ids = sorted.map(({ id }) => id)
  const logStatements: Statement[] = []
  for (let start = 0; start < ids.length; start += PETS_PER_STATEMENT) {
    logStatements.push(...logAddedPets(dialect, at, ids.slice(start, start + PETS_PER_STATEMENT)))
  }
  const categoryIds = [...new Set(sorted.map(({ categoryId }) => categoryId))]
  await database.commit([
    ...dialect.lockCatalog,
    ...insertRows(
      'categories (id, name)',
      categoryIds.map((id) => [id, defaultCategoryName(id)]),
      'ON CONFLICT (id) DO NOTHING',
    ),
    ...insertRows(`pets (${Object.keys(PET_COLUMNS).join()})`, sorted.map(petValues)),
    ...insertRows(
      'stock (pet_id, quantity, status)',
      sorted.map(({ id, quantity, status }) => [id, quantity, status]),
    ),
    ...logStatements,
    ...advanceIdsStatements(dialect, 'pets', ids),
    ...advanceIdsStatements(dialect, 'categories', categoryIds),
  ])
}

/** Statements that set the thresholds of pets that were just added, and write their log rows. */
function logAddedPets(dialect: Dialect, at: number, ids: readonly bigint[]): Statement[] {
  const { nextLogId, jsonObjectFunction } = dialect
  const isAdded = `pet_id IN (${placeholders(ids.length)})`
  const by = { at, keyId: SYSTEM_KEY_ID }
  return [
    statement(setThresholds(isAdded), ...ids),
    statement(
      insertLogSql(
        {
          id: nextLogId,
          kind: "'pet'",
          pet_id: 'pet_id',
          after: 'quantity',
          status: 'status',
          at: `CAST($${ids.length + 1} AS BIGINT)`,
          key_id: `'${SYSTEM_KEY_ID}'`,
          detail: petDetailSql(jsonObjectFunction, 'true'),
        },
        `FROM stock JOIN pets ON pets.id = pet_id WHERE ${isAdded}`,
      ),
      ...ids,
      by.at,
    ),
    ...crossingStatements(dialect, isAdded, ids, by),
  ]
}

const UPSERT_CATEGORY = upsertSql('categories', Object.keys(CATEGORY_COLUMNS))

export function categoryStatements(
  dialect: Dialect,
  { categories, thresholdChanges }: Pick<CatalogChanges, 'categories' | 'thresholdChanges'>,
): Statement[] {
  const writes = Array.from(categories, ([id, category]) =>
    category === undefined
      ? statement('DELETE FROM categories WHERE id = $1', id)
      : statement(UPSERT_CATEGORY, ...categoryValues(category)),
  )
  for (const [id, changeId] of thresholdChanges) {
    writes.push(statement('UPDATE categories SET threshold_change = $2 WHERE id = $1', id, changeId))
  }
  return [...writes, ...advanceIdsStatements(dialect, 'categories', categories.keys())]
}
