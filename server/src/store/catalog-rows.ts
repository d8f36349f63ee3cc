import type { Category } from '../core/catalog/category.ts'
import type { Pet } from '../core/catalog/pet.ts'
import { availableOf, type PetStatus } from '../core/stock/inventory.ts'
import type { CategoryChangeRecord, PetChangeRecord, ThresholdRecord } from '../core/stock/stock-draft.ts'
import { type LowStockEvent, PET_CHANGES, type PetEvent } from '../core/stock/stock-event.ts'

export interface PetRow {
  readonly id: bigint
  readonly name: string
  readonly category_id: bigint
  readonly status: PetStatus
  readonly barcode: string | null
  readonly low_stock_at: bigint | null
}

export interface CategoryRow {
  readonly id: bigint
  readonly name: string
  readonly low_stock_at: bigint | null
}

/** Of `stock JOIN pets ON pets.id = pet_id`. */
export const PET_FIELDS = 'id, name, category_id, status, barcode, low_stock_at'

export function toPet({ id, name, category_id, status, ...row }: PetRow): Pet {
  return { id, name, categoryId: category_id, status, ...barcodeOf(row), ...thresholdOf(row) }
}

export function toCategory({ id, name, ...row }: CategoryRow): Category {
  return { id, name, ...thresholdOf(row) }
}

function barcodeOf({ barcode }: Pick<PetRow, 'barcode'>) {
  return barcode === null ? {} : { barcode }
}

function thresholdOf({ low_stock_at }: Pick<PetRow, 'low_stock_at'>) {
  return low_stock_at === null ? {} : { lowStockAt: Number(low_stock_at) }
}

/** What the log keeps of a pet: all of it but its entry, which stands beside it. */
export function petDetail({ isNew, pet }: Pick<PetChangeRecord, 'isNew' | 'pet'>): string {
  const { name, categoryId, barcode, lowStockAt } = pet
  return JSON.stringify({
    change: changeWord(isNew),
    name,
    categoryId: String(categoryId),
    barcode,
    lowStockAt,
  })
}

export function fromPetDetail(
  text: string,
): Pick<PetEvent, 'change' | 'name' | 'categoryId' | 'barcode' | 'lowStockAt'> {
  const { change, name, categoryId, barcode, lowStockAt } = JSON.parse(text)
  const known = PET_CHANGES.find((one) => one === change)
  if (known === undefined) throw new Error(`${change} is none of ${PET_CHANGES.join(', ')}`)
  return {
    ...{ change: known, name, categoryId: BigInt(categoryId) },
    ...(typeof barcode === 'string' ? { barcode } : {}),
    ...(typeof lowStockAt === 'number' ? { lowStockAt } : {}),
  }
}

/** The same as petDetail, in SQL: of columns that are named like those of `pets`, and `isNew`. */
export function petDetailSql(jsonObject: string, isNew: string): string {
  return `CAST(${jsonObject}('change', CASE WHEN ${isNew} THEN 'created' ELSE 'changed' END, 'name', name,
    'categoryId', CAST(category_id AS TEXT), 'barcode', barcode, 'lowStockAt', low_stock_at) AS TEXT)`
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
  return JSON.stringify({ change, ...category, id: String(category.id) })
}

/** The same in SQL, of columns that are named like those of `categories`, and `isNew`. */
export function categoryDetailSql(jsonObject: string, isNew: string): string {
  return `CAST(${jsonObject}('change', CASE WHEN ${isNew} THEN 'created' ELSE 'changed' END,
    'id', CAST(id AS TEXT), 'name', name, 'lowStockAt', low_stock_at) AS TEXT)`
}

function changeWord(isNew: boolean): PetEvent['change'] {
  return isNew ? 'created' : 'changed'
}
