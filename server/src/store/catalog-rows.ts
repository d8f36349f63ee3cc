import { CATEGORY } from '../core/catalog/category.ts'
import { nameWords } from '../core/catalog/name-words.ts'
import { PET, type Pet } from '../core/catalog/pet.ts'
import type { Command } from '../core/stock/command.ts'
import { availableOf } from '../core/stock/inventory.ts'
import type { CategoryChangeRecord, PetChangeRecord, ThresholdRecord } from '../core/stock/stock-draft.ts'
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

/** The status of a pet is in `stock`, with its quantity. */
const { status: _, ...PET_RECORD } = PET
const { id: __, ...LOGGED_PET } = PET_RECORD

/** The columns of `pets`. The words of the name are there for searches. */
export const PET_COLUMNS = { ...columnsOf(PET_RECORD), words: 'text' } as const
export const CATEGORY_COLUMNS = columnsOf(CATEGORY)

/** Selected from `stock JOIN pets ON pets.id = pet_id`. */
export const PET_FIELDS = selectList(PET)
export const CATEGORY_FIELDS = selectList(CATEGORY)

export const toPet = rowReader(PET)
export const toCategory = rowReader(CATEGORY)
export const categoryValues = rowValues(CATEGORY)
const recordValues = rowValues(PET_RECORD)

/** In the order of PET_COLUMNS. */
export function petValues(pet: Pet): SqlValue[] {
  return [...recordValues(pet), nameWords(pet.name)]
}

/** The log keeps all fields of a pet except the fields of its entry, which have columns of their own. */
export function petDetail({ isNew, pet }: Pick<PetChangeRecord, 'isNew' | 'pet'>): string {
  return detailText(LOGGED_PET, pet, { change: isNew ? 'created' : 'changed' })
}

export function fromPetDetail(
  text: string,
): Omit<PetEvent, 'kind' | 'petId' | 'status' | 'quantity' | 'at' | 'keyId' | 'cursor'> {
  const detail = JSON.parse(text)
  return { change: changeKindIn(detail, PET_CHANGES), ...recordFromDetail(LOGGED_PET, detail) }
}

/** The same as petDetail in SQL, from columns named like those of `pets`. `isNew` is an expression. */
export function petDetailSql(jsonObject: string, isNew: string): string {
  return detailSql(jsonObject, LOGGED_PET, { change: changeSql(isNew) })
}

function changeSql(isNew: string): string {
  return `CASE WHEN ${isNew} THEN 'created' ELSE 'changed' END`
}

export function crossingDetail({ entry }: Pick<ThresholdRecord, 'entry'>): string {
  const { quantity, reserved, lowStockAt } = entry
  return JSON.stringify({ quantity, reserved, lowStockAt })
}

/** The same in SQL, from a row of `stock`. */
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

/** The same in SQL, from columns named like those of `categories`. `isNew` is an expression. */
export function categoryDetailSql(jsonObject: string, isNew: string): string {
  return detailSql(jsonObject, CATEGORY, { change: changeSql(isNew) })
}

/** The rows of the catalogue that commands refer to, in addition to their pets. */
interface CatalogReferences {
  readonly categories: readonly bigint[]
  readonly removedCategories: readonly bigint[]
  readonly barcodes: readonly string[]
  /** How many new ids pets may need. An id that a caller chose may be one of the new ids, which is then skipped. */
  readonly newPets: number
  readonly newCategories: number
}

export function catalogReferencesOf(commands: readonly Command[]): CatalogReferences {
  const categories = new Set<bigint>()
  const removedCategories: bigint[] = []
  const barcodes = new Set<string>()
  let petsWithoutId = 0
  let petsWithId = 0
  let newCategories = 0
  for (const command of commands) {
    switch (command.type) {
      case 'create_pet': {
        const { id, categoryId, barcode } = command.draft
        categories.add(categoryId)
        if (barcode !== undefined) barcodes.add(barcode)
        if (id === undefined) petsWithoutId++
        else petsWithId++
        break
      }
      case 'update_pet': {
        const { categoryId, barcode } = command.patch
        if (categoryId !== undefined) categories.add(categoryId)
        if (typeof barcode === 'string') barcodes.add(barcode)
        break
      }
      case 'create_category':
        if (command.draft.id === undefined) newCategories++
        else categories.add(command.draft.id)
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
    newPets: petsWithoutId === 0 ? 0 : petsWithoutId + petsWithId,
    newCategories,
  }
}

/** Whether a command changes a category, for which the whole catalogue has to be locked. */
export function changesCategories(commands: readonly Command[]): boolean {
  return commands.some(
    ({ type }) => type === 'create_category' || type === 'update_category' || type === 'remove_category',
  )
}
