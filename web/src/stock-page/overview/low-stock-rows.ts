import type { PetStatus } from '@petstore/client'
import { isLow } from '../stock/is-low.ts'
import type { StockRow } from '../stock/stock-model.ts'

export interface LowStock {
  readonly count: number
  /** How many of them have nothing left. */
  readonly empty: number
  /** The lowest, by quantity and then by petId; what is sold comes last, since it is no gap on a shelf. */
  readonly lowest: readonly StockRow[]
}

/** The lowest `most` of all that are low, without sorting what may be nearly everything. */
export function lowStock(rows: readonly StockRow[], threshold: number, most: number): LowStock {
  const groups = new Map<number, StockRow[]>()
  let count = 0
  let empty = 0
  for (const row of rows) {
    if (!isLow(row, threshold)) continue
    count++
    if (row.quantity === 0) empty++
    const rank = RANK[row.status] * (threshold + 1) + row.quantity
    const group = groups.get(rank)
    if (group === undefined) groups.set(rank, [row])
    else if (group.length < most) group.push(row)
  }
  const lowest: StockRow[] = []
  for (const rank of [...groups.keys()].sort((a, b) => a - b)) {
    if (lowest.length >= most) break
    lowest.push(...(groups.get(rank) ?? []))
  }
  return { count, empty, lowest: lowest.slice(0, most) }
}

const RANK: Readonly<Record<PetStatus, number>> = { available: 0, pending: 0, sold: 1 }
