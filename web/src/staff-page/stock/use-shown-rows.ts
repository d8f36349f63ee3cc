import { startTransition, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import type { TableFilter } from '../data/stock/table-state.ts'
import { useSession, useStock } from '../session/session-context.ts'
import { KeptRows } from './kept-rows.ts'
import { VisibleRows, type Wanted } from './visible-rows.ts'

export interface ShownRows {
  readonly rows: readonly StockRow[]
  readonly wanted: Wanted
  /** What is shown now, for whatever happens between two drawings. */
  readonly latest: () => { readonly rows: readonly StockRow[]; readonly wanted: Wanted }
  /** Shows at once what is searched for by now: a key that comes before the rows have followed is meant for those. */
  readonly settle: () => void
}

/** The rows of the table, in their order. `edited` is the one that is being typed into. */
export function useShownRows(edited: bigint | undefined): ShownRows {
  const session = useSession()
  const stock = useStock()
  const { sort } = useReadable(session.table)
  const edits = useReadable(session.editor)
  const categories = useReadable(session.categories)
  const [filter, settle] = useAppliedFilter()
  const [visible, keptRows] = useMemo(() => [new VisibleRows(), new KeptRows()] as const, [])
  const kept = keptRows.of(edits, edited, filter)
  const scanned = session.stock.barcodes.find(filter.query.trim())
  const wanted = { filter, sort, categories, scanned, kept }
  const rows = visible.of(stock, wanted)
  const current = useRef({ rows, wanted })
  useLayoutEffect(() => {
    current.current = { rows, wanted }
  })
  const latest = useCallback(() => current.current, [])
  return { rows, wanted, latest, settle }
}

/** The filter as the rows follow it: typing goes on while a long list is searched. */
function useAppliedFilter(): readonly [TableFilter, () => void] {
  const { table } = useSession()
  const { filter } = useReadable(table)
  const [applied, apply] = useState(filter)
  const shown = useRef(applied)
  // Not while drawing: what is drawn in a transition may never be shown.
  useLayoutEffect(() => {
    shown.current = applied
  })
  useEffect(() => startTransition(() => apply(filter)), [filter])
  const settle = useCallback(() => {
    const { filter: wanted } = table.get()
    if (shown.current !== wanted) flushSync(() => apply(wanted))
  }, [table])
  return [applied, settle]
}
