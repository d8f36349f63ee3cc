import type { CategoryList } from '../catalog/category-list.ts'
import type { StockRow } from './stock-model.ts'

type Thresholds = Pick<CategoryList, 'byId'>

/** The threshold of a pet: its own, or that of its category. */
export function thresholdOf(
  { lowStockAt, categoryId }: Pick<StockRow, 'lowStockAt' | 'categoryId'>,
  { byId }: Thresholds,
): number | undefined {
  return lowStockAt ?? (categoryId === undefined ? undefined : byId.get(categoryId)?.lowStockAt)
}

type Units = Pick<StockRow, 'quantity' | 'reserved'>

/** The units that can be sold. Negative if the stock was set below the reserved units. */
export function freeUnits({ quantity, reserved }: Units): number {
  return quantity - reserved
}

/** Whether nothing is left to sell, whatever the status. */
export function isSoldOut(units: Units): boolean {
  return freeUnits(units) <= 0
}

/** Decides as the service does: by the free units, whatever the status. */
export function isLow(
  row: Pick<StockRow, 'quantity' | 'reserved' | 'lowStockAt' | 'categoryId'>,
  categories: Thresholds,
): boolean {
  const threshold = thresholdOf(row, categories)
  return threshold !== undefined && freeUnits(row) <= threshold
}
