import type { PetStatus } from '@petstore/client'
import type { StockRow } from '../data/stock/stock-model.ts'

export interface StatusTotal {
  readonly pets: number
  readonly units: number
}

export interface Band {
  readonly label: string
  readonly from: number
  readonly to: number
  readonly pets: number
}

export interface StockSummary {
  readonly byStatus: Readonly<Record<PetStatus, StatusTotal>>
  readonly pets: number
  readonly units: number
  /** How many pets have how much in stock. */
  readonly bands: readonly Band[]
  /** The largest quantities, the largest first. */
  readonly largest: readonly StockRow[]
}

const BANDS: readonly (readonly [label: string, from: number, to: number])[] = [
  ['None', 0, 0],
  ['1 to 5', 1, 5],
  ['6 to 20', 6, 20],
  ['21 to 100', 21, 100],
  ['Over 100', 101, Number.POSITIVE_INFINITY],
]
const LARGEST = 8

/** One pass over all rows: quick enough to be made anew for each change of a hundred thousand. */
export function summarise(rows: readonly StockRow[]): StockSummary {
  const byStatus = {
    available: { pets: 0, units: 0 },
    pending: { pets: 0, units: 0 },
    sold: { pets: 0, units: 0 },
  }
  const inBand = BANDS.map(() => 0)
  const largest: StockRow[] = []
  for (const row of rows) {
    const total = byStatus[row.status]
    total.pets++
    total.units += row.quantity
    const band = BANDS.findIndex(([, , to]) => row.quantity <= to)
    inBand[band] = (inBand[band] ?? 0) + 1
    keepLargest(largest, row)
  }
  const totals = Object.values(byStatus)
  return {
    byStatus,
    pets: rows.length,
    units: totals.reduce((sum, { units }) => sum + units, 0),
    bands: BANDS.map(([label, from, to], index) => ({ label, from, to, pets: inBand[index] ?? 0 })),
    largest,
  }
}

/** Of equal ones the first stays ahead. */
function keepLargest(largest: StockRow[], row: StockRow): void {
  if (row.quantity === 0) return
  const last = largest.at(-1)
  if (largest.length === LARGEST && last !== undefined && last.quantity >= row.quantity) return
  const place = largest.findIndex(({ quantity }) => quantity < row.quantity)
  largest.splice(place === -1 ? largest.length : place, 0, row)
  if (largest.length > LARGEST) largest.pop()
}
