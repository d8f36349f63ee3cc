import { searchTerms } from '../data/stock/search-text.ts'
import type { StockRow } from '../data/stock/stock-model.ts'

/** Which pets are to be counted. */
export type Scope =
  | { readonly kind: 'all' }
  | { readonly kind: 'category'; readonly categoryId: bigint; readonly name: string }
  | { readonly kind: 'search'; readonly query: string }

export function scopeWords(scope: Scope): string {
  if (scope.kind === 'all') return 'all pets'
  return scope.kind === 'category' ? scope.name : `“${scope.query}”`
}

/** Whether a pet is among them. */
export function isIn(scope: Scope): (row: StockRow) => boolean {
  if (scope.kind === 'all') return () => true
  if (scope.kind === 'category') return ({ categoryId }) => categoryId === scope.categoryId
  const terms = searchTerms(scope.query)
  return ({ searchText }) => terms.every((term) => searchText.includes(term))
}

/** In the order in which they are counted and printed: by name, then by id. */
export function inOrder(rows: readonly StockRow[]): readonly StockRow[] {
  const collator = new Intl.Collator('en', { numeric: true })
  return rows.toSorted(
    (one, other) => collator.compare(one.name ?? '', other.name ?? '') || (one.petId < other.petId ? -1 : 1),
  )
}
