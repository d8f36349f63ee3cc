import type { Database } from 'bun:sqlite'
import type { LockedCatalog } from '../../core/catalog/catalog-draft.ts'
import type { Command } from '../../core/stock/command.ts'
import { petIdsOf } from '../../core/stock/command-table.ts'
import {
  CATEGORY_SELECT_LIST,
  catalogReferencesOf,
  PET_SELECT_LIST,
  toCategory,
  toPet,
} from '../catalog-rows.ts'
import { findAll, idGenerator } from './dialect.ts'

/** Reads the catalogue inside a commit. */
export function catalogReader(database: Database) {
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
  }
}
