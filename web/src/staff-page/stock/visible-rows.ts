import type { CategoryList } from '../data/catalog/category-list.ts'
import { freeUnits, isLow } from '../data/stock/free-units.ts'
import { matcherOf } from '../data/stock/search-text.ts'
import type { StockRow, StockSnapshot } from '../data/stock/stock-model.ts'
import { isFiltering, type Sort, type TableFilter } from '../data/stock/table-state.ts'

export interface Wanted {
  readonly filter: TableFilter
  readonly sort: Sort
  readonly categories: CategoryList
  /** The pet whose barcode is the search text. */
  readonly scanned: bigint | undefined
  /** Rows that stay although the filter excludes them, because the user works on them. */
  readonly kept: ReadonlySet<bigint>
}

/**
 * Selects and sorts the rows of a store that the page holds completely. A change of quantity does not sort the rows
 * again: a row must not jump away while somebody edits it.
 */
export class VisibleRows {
  #sortedFor: readonly unknown[] = []
  #sorted: readonly bigint[] | undefined
  #selectedFor: readonly unknown[] = []
  #selected: readonly StockRow[] = []

  of({ rows, structure }: Pick<StockSnapshot, 'rows' | 'structure'>, wanted: Wanted): readonly StockRow[] {
    const { filter, sort, categories, scanned, kept } = wanted
    const isByNumber = sort.column === 'quantity' || sort.column === 'free'
    const sortedFor = [structure, sort, isByNumber ? filter : undefined]
    if (!isSame(this.#sortedFor, sortedFor)) {
      this.#sortedFor = sortedFor
      this.#sorted = sortedIds(rows, sort)
    }
    const selectedFor = [rows, this.#sorted, filter, filter.lowOnly && categories, scanned, [...kept].join()]
    if (!isSame(this.#selectedFor, selectedFor)) {
      this.#selectedFor = selectedFor
      this.#selected = select(inOrder(rows, this.#sorted), wanted)
    }
    return this.#selected
  }
}

export function fitting({
  filter,
  categories,
  scanned,
}: Omit<Wanted, 'sort' | 'kept'>): (row: StockRow) => boolean {
  const { query, status, categoryId, lowOnly } = filter
  const matches = matcherOf(query)
  return (row) =>
    (status === 'all' || row.status === status) &&
    (categoryId === undefined || row.categoryId === categoryId) &&
    (!lowOnly || isLow(row, categories)) &&
    (matches(row) || row.petId === scanned)
}

/** The row that Enter in the search goes to: the row with exactly this id or barcode, otherwise the first. */
export function bestMatch(
  matches: readonly StockRow[],
  { scanned, filter }: Pick<Wanted, 'scanned' | 'filter'>,
): StockRow | undefined {
  const exact = scanned ?? (/^-?\d{1,19}$/.test(filter.query.trim()) ? BigInt(filter.query) : undefined)
  return matches.find(({ petId }) => petId === exact) ?? matches[0]
}

function select(rows: readonly StockRow[], wanted: Wanted): readonly StockRow[] {
  if (!isFiltering(wanted.filter)) return rows
  const fits = fitting(wanted)
  return rows.filter((row) => fits(row) || wanted.kept.has(row.petId))
}

function inOrder(rows: readonly StockRow[], petIds: readonly bigint[] | undefined): readonly StockRow[] {
  if (petIds === undefined) return rows
  const byId = new Map(rows.map((row) => [row.petId, row]))
  return petIds.flatMap((petId) => byId.get(petId) ?? [])
}

/** `undefined` if the rows are in this order already. */
function sortedIds(rows: readonly StockRow[], { column, isDescending }: Sort): readonly bigint[] | undefined {
  if (column === 'petId' && !isDescending) return undefined
  const key = SORT_KEYS[column]
  const sign = isDescending ? -1 : 1
  const sorted = rows.toSorted((one, other) => {
    const [a, b] = [key(one), key(other)]
    const byKey = a < b ? -1 : a > b ? 1 : 0
    return sign * (byKey || (one.petId < other.petId ? -1 : 1))
  })
  return sorted.map(({ petId }) => petId)
}

const SORT_KEYS: Readonly<Record<Sort['column'], (row: StockRow) => string | number | bigint>> = {
  petId: ({ petId }) => petId,
  name: ({ searchText }) => searchText,
  quantity: ({ quantity }) => quantity,
  free: freeUnits,
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => Object.is(value, other[index]))
}
