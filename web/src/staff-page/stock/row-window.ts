import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { ScrollScale } from './scroll-scale.ts'

/** Rows drawn beyond each edge, so that quick scrolling does not show gaps. */
const BEYOND = 8
/** What is drawn before the height is known. */
const FIRST_GUESS_PX = 900

interface RowWindow {
  /** Which rows to draw: from `first` up to, but without, `end`. */
  readonly first: number
  readonly end: number
  /** At most so many are drawn at a time. */
  readonly most: number
  /** The first that is in sight, and how many fit on the screen. */
  readonly top: number
  readonly fitting: number
  /** Of all rows, as far as the browser is concerned. */
  readonly height: number
  /** Where in it a row stands. */
  readonly topOf: (index: number) => number
  /** Scrolls just as far as it takes to see this row. */
  readonly reveal: (index: number) => void
}

interface Rows {
  readonly count: number
  readonly rowHeight: number
  /** Of the header that stays above them. */
  readonly headerHeight: number
  /** What is around the table scrolls, and not the table itself. */
  readonly scrollsPage: boolean
}

/** Tells which rows, all of one height, are in sight of what scrolls them, below their sticky header. */
export function useRowWindow(table: RefObject<HTMLElement | null>, rows: Rows): RowWindow {
  const { count, rowHeight, headerHeight, scrollsPage } = rows
  const [view, setView] = useState({ top: 0, shift: 0, height: FIRST_GUESS_PX })
  const place = useRef({ scrollTop: 0, shift: 0 })
  const room = Math.max(rowHeight, view.height - headerHeight)
  const scale = useMemo(() => new ScrollScale(count * rowHeight, room), [count, rowHeight, room])

  const scroller = useCallback(
    () => (scrollsPage ? table.current?.closest<HTMLElement>('main') : table.current) ?? undefined,
    [table, scrollsPage],
  )

  const look = useCallback(() => {
    const element = scroller()
    if (element === undefined) return
    const height = element.clientHeight
    const before = distance(element, table.current)
    const scrollTop = element.scrollTop - before
    // Above the first row nothing is scaled.
    place.current = scrollTop <= 0 ? { scrollTop, shift: 0 } : scale.follow(place.current, scrollTop)
    if (place.current.scrollTop !== scrollTop) element.scrollTop = before + place.current.scrollTop
    const { shift } = place.current
    // In steps of whole rows: within one nothing is to be drawn anew.
    const top = Math.max(0, Math.floor((place.current.scrollTop + shift) / rowHeight))
    setView((last) =>
      last.top === top && last.shift === shift && last.height === height ? last : { top, shift, height },
    )
  }, [table, scroller, rowHeight, scale])

  useLayoutEffect(look, [look])

  useEffect(() => {
    const element = scroller()
    if (element === undefined) return
    const resize = new ResizeObserver(look)
    resize.observe(element)
    element.addEventListener('scroll', look, { passive: true })
    return () => {
      resize.disconnect()
      element.removeEventListener('scroll', look)
    }
  }, [scroller, look])

  const reveal = useCallback(
    (index: number) => {
      const element = scroller()
      if (element === undefined) return
      const seen = place.current.scrollTop + place.current.shift
      const top = index * rowHeight
      const wanted = top < seen ? top : Math.max(seen, top + rowHeight - room)
      if (wanted === seen) return
      place.current = scale.placeOf(wanted)
      element.scrollTop = distance(element, table.current) + place.current.scrollTop
      look()
    },
    [table, scroller, rowHeight, room, scale, look],
  )

  const fitting = Math.max(1, Math.floor(room / rowHeight))
  const top = Math.max(0, Math.min(view.top, count - fitting))
  const first = Math.max(0, top - BEYOND)
  const end = Math.min(count, view.top + fitting + 1 + BEYOND)
  const topOf = (index: number) => index * rowHeight - view.shift
  return { first, end, most: fitting + 2 * BEYOND + 2, top, fitting, height: scale.height, topOf, reveal }
}

/** How far down in what scrolls the table begins. */
function distance(scroller: HTMLElement, table: HTMLElement | null): number {
  if (table === null || scroller === table) return 0
  return scroller.scrollTop + table.getBoundingClientRect().top - scroller.getBoundingClientRect().top
}
