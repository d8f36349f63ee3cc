import { searchTerms } from '../data/stock/search-text.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import type { CountEntry } from './count-draft.ts'

/** Which pets are counted. */
export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'category'; readonly categoryId: bigint; readonly name: string }
  | { readonly kind: 'search'; readonly query: string }

export function scopeWords(scope: Scope): string {
  if (scope.kind === 'all') return 'all pets'
  return scope.kind === 'category' ? scope.name : `“${scope.query}”`
}

/** Returns a function that tells whether a pet is in the scope. */
export function isIn(scope: Scope): (row: StockRow) => boolean {
  if (scope.kind === 'all') return () => true
  if (scope.kind === 'category') return ({ categoryId }) => categoryId === scope.categoryId
  const terms = searchTerms(scope.query)
  return ({ searchText }) => terms.every((term) => searchText.includes(term))
}

/** Sorts pets as they are counted and printed: by name, then by id. */
export function inOrder(rows: readonly StockRow[]): readonly StockRow[] {
  const collator = new Intl.Collator('en', { numeric: true })
  return rows.toSorted(
    (one, other) => collator.compare(one.name ?? '', other.name ?? '') || (one.petId < other.petId ? -1 : 1),
  )
}

/** Which pets of the scope the list shows. */
export type CountFilter = 'all' | 'uncounted' | 'counted' | 'differences'

type Entries = ReadonlyMap<bigint, CountEntry>

/** How many pets each filter shows. */
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
