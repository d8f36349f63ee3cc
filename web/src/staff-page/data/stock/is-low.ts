import type { CategoryList } from '../catalog/category-list.ts'
import type { StockRow } from './stock-model.ts'

type Thresholds = Pick<CategoryList, 'byId'>

/** A pet is low with so many available: by its own threshold, or its category's. */
export function thresholdOf(
  { lowStockAt, categoryId }: Pick<StockRow, 'lowStockAt' | 'categoryId'>,
  { byId }: Thresholds,
): number | undefined {
  return lowStockAt ?? (categoryId === undefined ? undefined : byId.get(categoryId)?.lowStockAt)
}

/** As the service decides it: by what can still be ordered, whatever the status. */
export function isLow(
  row: Pick<StockRow, 'quantity' | 'reserved' | 'lowStockAt' | 'categoryId'>,
  categories: Thresholds,
): boolean {
  const threshold = thresholdOf(row, categories)
  return threshold !== undefined && row.quantity - row.reserved <= threshold
}
