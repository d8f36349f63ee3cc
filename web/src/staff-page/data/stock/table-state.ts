import type { PetStatus } from '@petstore/client'

export type SortColumn = 'name' | 'petId' | 'category' | 'status' | 'quantity'

export interface Sort {
  readonly column: SortColumn
  readonly isDescending: boolean
}

export interface TableFilter {
  readonly query: string
  readonly status: PetStatus | 'all'
  readonly lowOnly: boolean
}

/** How the user has set up the table. It goes with the session, so that coming back finds it as it was. */
export interface TableState {
  readonly filter: TableFilter
  readonly sort: Sort
  readonly selected: ReadonlySet<bigint>
  readonly active: bigint | undefined
}

export const NO_FILTER: TableFilter = { query: '', status: 'all', lowOnly: false }

export const FIRST_TABLE_STATE: TableState = {
  filter: NO_FILTER,
  sort: { column: 'petId', isDescending: false },
  selected: new Set(),
  active: undefined,
}

export const STATUSES: readonly PetStatus[] = ['available', 'pending', 'sold']

export const COLUMN_NAMES: Readonly<Record<SortColumn, string>> = {
  name: 'Name',
  petId: 'ID',
  category: 'Category',
  status: 'Status',
  quantity: 'Quantity',
}

/** The same column once more turns the order round. */
export function sortedBy(sort: Sort, column: SortColumn): Sort {
  return { column, isDescending: sort.column === column && !sort.isDescending }
}

export function isFiltering({ query, status, lowOnly }: TableFilter): boolean {
  return query.trim() !== '' || status !== 'all' || lowOnly
}
