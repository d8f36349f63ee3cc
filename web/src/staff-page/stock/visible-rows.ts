import { type CategoryList, categoryName } from '../data/catalog/category-list.ts'
import { isLow } from '../data/stock/is-low.ts'
import { searchTerms } from '../data/stock/search-text.ts'
import type { StockRow, StockSnapshot } from '../data/stock/stock-model.ts'
import { isFiltering, type Sort, STATUSES, type TableFilter } from '../data/stock/table-state.ts'

export interface Wanted {
  readonly filter: TableFilter
  readonly sort: Sort
  readonly categories: CategoryList
  /** The pet with the barcode that is searched for. */
  readonly scanned: bigint | undefined
  /** These stay, whatever the filter says: somebody is at work on them. */
  readonly kept: ReadonlySet<bigint>
}

type Compare = (one: StockRow, other: StockRow) => number

/**
 * Picks and orders the rows to show. The order is made when the user asks for it, and when rows come or go, but not
 * when a quantity changes: rows do not jump away under the hands of whoever edits them, and a busy store does not
 * cost a sort with every change.
 */
export class VisibleRows {
  #orderedFor: readonly unknown[] = []
  #order: Uint32Array | undefined
  #shownFor: readonly unknown[] = []
  #shown: readonly StockRow[] = []

  of({ rows, structure }: Pick<StockSnapshot, 'rows' | 'structure'>, wanted: Wanted): readonly StockRow[] {
    const { filter, sort, categories, scanned, kept } = wanted
    const by = sort.column === 'quantity' ? filter : sort.column === 'category' ? categories : undefined
    if (!isSame(this.#orderedFor, [structure, sort, by])) {
      this.#orderedFor = [structure, sort, by]
      this.#order = orderOf(rows, sort, categories)
    }
    const low = filter.lowOnly ? categories : undefined
    const keptOnes = [...kept].join()
    if (isSame(this.#shownFor, [rows, this.#order, filter, low, scanned, keptOnes])) return this.#shown
    this.#shownFor = [rows, this.#order, filter, low, scanned, keptOnes]
    this.#shown = pick(rows, this.#order, wanted)
    return this.#shown
  }
}

/** Whether a row is among those that are asked for. */
export function fitting({
  filter,
  categories,
  scanned,
}: Omit<Wanted, 'sort' | 'kept'>): (row: StockRow) => boolean {
  const { query, status, lowOnly } = filter
  const terms = searchTerms(query)
  return (row) =>
    (status === 'all' || row.status === status) &&
    (!lowOnly || isLow(row, categories)) &&
    (terms.every((term) => row.searchText.includes(term)) || row.petId === scanned)
}

/** The row that Enter in the search goes to: the one with the very id or barcode, or else the first. */
export function bestMatch(rows: readonly StockRow[], wanted: Wanted): StockRow | undefined {
  const { scanned, filter } = wanted
  const exact = scanned ?? (/^-?\d{1,19}$/.test(filter.query.trim()) ? BigInt(filter.query) : undefined)
  const fits = fitting(wanted)
  const matches = (row: StockRow) => row.petId === exact && fits(row)
  return (exact === undefined ? undefined : rows.find(matches)) ?? rows.find(fits)
}

function pick(
  rows: readonly StockRow[],
  order: Uint32Array | undefined,
  wanted: Wanted,
): readonly StockRow[] {
  const { kept, filter } = wanted
  if (order === undefined && !isFiltering(filter)) return rows
  const fits = fitting(wanted)
  const picked: StockRow[] = []
  for (let place = 0; place < rows.length; place++) {
    const row = rows[order?.[place] ?? place]
    if (row === undefined) continue
    if (fits(row) || (kept.size > 0 && kept.has(row.petId))) picked.push(row)
  }
  return picked
}

/** The places of the rows in the order wanted; `undefined` where that is the order they are in. */
function orderOf(
  rows: readonly StockRow[],
  { column, isDescending }: Sort,
  categories: CategoryList,
): Uint32Array | undefined {
  if (column === 'petId' && !isDescending) return undefined
  const order = Uint32Array.from(rows, (_, place) => place)
  if (column === 'petId') return order.reverse()
  const compare = column === 'category' ? byCategory(rows, categories) : COMPARE[column]
  const sign = isDescending ? -1 : 1
  return order.sort((a, b) => {
    const [one, other] = [rows[a], rows[b]]
    if (one === undefined || other === undefined) return 0
    // Those whose name has not come yet are last either way.
    if (column === 'name' || column === 'category') {
      if (one.name === undefined || other.name === undefined) {
        return Number(one.name === undefined) - Number(other.name === undefined) || a - b
      }
    }
    return sign * compare(one, other) || a - b
  })
}

const COMPARE: Readonly<Record<Exclude<Sort['column'], 'petId' | 'category'>, Compare>> = {
  name: (one, other) => inOrder(one.searchText, other.searchText),
  status: (one, other) => STATUSES.indexOf(one.status) - STATUSES.indexOf(other.status),
  quantity: (one, other) => inOrder(one.quantity, other.quantity),
}

/** By what the table calls them. The few names are compared once, not for each pair of pets. */
function byCategory(rows: readonly StockRow[], categories: CategoryList): Compare {
  const ids = new Set<bigint>()
  for (const { categoryId } of rows) if (categoryId !== undefined) ids.add(categoryId)
  const named = Array.from(ids, (id) => ({ id, name: categoryName(categories, id) }))
  named.sort((a, b) => BY_NAME.compare(a.name, b.name) || inOrder(a.id, b.id))
  const ranks = new Map(named.map(({ id }, rank) => [id, rank]))
  const rankOf = ({ categoryId }: StockRow) => (categoryId === undefined ? -1 : (ranks.get(categoryId) ?? -1))
  return (one, other) => rankOf(one) - rankOf(other)
}

const BY_NAME = new Intl.Collator('en', { numeric: true })

function inOrder<Value extends string | bigint | number>(one: Value, other: Value): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => Object.is(value, other[index]))
}
