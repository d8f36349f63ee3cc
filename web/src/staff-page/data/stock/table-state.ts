import type { PetStatus } from '@petstore/client'

/** The orders that the page and the service share, so that a large store is sorted by the service. */
export type SortColumn = 'name' | 'petId' | 'quantity' | 'free'

export interface Sort {
  readonly column: SortColumn
  readonly isDescending: boolean
}

export interface TableFilter {
  readonly query: string
  readonly status: PetStatus | 'all'
  readonly categoryId: bigint | undefined
  readonly lowOnly: boolean
}

/** How the user has set up the table. The session keeps it while other views are shown. */
export interface TableState {
  readonly filter: TableFilter
  readonly sort: Sort
  readonly selected: ReadonlySet<bigint>
  readonly active: bigint | undefined
}

export const NO_FILTER: TableFilter = { query: '', status: 'all', categoryId: undefined, lowOnly: false }

export const FIRST_TABLE_STATE: TableState = {
  filter: NO_FILTER,
  sort: { column: 'petId', isDescending: false },
  selected: new Set(),
  active: undefined,
}

export const COLUMN_NAMES: Readonly<Record<SortColumn, string>> = {
  name: 'Name',
  petId: 'ID',
  free: 'Free',
  quantity: 'Quantity',
}

/** The same column again reverses the order. */
export function sortedBy(sort: Sort, column: SortColumn): Sort {
  return { column, isDescending: sort.column === column && !sort.isDescending }
}

export function isFiltering({ query, status, categoryId, lowOnly }: TableFilter): boolean {
  return query.trim() !== '' || status !== 'all' || categoryId !== undefined || lowOnly
}
