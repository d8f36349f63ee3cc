import {
  COLUMN_NAMES,
  FIRST_TABLE_STATE,
  type Sort,
  type SortColumn,
  STATUSES,
  type TableFilter,
  type TableState,
} from '../data/stock/table-state.ts'

/** What of the table stands in the address; nothing where it is as it is at first. */
export function queryOf({ query, status, lowOnly }: TableFilter, { column, isDescending }: Sort): string {
  const parameters = new URLSearchParams()
  if (query !== '') parameters.set('q', query)
  if (status !== 'all') parameters.set('status', status)
  if (lowOnly) parameters.set('low', 'true')
  const { sort } = FIRST_TABLE_STATE
  if (column !== sort.column || isDescending) parameters.set('sort', `${isDescending ? '-' : ''}${column}`)
  return parameters.toString()
}

/** What it does not know is left out: an address may come from anywhere. */
export function readQuery(text: string): Pick<TableState, 'filter' | 'sort'> {
  const parameters = new URLSearchParams(text)
  const sort = parameters.get('sort') ?? ''
  const column = (Object.keys(COLUMN_NAMES) as SortColumn[]).find((name) => name === sort.replace(/^-/, ''))
  return {
    filter: {
      query: parameters.get('q') ?? '',
      status: STATUSES.find((status) => status === parameters.get('status')) ?? 'all',
      lowOnly: parameters.get('low') === 'true',
    },
    sort: column === undefined ? FIRST_TABLE_STATE.sort : { column, isDescending: sort.startsWith('-') },
  }
}
