import { type RefObject, useEffect, useRef } from 'react'

/**
 * What was pressed goes away with the step that it led out of, and the focus with it: then this takes it, so that
 * nobody begins again at the top of the page. `step` is another one after each such step.
 */
export function useLostFocus(taker: RefObject<HTMLElement | null>, step: unknown): void {
  const last = useRef(step)
  useEffect(() => {
    if (last.current === step) return
    last.current = step
    if (document.activeElement === document.body) taker.current?.focus()
  }, [taker, step])
}
