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

/** Whether nothing is left to sell, whatever the status. */
export function isSoldOut({ quantity, reserved }: Pick<StockRow, 'quantity' | 'reserved'>): boolean {
  return quantity <= reserved
}

/** Decides as the service does: by the free units, whatever the status. */
export function isLow(
  row: Pick<StockRow, 'quantity' | 'reserved' | 'lowStockAt' | 'categoryId'>,
  categories: Thresholds,
): boolean {
  const threshold = thresholdOf(row, categories)
  return threshold !== undefined && row.quantity - row.reserved <= threshold
}
