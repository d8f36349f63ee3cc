import { matcherOf } from '../data/stock/search-text.ts'
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
  const matches = matcherOf(query)
  return (row) => (category === undefined || row.categoryId === category.id) && matches(row)
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
  const shown = (filter: CountFilter) =>
    rows.filter(({ petId }) => isShown(filter, entries.get(petId))).length
  return {
    all: rows.length,
    uncounted: shown('uncounted'),
    counted: shown('counted'),
    differences: shown('differences'),
  }
}

export function isShown(filter: CountFilter, entry: CountEntry | undefined): boolean {
  switch (filter) {
    case 'all':
      return true
    case 'uncounted':
      return entry === undefined
    case 'counted':
      return entry !== undefined
    case 'differences':
      return entry !== undefined && !entry.isApplied && entry.quantity !== entry.expected
  }
}
