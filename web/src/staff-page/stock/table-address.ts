import { VALUES } from '@petstore/client'
import { useEffect, useRef } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import {
  COLUMN_NAMES,
  FIRST_TABLE_STATE,
  type Sort,
  type SortColumn,
  type TableFilter,
  type TableState,
} from '../data/stock/table-state.ts'
import { useSession } from '../session/session-context.ts'
import { href, routeOf } from '../ui/navigation.ts'

/** The filter and the sort order in the address; empty for those of a new table. */
export function queryOf(filter: TableFilter, { column, isDescending }: Sort): string {
  const { query, status, categoryId, lowOnly } = filter
  const parameters = new URLSearchParams()
  if (query !== '') parameters.set('q', query)
  if (status !== 'all') parameters.set('status', status)
  if (categoryId !== undefined) parameters.set('category', String(categoryId))
  if (lowOnly) parameters.set('low', 'true')
  const { sort } = FIRST_TABLE_STATE
  if (column !== sort.column || isDescending) parameters.set('sort', `${isDescending ? '-' : ''}${column}`)
  return parameters.toString()
}

/** Unknown values are ignored: an address may come from anywhere. */
export function readQuery(text: string): Pick<TableState, 'filter' | 'sort'> {
  const parameters = new URLSearchParams(text)
  const sort = parameters.get('sort') ?? ''
  const category = parameters.get('category') ?? ''
  const column = (Object.keys(COLUMN_NAMES) as SortColumn[]).find((name) => name === sort.replace(/^-/, ''))
  return {
    filter: {
      query: parameters.get('q') ?? '',
      status: VALUES.PetStatus.find((status) => status === parameters.get('status')) ?? 'all',
      categoryId: /^-?\d{1,19}$/.test(category) ? BigInt(category) : undefined,
      lowOnly: parameters.get('low') === 'true',
    },
    sort: column === undefined ? FIRST_TABLE_STATE.sort : { column, isDescending: sort.startsWith('-') },
  }
}

/** Browsers limit how often the address may change, so it is not written for each letter. */
const WRITE_AFTER_MS = 200

/** Keeps search, filters and sort order in the address, so that reloads and links restore them. */
export function useAddress(): void {
  const { table } = useSession()
  const { filter, sort } = useReadable(table)
  const written = useRef(filter.query)

  useEffect(() => {
    const take = () => {
      const route = routeOf(location.hash)
      if (route.view === 'stock' && route.query) table.set({ ...table.get(), ...readQuery(route.query) })
    }
    take()
    addEventListener('hashchange', take)
    return () => removeEventListener('hashchange', take)
  }, [table])

  useEffect(() => {
    const write = () => {
      written.current = filter.query
      const wanted = href({ view: 'stock', query: queryOf(filter, sort) })
      // An address without a view is the stock, too.
      const isPlain = wanted === href({ view: 'stock' }) && !location.hash.includes('?')
      // Without an entry in the history for each word.
      if (!isPlain && location.hash !== wanted) history.replaceState(history.state, '', wanted)
    }
    if (filter.query === written.current) return write()
    const timer = setTimeout(write, WRITE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [filter, sort])
}
