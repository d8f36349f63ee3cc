import { isLow } from '../stock/is-low.ts'
import { searchTerms } from '../stock/search-text.ts'
import type { StockRow, StockSnapshot } from '../stock/stock-model.ts'
import { type Sort, STATUSES, type TableFilter } from './table-state.ts'

export interface Wanted {
  readonly filter: TableFilter
  readonly sort: Sort
  readonly threshold: number
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
    const { filter, sort, threshold, kept } = wanted
    if (!isSame(this.#orderedFor, [structure, sort, sort.column === 'quantity' ? filter : undefined])) {
      this.#orderedFor = [structure, sort, sort.column === 'quantity' ? filter : undefined]
      this.#order = orderOf(rows, sort)
    }
    const keptOnes = [...kept].join()
    if (isSame(this.#shownFor, [rows, this.#order, filter, threshold, keptOnes])) return this.#shown
    this.#shownFor = [rows, this.#order, filter, threshold, keptOnes]
    this.#shown = pick(rows, this.#order, wanted)
    return this.#shown
  }
}

function pick(
  rows: readonly StockRow[],
  order: Uint32Array | undefined,
  { filter: { query, status, lowOnly }, threshold, kept }: Wanted,
): readonly StockRow[] {
  const terms = searchTerms(query)
  if (order === undefined && terms.length === 0 && status === 'all' && !lowOnly) return rows
  const picked: StockRow[] = []
  for (let place = 0; place < rows.length; place++) {
    const row = rows[order?.[place] ?? place]
    if (row === undefined) continue
    const isWanted =
      (status === 'all' || row.status === status) &&
      (!lowOnly || isLow(row, threshold)) &&
      terms.every((term) => row.searchText.includes(term))
    if (isWanted || (kept.size > 0 && kept.has(row.petId))) picked.push(row)
  }
  return picked
}

/** The places of the rows in the order wanted; `undefined` where that is the order they are in. */
function orderOf(rows: readonly StockRow[], { column, isDescending }: Sort): Uint32Array | undefined {
  if (column === 'petId' && !isDescending) return undefined
  const order = Uint32Array.from(rows, (_, place) => place)
  if (column === 'petId') return order.reverse()
  const compare = COMPARE[column]
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

const COMPARE: Readonly<Record<Exclude<Sort['column'], 'petId'>, Compare>> = {
  name: (one, other) => inOrder(one.searchText, other.searchText),
  category: (one, other) => inOrder(one.categoryId ?? 0n, other.categoryId ?? 0n),
  status: (one, other) => STATUSES.indexOf(one.status) - STATUSES.indexOf(other.status),
  quantity: (one, other) => inOrder(one.quantity, other.quantity),
}

function inOrder<Value extends string | bigint | number>(one: Value, other: Value): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => Object.is(value, other[index]))
}
