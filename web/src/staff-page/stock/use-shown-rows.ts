import { flushSync, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import type { StockModel, StockRow } from '../data/stock/stock-model.ts'
import { newStockSearch, searchQueryOf } from '../data/stock/stock-search.ts'
import { isFiltering, type Sort, type TableFilter } from '../data/stock/table-state.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { bestMatch, fitting, VisibleRows, type Wanted } from './visible-rows.ts'

export type ShownRows = ReturnType<typeof useShownRows>

/** A search waits until the user has stopped typing for this long. */
const TYPING_MS = 200

/** The rows of the table, in their order. `edited` is the pet whose quantity is being typed. */
export function useShownRows(edited: bigint | undefined) {
  const session = useSession()
  const stock = useStock()
  const { filter, sort } = useReadable(session.table)
  const edits = useReadable(session.editor)
  const categories = useReadable(session.categories)
  const visible = useMemo(() => new VisibleRows(), [])
  const server = useServerSearch(!stock.isComplete, filter, sort)
  const kept = new Set(edited === undefined ? edits.keys() : [...edits.keys(), edited])
  const scanned = session.stock.barcodes.find(filter.query.trim())
  const wanted: Wanted = { filter, sort, categories, scanned, kept }
  const { rows: petIds } = server.state
  const found = useMemo(
    () => (stock.isComplete ? [] : petIds.flatMap((petId) => session.stock.find(petId) ?? [])),
    [stock, petIds, session],
  )
  const rows = stock.isComplete ? visible.of(stock, wanted) : withKept(found, kept, session.stock)
  const current = useRef({ rows, wanted })
  useLayoutEffect(() => {
    current.current = { rows, wanted }
  })
  /** The rows at the moment of an event, between two renderings. */
  const latest = useCallback(() => current.current.rows, [])
  /** The row that Enter in the search goes to, once the rows match the text. */
  const findBest = async () => {
    const petIdsFound = stock.isComplete ? undefined : await server.settle()
    const { rows: shown, wanted: latestWanted } = current.current
    if (petIdsFound === undefined) return bestMatch(shown.filter(fitting(latestWanted)), latestWanted)
    return bestMatch(
      petIdsFound.flatMap((petId) => session.stock.find(petId) ?? []),
      { filter, scanned: session.stock.barcodes.find(filter.query.trim()) },
    )
  }
  return {
    rows,
    wanted,
    /** `undefined` if the page holds every pet and searches by itself. */
    search: stock.isComplete ? undefined : { ...server.state, isPending: server.isPending },
    loadMore: server.loadMore,
    retry: server.retry,
    latest,
    findBest,
  }
}

function withKept(
  found: readonly StockRow[],
  kept: ReadonlySet<bigint>,
  stock: StockModel,
): readonly StockRow[] {
  if (kept.size === 0) return found
  const foundIds = new Set(found.map(({ petId }) => petId))
  const missing = [...kept].filter((petId) => !foundIds.has(petId))
  return [...found, ...missing.flatMap((petId) => stock.find(petId) ?? [])]
}

/** Searches on the server while `isActive`. The rows of the last search stay until the next one has its first page. */
function useServerSearch(isActive: boolean, filter: TableFilter, sort: Sort) {
  const { feed } = useSession()
  const [shown, show] = useState(feed.all)
  const isPlain = !isFiltering(filter) && sort.column === 'petId' && !sort.isDescending
  const wanted = useMemo(
    () => (isPlain ? feed.all : newStockSearch(feed.read, searchQueryOf(filter, sort))),
    [feed, isPlain, filter, sort],
  )
  const start = useRef(async () => {})
  const lastQuery = useRef(filter.query)
  // A layout effect, so that `settle` awaits the new search right after a `flushSync`.
  useLayoutEffect(() => {
    if (!isActive) return
    let isCancelled = false
    let loading: Promise<void> | undefined
    const load = async () => {
      loading ??= wanted === feed.all ? Promise.resolve() : wanted.reload()
      await loading
      if (!isCancelled) flushSync(() => show(wanted))
    }
    start.current = load
    const timer = setTimeout(load, filter.query === lastQuery.current ? 0 : TYPING_MS)
    lastQuery.current = filter.query
    // After a gap in the events the rows may be out of date.
    const leave = feed.events.subscribe(({ type }) => {
      if (type === 'missed' && wanted !== feed.all) void wanted.reload()
    })
    return () => {
      isCancelled = true
      clearTimeout(timer)
      leave()
    }
  }, [isActive, feed, wanted, filter.query])
  const state = useReadable(shown)
  return {
    state,
    /** The rows are still those of an earlier search. */
    isPending: isActive && shown !== wanted,
    loadMore: () => void shown.loadMore(),
    retry: () => void shown.reload(),
    /** Resolves with the pets that match the current filter. */
    settle: async () => {
      await start.current()
      return wanted.get().rows
    },
  }
}
