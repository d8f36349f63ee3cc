import { useEffect, useRef } from 'react'
import { useReadable } from '../data/observable.ts'
import { useSession } from '../session/session-context.ts'
import { href, routeOf } from '../ui/navigation.ts'
import { queryOf, readQuery } from './table-address.ts'

/** Once for a word that is typed, not for each letter: browsers refuse to change the address too often. */
const WRITE_AFTER_MS = 200

/** Keeps search, filters and order in the address: a reload and a link find them again. */
export function useAddress(): void {
  const { table } = useSession()
  const { filter, sort } = useReadable(table)
  const written = useRef(filter.query)

  // What the address says holds; one that says nothing leaves the table as it was.
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
      // An address without a view is that of the stock as well.
      const isPlain = wanted === href({ view: 'stock' }) && !location.hash.includes('?')
      // No entry in the history for each word, and no arrival at another view.
      if (!isPlain && location.hash !== wanted) history.replaceState(history.state, '', wanted)
    }
    if (filter.query === written.current) return write()
    const timer = setTimeout(write, WRITE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [filter, sort])
}
