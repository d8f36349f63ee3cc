import { type RefObject, useCallback, useEffect, useLayoutEffect, useState } from 'preact/compat'

/** Rows rendered beyond each edge, so that quick scrolling does not show gaps. */
const OVERSCAN = 8
/** Used until the height is measured. */
const FIRST_HEIGHT_PX = 900

interface Rows {
  readonly count: number
  readonly rowHeight: number
  /** The height of the sticky header. */
  readonly headerHeight: number
  /** The view scrolls, and not the table itself. */
  readonly scrollsPage: boolean
}

/**
 * Computes which rows, all of the same height, are visible: `top` is the first, and `fitting` is how many fit. Renders
 * the rows from `first` up to, but without, `end`, and never more than `most`.
 */
export function useRowWindow(table: RefObject<HTMLElement | null>, rows: Rows) {
  const { count, rowHeight, headerHeight, scrollsPage } = rows
  const [view, setView] = useState({ top: 0, height: FIRST_HEIGHT_PX })
  const room = Math.max(rowHeight, view.height - headerHeight)

  const scroller = useCallback(
    () => (scrollsPage ? table.current?.closest<HTMLElement>('main') : table.current) ?? undefined,
    [table, scrollsPage],
  )
  const measure = useCallback(() => {
    const element = scroller()
    if (element === undefined) return
    const height = element.clientHeight
    // In steps of whole rows: within a step nothing has to be rendered again.
    const top = Math.max(0, Math.floor((element.scrollTop - offsetOf(element, table.current)) / rowHeight))
    setView((last) => (last.top === top && last.height === height ? last : { top, height }))
  }, [table, scroller, rowHeight])

  useLayoutEffect(measure, [measure])

  useEffect(() => {
    const element = scroller()
    if (element === undefined) return
    const resize = new ResizeObserver(measure)
    resize.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    return () => {
      resize.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [scroller, measure])

  /** Scrolls just far enough to show this row. */
  const reveal = useCallback(
    (index: number) => {
      const element = scroller()
      if (element === undefined) return
      const offset = offsetOf(element, table.current)
      const seen = element.scrollTop - offset
      const top = index * rowHeight
      const wanted = top < seen ? top : Math.max(seen, top + rowHeight - room)
      if (wanted === seen) return
      element.scrollTop = offset + wanted
      measure()
    },
    [table, scroller, rowHeight, room, measure],
  )

  const fitting = Math.max(1, Math.floor(room / rowHeight))
  const top = Math.max(0, Math.min(view.top, count - fitting))
  const first = Math.max(0, top - OVERSCAN)
  const end = Math.min(count, view.top + fitting + 1 + OVERSCAN)
  return { first, end, most: fitting + 2 * OVERSCAN + 2, top, fitting, reveal }
}

/** How far below the top of the scrolled content the table begins. */
function offsetOf(scroller: HTMLElement, table: HTMLElement | null): number {
  if (table === null || scroller === table) return 0
  return scroller.scrollTop + table.getBoundingClientRect().top - scroller.getBoundingClientRect().top
}
