import { type RefObject, useEffect, useLayoutEffect, useRef, useSyncExternalStore } from 'react'

/** The part of the address that names the view. */
export function useHash(): string {
  return useSyncExternalStore(onHashChange, () => location.hash)
}

/**
 * Another view begins at its top, and with its own title; for a screen reader it is where the focus is. Before the
 * effects of the view itself, which may have a better place for it.
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
