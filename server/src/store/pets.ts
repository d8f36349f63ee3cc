import type { CatalogChanges } from '../core/catalog/catalog-draft.ts'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import { MAX_INT64, MIN_INT64 } from '../core/values/field.ts'
import {
  CATEGORY_COLUMNS,
  CATEGORY_SELECT_LIST,
  categoryValues,
  PET_SELECT_LIST,
  toCategory,
  toPet,
} from './catalog-rows.ts'
import { advanceIdsStatements } from './generated-ids.ts'
import { thresholdMethods } from './low-stock.ts'
import { type Dialect, type SqlDatabase, type Statement, statement, upsertSql } from './sql.ts'

const SELECT_PETS = `SELECT ${PET_SELECT_LIST} FROM stock JOIN pets ON pets.id = pet_id`

export function petMethods(database: SqlDatabase): Omit<CatalogStore, 'searchPets' | 'prepareSearch'> {
  return {
    ...thresholdMethods(database),

    findPet: async (petId) => {
      const [row] = await database.rows<object>(`${SELECT_PETS} WHERE pet_id = $1`, petId)
      return row === undefined ? undefined : toPet(row)
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
  }
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
