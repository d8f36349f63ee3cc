import { flushSync, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import type { StockRow } from '../data/stock/stock-model.ts'
import { useSession } from '../session/session-context.ts'
import type { ShownRows } from './use-shown-rows.ts'

/** A browser draws this many fields without a pause. */
export const PAGE_SIZE = 100

/** The page of the table that is shown, and the way to a row on any page. */
export function usePages({ rows, latest, search, loadMore }: ShownRows) {
  const { table } = useSession()
  const { filter, sort } = useReadable(table)
  const [wanted, setPage] = useState(() => Math.max(0, pageOf(rows, table.get().active)))
  const page = Math.max(0, Math.min(wanted, Math.ceil(rows.length / PAGE_SIZE) - 1))
  const hasMore = search?.next !== undefined

  // Another filter or order starts at the top.
  const shownFor = useRef({ filter, sort })
  useLayoutEffect(() => {
    const last = shownFor.current
    shownFor.current = { filter, sort }
    if (last.filter === filter && last.sort === sort) return
    setPage(0)
    document.querySelector('.stock-view__table')?.scrollTo(0, 0)
  }, [filter, sort])

  useEffect(() => {
    if (hasMore && (page + 2) * PAGE_SIZE > rows.length) loadMore()
  }, [page, rows.length, hasMore])

  // A user who returns to the table finds the row that they came from.
  useEffect(() => {
    const { active } = table.get()
    if (active !== undefined && document.activeElement?.querySelector('.stock-table') != null)
      focusRow(active)
  }, [table])

  /** Goes to a row, or to the one that is `step` rows away, if there is one. */
  const goTo = useCallback(
    (petId: bigint, step = 0) => {
      const all = latest()
      const index = all.findIndex((row) => row.petId === petId)
      const target = index === -1 ? undefined : (all[index + step] ?? all[index])
      if (target === undefined) return
      flushSync(() => setPage(pageOf(all, target.petId)))
      focusRow(target.petId)
    },
    [latest],
  )
  return { page, setPage, hasMore, goTo }
}

export function rowId(petId: bigint): string {
  return `pet-${petId}`
}

/** The page that has this row; negative if none has. */
function pageOf(rows: readonly StockRow[], petId: bigint | undefined): number {
  return Math.floor(rows.findIndex((row) => row.petId === petId) / PAGE_SIZE)
}

/** Focuses the quantity of a row, or its name if the user may not change it. */
function focusRow(petId: bigint): void {
  const row = document.getElementById(rowId(petId))
  const field = row?.querySelector<HTMLInputElement>('.quantity-field')
  if (field == null) row?.querySelector('a')?.focus()
  else {
    field.focus()
    field.select()
  }
}
