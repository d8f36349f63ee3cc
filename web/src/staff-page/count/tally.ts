import type { StockRow } from '../data/stock/stock-model.ts'
import type { CountEntry } from './kept-count.ts'

/** Which pets of a count are shown. */
export type CountFilter = 'all' | 'uncounted' | 'counted' | 'differences'

export const FILTERS: readonly { readonly filter: CountFilter; readonly words: string }[] = [
  { filter: 'all', words: 'All' },
  { filter: 'uncounted', words: 'Uncounted' },
  { filter: 'counted', words: 'Counted' },
  { filter: 'differences', words: 'Differences' },
]

type Entries = ReadonlyMap<bigint, CountEntry>

/** How many of each there are. */
export function tallyOf(rows: readonly StockRow[], entries: Entries): Readonly<Record<CountFilter, number>> {
  const tally = { all: rows.length, uncounted: 0, counted: 0, differences: 0 }
  for (const { petId } of rows) {
    const entry = entries.get(petId)
    if (entry === undefined) tally.uncounted++
    else tally.counted++
    if (isDifferent(entry)) tally.differences++
  }
  return tally
}

export function isShown(filter: CountFilter, entry: CountEntry | undefined): boolean {
  if (filter === 'all') return true
  if (filter === 'differences') return isDifferent(entry)
  return (filter === 'counted') === (entry !== undefined)
}

function isDifferent(entry: CountEntry | undefined): boolean {
  return entry !== undefined && !entry.isApplied && entry.quantity !== entry.expected
}

/** A difference with its sign, such as `+3`. */
export function differenceWords(difference: number): string {
  if (difference === 0) return '±0'
  return difference > 0 ? `+${difference.toLocaleString('en')}` : `−${(-difference).toLocaleString('en')}`
}
