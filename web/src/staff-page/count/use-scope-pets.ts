import { useEffect, useMemo, useState } from 'preact/compat'
import { failureWords } from '../data/failure-words.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { readAll } from '../data/stock/stock-search.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { isIn, type Scope } from './scope.ts'

export type ScopePets =
  | { readonly type: 'loading' }
  | { readonly type: 'ready'; readonly rows: readonly StockRow[] }
  | { readonly type: 'too many' }
  | { readonly type: 'failed'; readonly failure: string; readonly retry: () => void }

/** Nobody counts more pets at once, and all of them are loaded. */
export const MAX_COUNTED = 5_000

type Loaded =
  | Exclude<ScopePets, { type: 'ready' }>
  | { readonly type: 'loaded'; readonly petIds: readonly bigint[] }

const LOADING = { type: 'loading' } as const

/** The pets of a scope. In a large store the service searches for them. */
export function useScopePets(scope: Scope | undefined): ScopePets {
  const { feed, stock } = useSession()
  const { rows, structure, hasNames, isComplete } = useStock()
  const categoryId = scope?.category?.id
  const query = scope?.query
  const [loaded, setLoaded] = useState<Loaded>(LOADING)
  const [attempt, setAttempt] = useState(0)
  useEffect(() => {
    setLoaded(LOADING)
    if (!hasNames || isComplete || query === undefined) return
    if (query === '' && categoryId === undefined) return setLoaded({ type: 'too many' })
    const ending = new AbortController()
    const search = {
      ...(query === '' ? {} : { q: query }),
      ...(categoryId === undefined ? {} : { categoryId }),
    }
    readAll(feed.read, search, MAX_COUNTED, ending.signal).then(
      (petIds) => setLoaded(petIds === undefined ? { type: 'too many' } : { type: 'loaded', petIds }),
      (error: unknown) => {
        if (ending.signal.aborted) return
        const retry = () => setAttempt((count) => count + 1)
        setLoaded({ type: 'failed', failure: failureWords(error), retry })
      },
    )
    return () => ending.abort()
  }, [feed, hasNames, isComplete, categoryId, query, attempt])
  return useMemo((): ScopePets => {
    if (scope === undefined || !hasNames) return LOADING
    if (isComplete) return { type: 'ready', rows: rows.filter(isIn(scope)) }
    if (loaded.type !== 'loaded') return loaded
    return { type: 'ready', rows: loaded.petIds.flatMap((petId) => stock.find(petId) ?? []) }
    // Quantities are read when they are shown: the scope does not depend on them.
  }, [categoryId, query, hasNames, isComplete, loaded, structure])
}
