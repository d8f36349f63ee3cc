import { type RefObject, useCallback, useEffect, useLayoutEffect, useState } from 'react'

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
  /** How many fit on the screen. */
  readonly fitting: number
  /** Scrolls just as far as it takes to see this row. */
  readonly reveal: (index: number) => void
}

/** Tells which of `count` rows of one height are in sight of the scrolling element, below its sticky header. */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
  headerHeight: number,
): RowWindow {
  const [view, setView] = useState({ top: 0, height: FIRST_GUESS_PX })

  const look = useCallback(() => {
    const element = scroller.current
    if (element === null) return
    // In steps of whole rows: within one nothing is to be drawn anew.
    const top = Math.floor(element.scrollTop / rowHeight)
    const height = element.clientHeight
    setView((before) => (before.top === top && before.height === height ? before : { top, height }))
  }, [scroller, rowHeight])

  useLayoutEffect(look, [look])

  useEffect(() => {
    const element = scroller.current
    if (element === null) return
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
      const element = scroller.current
      if (element === null) return
      const top = index * rowHeight
      const room = element.clientHeight - headerHeight
      if (top < element.scrollTop) element.scrollTop = top
      else if (top + rowHeight > element.scrollTop + room) element.scrollTop = top + rowHeight - room
    },
    [scroller, rowHeight, headerHeight],
  )

  const fitting = Math.max(1, Math.floor((view.height - headerHeight) / rowHeight))
  const first = Math.max(0, Math.min(view.top, count - fitting) - BEYOND)
  const end = Math.min(count, view.top + fitting + 1 + BEYOND)
  return { first, end, most: fitting + 2 * BEYOND + 2, fitting, reveal }
}
