import { type RefObject, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'preact/compat'

/** The part of the address that names the view. */
export function useHash(): string {
  return useSyncExternalStore(onHashChange, () => location.hash)
}

/**
 * Scrolls a new view to its top, sets the title and focuses the view for screen readers. It runs before the effects of
 * the view itself, which may move the focus.
 */
export function useArrival(hash: string, title: string, main: RefObject<HTMLElement | null>): void {
  const last = useRef(hash)
  useEffect(() => {
    document.title = title
  }, [title])
  useLayoutEffect(() => {
    if (last.current === hash) return
    last.current = hash
    scrollTo(0, 0)
    main.current?.scrollTo(0, 0)
    main.current?.focus({ preventScroll: true })
  }, [hash, main])
}

function onHashChange(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}
