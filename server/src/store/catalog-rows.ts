import { CATEGORY } from '../core/catalog/category.ts'
import { nameWords } from '../core/catalog/name-words.ts'
import { PET, type Pet } from '../core/catalog/pet.ts'
import type { Command, UpsertPets } from '../core/stock/command.ts'
import type { CategoryChangeRecord, PetChangeRecord, ThresholdRecord } from '../core/stock/stock-draft.ts'
import { availableOf } from '../core/stock/stock-draft.ts'
import { type LowStockEvent, PET_CHANGES, type PetEvent } from '../core/stock/stock-event.ts'
import { columnsOf } from '../core/values/field.ts'
import {
  changeKindIn,
  detailSql,
  detailText,
  recordFromDetail,
  rowReader,
  rowValues,
  selectList,
} from './record-rows.ts'
import type { SqlValue } from './sql.ts'

/** The fields of a pet that `pets` holds. The status is in `stock`. */
const { status: _, ...PETS_TABLE_FIELDS } = PET
/** The fields of a pet that the column `detail` of the log holds. The log has columns for the id and the status. */
const { id: __, ...LOGGED_PET } = PETS_TABLE_FIELDS

/** The columns of `pets`. `words` holds the words of the name, for searches. */
export const PET_COLUMNS = { ...columnsOf(PETS_TABLE_FIELDS), words: 'text' } as const
export const CATEGORY_COLUMNS = columnsOf(CATEGORY)

/** The columns of a pet, from `stock JOIN pets ON pets.id = pet_id`. */
export const PET_FIELDS = selectList(PET)
export const CATEGORY_FIELDS = selectList(CATEGORY)

export const toPet = rowReader(PET)
export const toCategory = rowReader(CATEGORY)
export const categoryValues = rowValues(CATEGORY)
const petsTableValues = rowValues(PETS_TABLE_FIELDS)

/** The values of a pet in the order of PET_COLUMNS. */
export function petValues(pet: Pet): SqlValue[] {
  return [...petsTableValues(pet), nameWords(pet.name)]
}

export function petDetail({ isNew, pet }: Pick<PetChangeRecord, 'isNew' | 'pet'>): string {
  return detailText(LOGGED_PET, pet, { change: isNew ? 'created' : 'changed' })
}

export function fromPetDetail(
  text: string,
): Omit<PetEvent, 'kind' | 'petId' | 'status' | 'quantity' | 'at' | 'keyId' | 'cursor'> {
  const detail = JSON.parse(text)
  return { change: changeKindIn(detail, PET_CHANGES), ...recordFromDetail(LOGGED_PET, detail) }
}

/** The same as `petDetail` in SQL, from columns that are named like those of `pets`. `isNew` is a condition. */
export function petDetailSql(jsonObject: string, isNew: string): string {
  return detailSql(jsonObject, LOGGED_PET, { change: changeKindSql(isNew) })
}

function changeKindSql(isNew: string): string {
  return `CASE WHEN ${isNew} THEN 'created' ELSE 'changed' END`
}

export function crossingDetail({ entry }: Pick<ThresholdRecord, 'entry'>): string {
  const { quantity, reserved, lowStockAt } = entry
  return JSON.stringify({ quantity, reserved, lowStockAt })
}

/** The same as `crossingDetail` in SQL, from a row of `stock`. */
export const crossingDetailSql = (jsonObject: string) =>
  `CAST(${jsonObject}('quantity', quantity, 'reserved', reserved, 'lowStockAt', low_at) AS TEXT)`

export function fromCrossingDetail(
  text: string,
): Pick<LowStockEvent, 'quantity' | 'reserved' | 'available' | 'lowStockAt'> {
  const { quantity, reserved, lowStockAt } = JSON.parse(text)
  const threshold = typeof lowStockAt === 'number' ? { lowStockAt } : {}
  return { quantity, reserved, available: availableOf({ quantity, reserved }), ...threshold }
}

export function categoryDetail({
  category,
  change,
}: Pick<CategoryChangeRecord, 'category' | 'change'>): string {
  return detailText(CATEGORY, category, { change })
}

/** The same as `categoryDetail` in SQL, from columns that are named like those of `categories`. `isNew` is a condition. */
export function categoryDetailSql(jsonObject: string, isNew: string): string {
  return detailSql(jsonObject, CATEGORY, { change: changeKindSql(isNew) })
}

/** The rows of the catalogue that commands refer to, in addition to their pets. */
interface CatalogReferences {
  readonly categories: readonly bigint[]
  readonly removedCategories: readonly bigint[]
  readonly barcodes: readonly string[]
  /**
   * The maximum number of generated ids that new pets need. A generated id is skipped if a caller has chosen the same id, so
   * each chosen id adds one.
   */
  readonly neededPetIdCount: number
  readonly neededCategoryIdCount: number
}

export function catalogReferencesOf(commands: readonly Command[]): CatalogReferences {
  const categories = new Set<bigint>()
  const removedCategories: bigint[] = []
  const barcodes = new Set<string>()
  let petsWithoutId = 0
  let petsWithId = 0
  let neededCategoryIdCount = 0
  const addFields = ({ categoryId, barcode }: Pick<UpsertPets['pets'][number], 'categoryId' | 'barcode'>) => {
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
        if (command.category.id === undefined) neededCategoryIdCount++
        else categories.add(command.category.id)
        break
      case 'update_category':
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
    barcodes: [...barcodes],
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
