import { CATEGORY } from '../core/catalog/category.ts'
import { nameWords } from '../core/catalog/name-words.ts'
import { PET, type Pet } from '../core/catalog/pet.ts'
import { availableOf } from '../core/stock/inventory.ts'
import type { CategoryChangeRecord, PetChangeRecord, ThresholdRecord } from '../core/stock/stock-draft.ts'
import { type LowStockEvent, PET_CHANGES, type PetEvent } from '../core/stock/stock-event.ts'
import { columnsOf } from '../core/values/field.ts'
import { detailSql, detailText, fromDetailText, rowReader, rowValues, selectList } from './record-rows.ts'
import type { SqlValue } from './sql.ts'

/** The status of a pet is in `stock`, with its quantity. */
const { status: _, ...PET_RECORD } = PET
const { id: __, ...LOGGED_PET } = PET_RECORD

/** The columns of `pets`. The words of the name are there for searches. */
export const PET_COLUMNS = { ...columnsOf(PET_RECORD), words: 'text' } as const
export const CATEGORY_COLUMNS = columnsOf(CATEGORY)

/** Of `stock JOIN pets ON pets.id = pet_id`. */
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

/** The log keeps all fields of a pet but those of its entry, which have columns of their own. */
export function petDetail({ isNew, pet }: Pick<PetChangeRecord, 'isNew' | 'pet'>): string {
  return detailText(LOGGED_PET, pet, { change: isNew ? 'created' : 'changed' })
}

export function fromPetDetail(
  text: string,
): Omit<PetEvent, 'kind' | 'petId' | 'status' | 'quantity' | 'at' | 'keyId' | 'cursor'> {
  const detail = JSON.parse(text)
  const change = PET_CHANGES.find((one) => one === detail.change)
  if (change === undefined) throw new Error(`${detail.change} is none of ${PET_CHANGES.join(', ')}`)
  return { change, ...fromDetailText(LOGGED_PET, detail) }
}

/** The same as petDetail, in SQL: of columns that are named like those of `pets`, and `isNew`. */
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

/** The same in SQL, of a row of `stock`. */
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

/** The same in SQL, of columns that are named like those of `categories`, and `isNew`. */
export function categoryDetailSql(jsonObject: string, isNew: string): string {
  return detailSql(jsonObject, CATEGORY, { change: changeSql(isNew) })
}
