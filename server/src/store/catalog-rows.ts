import { CATEGORY } from '../core/catalog/category.ts'
import { nameWords } from '../core/catalog/name-words.ts'
import { PET, type Pet, type PetUpsert } from '../core/catalog/pet.ts'
import type { Command } from '../core/stock/command.ts'
import type { CategoryChangeRecord, PetChangeRecord, ThresholdRecord } from '../core/stock/stock-draft.ts'
import { availableOf } from '../core/stock/stock-draft.ts'
import { CATEGORY_CHANGES, type LowStockEvent, PET_CHANGES } from '../core/stock/stock-event.ts'
import { COPIED_TABLES } from '../core/transfer/copy.ts'
import { columnsOf } from '../core/values/field.ts'
import { changeKindIn, detailReader, detailText, rowReader, rowValues, selectList } from './record-rows.ts'
import type { SqlValue } from './sql.ts'

/** The fields of a pet that `pets` holds. The status is in `stock`. */
const { status: _, ...PETS_TABLE_FIELDS } = PET
/** The fields of a pet that the column `detail` of the log holds. The log has columns for the id and the status. */
const { id: __, ...LOGGED_PET } = PETS_TABLE_FIELDS

/** The columns of `pets`. `words` holds the words of the name, for searches. */
export const PET_COLUMNS = COPIED_TABLES.pets
export const CATEGORY_COLUMNS = columnsOf(CATEGORY)

/** Selects a pet from `stock JOIN pets ON pets.id = pet_id`. */
export const PET_SELECT_LIST = selectList(PET)
export const CATEGORY_SELECT_LIST = selectList(CATEGORY)

export const toPet = rowReader(PET)
export const toCategory = rowReader(CATEGORY)
export const categoryValues = rowValues(CATEGORY)
const petsTableValues = rowValues(PETS_TABLE_FIELDS)
const petInDetail = detailReader(LOGGED_PET)
const categoryInDetail = detailReader(CATEGORY)

/** The values of a pet in the order of PET_COLUMNS. */
export function petValues(pet: Pet): SqlValue[] {
  return [...petsTableValues(pet), nameWords(pet.name)]
}

export function petDetail({ fact, pet }: PetChangeRecord): string {
  return detailText(LOGGED_PET, pet, { change: fact === undefined ? 'changed' : 'created' })
}

export function fromPetDetail(text: string) {
  const detail = JSON.parse(text)
  return { change: changeKindIn(detail, PET_CHANGES), ...petInDetail(detail) }
}

export function crossingDetail({ entry }: ThresholdRecord): string {
  const { quantity, reserved, lowStockAt } = entry
  return JSON.stringify({ quantity, reserved, lowStockAt })
}

export function fromCrossingDetail(
  text: string,
): Pick<LowStockEvent, 'quantity' | 'reserved' | 'available' | 'lowStockAt'> {
  const { quantity, reserved, lowStockAt } = JSON.parse(text)
  const threshold = typeof lowStockAt === 'number' ? { lowStockAt } : {}
  return { quantity, reserved, available: availableOf({ quantity, reserved }), ...threshold }
}

export function categoryDetail({ category, change }: CategoryChangeRecord): string {
  return detailText(CATEGORY, category, { change })
}

export function fromCategoryDetail(text: string) {
  const detail = JSON.parse(text)
  const { id: categoryId, ...fields } = categoryInDetail(detail)
  return { change: changeKindIn(detail, CATEGORY_CHANGES), categoryId, ...fields }
}

/** The rows of the catalogue that commands refer to, in addition to their pets, and the number of generated ids they need. */
export function catalogReferencesOf(commands: readonly Command[]) {
  const categories = new Set<bigint>()
  const removedCategories: bigint[] = []
  const barcodes = new Set<string>()
  let petsWithoutId = 0
  let petsWithId = 0
  let neededCategoryIdCount = 0
  let namesCategory = false
  const addFields = ({ categoryId, barcode }: Pick<PetUpsert, 'categoryId' | 'barcode'>) => {
    if (categoryId !== undefined) categories.add(categoryId)
    if (typeof barcode === 'string') barcodes.add(barcode)
  }
  for (const command of commands) {
    switch (command.type) {
      case 'update_pet':
        addFields(command.patch)
        break
      case 'create_pet':
      case 'upsert_pets':
        for (const pet of command.type === 'create_pet' ? [command.pet] : command.pets) {
          addFields(pet)
          if (pet.id === undefined) petsWithoutId++
          else petsWithId++
        }
        break
      case 'create_category':
        namesCategory = true
        if (command.category.id === undefined) neededCategoryIdCount++
        else categories.add(command.category.id)
        break
      case 'update_category':
        if (command.patch.name !== undefined) namesCategory = true
        categories.add(command.categoryId)
        break
      case 'remove_category':
        categories.add(command.categoryId)
        removedCategories.push(command.categoryId)
        break
    }
  }
  return {
    categories: [...categories],
    removedCategories,
    /** The decision then needs all categories, because no two may have the same name. */
    namesCategory,
    barcodes: [...barcodes],
    // A generated id is skipped if a caller has chosen the same id, so each chosen id adds one.
    neededPetIdCount: petsWithoutId === 0 ? 0 : petsWithoutId + petsWithId,
    neededCategoryIdCount,
  }
}

/** Whether a command changes a category. The commit then has to lock the whole catalogue. */
export function changesCategories(commands: readonly Command[]): boolean {
  return commands.some(
    ({ type }) => type === 'create_category' || type === 'update_category' || type === 'remove_category',
  )
}
