import { searchTerms } from '../data/stock/search-text.ts'
import type { StockRow } from '../data/stock/stock-model.ts'

export interface Scope {
  readonly category: { readonly id: bigint; readonly name: string } | undefined
  /** Only pets with this in their name or id; empty for all. */
  readonly query: string
}

export const ALL_PETS: Scope = { category: undefined, query: '' }

export function scopeWords({ category, query }: Scope): string {
  const name = category?.name ?? (query === '' ? 'all pets' : 'pets')
  return query === '' ? name : `${name} “${query}”`
}

/** Returns a predicate for the pets in the scope. */
export function isIn({ category, query }: Scope): (row: StockRow) => boolean {
  const terms = searchTerms(query)
  return ({ categoryId, searchText }) =>
    (category === undefined || categoryId === category.id) && terms.every((term) => searchText.includes(term))
}

/** Sorts pets as they are counted and printed: by name, then by id. */
export function inOrder(rows: readonly StockRow[]): readonly StockRow[] {
  const collator = new Intl.Collator('en', { numeric: true })
  return rows.toSorted(
    (one, other) => collator.compare(one.name ?? '', other.name ?? '') || (one.petId < other.petId ? -1 : 1),
  )
}

export interface CountEntry {
  readonly quantity: number
  /** The stock that the page showed when counting began. If it has changed since, it is not overwritten. */
  readonly expected: number
  readonly isApplied: boolean
}

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
