import type { Database } from 'bun:sqlite'
import type { CatalogChanges, LockedCatalog } from '../../core/catalog/catalog-draft.ts'
import type { Command } from '../../core/stock/command.ts'
import { petIdsOf } from '../../core/stock/command-table.ts'
import {
  CATEGORY_SELECT_LIST,
  catalogReferencesOf,
  PET_COLUMNS,
  PET_SELECT_LIST,
  petValues,
  toCategory,
  toPet,
} from '../catalog-rows.ts'
import { advanceIdsStatements } from '../generated-ids.ts'
import { ENTRY_COLUMNS, entryValues } from '../log-rows.ts'
import { categoryStatements } from '../pets.ts'
import { type SqlValue, upsertSql } from '../sql.ts'
import { DIALECT, findAll, idGenerator, runAll, toSqlite } from './dialect.ts'

/** Reads and writes the catalogue inside a commit. */
export function catalogTables(database: Database) {
  const petIdGenerator = idGenerator(database, 'pets')
  const categoryIdGenerator = idGenerator(database, 'categories')
  const findPet = database.query<object, [bigint]>(
    `SELECT ${PET_SELECT_LIST} FROM stock JOIN pets ON pets.id = pet_id WHERE pet_id = ?`,
  )
  const findCategory = database.query<object, [bigint]>(
    `SELECT ${CATEGORY_SELECT_LIST} FROM categories WHERE id = ?`,
  )
  const listCategories = database.query<object, []>(`SELECT ${CATEGORY_SELECT_LIST} FROM categories`)
  const findBarcodeOwner = database.query<{ id: bigint }, [string]>('SELECT id FROM pets WHERE barcode = ?')
  const findAnyPetIn = database.query<unknown, [bigint]>('SELECT 1 FROM pets WHERE category_id = ? LIMIT 1')
  const clearBarcode = database.query<unknown, [bigint]>(
    'UPDATE pets SET barcode = NULL WHERE id = ? AND barcode IS NOT NULL',
  )
  const putPet = database.query<unknown, SqlValue[]>(toSqlite(upsertSql('pets', Object.keys(PET_COLUMNS))))
  const putEntry = database.query<unknown, SqlValue[]>(
    toSqlite(upsertSql('stock', Object.keys(ENTRY_COLUMNS), 'pet_id')),
  )
  const setThreshold = database.query<unknown, [number | null, bigint]>(
    'UPDATE stock SET low_at = ? WHERE pet_id = ?',
  )
  const removePet = database.query<unknown, [bigint]>('DELETE FROM pets WHERE id = ?')

  return {
    read: (commands: readonly Command[]): LockedCatalog => {
      const references = catalogReferencesOf(commands)
      const pets = findAll(petIdsOf(commands), findPet, toPet)
      const categoryIds = new Set(references.categories)
      for (const { categoryId } of pets.values()) categoryIds.add(categoryId)
      const categories = references.namesCategory
        ? new Map(
            listCategories
              .all()
              .map((row) => toCategory(row))
              .map((category) => [category.id, category]),
          )
        : findAll(categoryIds, findCategory, (row) => toCategory(row))
      return {
        pets,
        categories,
        barcodes: findAll(references.barcodes, findBarcodeOwner, ({ id }) => id),
        categoriesWithPets: new Set(
          references.removedCategories.filter((id) => findAnyPetIn.get(id) !== null),
        ),
        newPetIds: petIdGenerator.findUnused(references.neededPetIdCount),
        newCategoryIds: categoryIdGenerator.findUnused(references.neededCategoryIdCount),
      }
    },

    write: (changes: CatalogChanges): void => {
      const { pets, thresholds } = changes
      // Barcodes are unique, so all old barcodes are cleared before a new barcode is written.
      for (const id of pets.keys()) clearBarcode.run(id)
      for (const [id, newState] of pets) {
        if (newState === undefined) {
          removePet.run(id)
          continue
        }
        putPet.run(...petValues(newState.pet))
        putEntry.run(...entryValues(newState))
      }
      runAll(database, advanceIdsStatements(DIALECT, 'pets', pets.keys()))
      for (const [petId, lowStockAt] of thresholds) setThreshold.run(lowStockAt, petId)
      runAll(database, categoryStatements(DIALECT, changes))
    },
  }
}
