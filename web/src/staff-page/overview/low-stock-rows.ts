import type { CategoryList } from '../data/catalog/category-list.ts'
import { isLow } from '../data/stock/is-low.ts'
import type { StockRow } from '../data/stock/stock-model.ts'

export interface LowStock {
  readonly count: number
  /** How many of them have nothing left that could be ordered. */
  readonly empty: number
  /** Those with the fewest available, then by petId; what is sold comes last, since it is no gap on a shelf. */
  readonly lowest: readonly StockRow[]
}

/** The lowest `most` of all that are low, without sorting what may be nearly everything. */
export function lowStock(rows: readonly StockRow[], categories: CategoryList, most: number): LowStock {
  const lowest: StockRow[] = []
  let count = 0
  let empty = 0
  for (const row of rows) {
    if (!isLow(row, categories)) continue
    count++
    if (availableOf(row) <= 0) empty++
    const last = lowest[most - 1]
    if (last !== undefined && !isLower(row, last)) continue
    const place = lowest.findIndex((one) => isLower(row, one))
    lowest.splice(place === -1 ? lowest.length : place, 0, row)
    lowest.length = Math.min(lowest.length, most)
  }
  return { count, empty, lowest }
}

/** Of equal ones the first stays ahead. */
function isLower(one: StockRow, other: StockRow): boolean {
  const isSold = one.status === 'sold'
  if (isSold !== (other.status === 'sold')) return !isSold
  return availableOf(one) < availableOf(other)
}

export function availableOf({ quantity, reserved }: StockRow): number {
  return quantity - reserved
}
