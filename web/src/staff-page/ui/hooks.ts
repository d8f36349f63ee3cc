import {
  flushSync,
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'preact/compat'

/** The time, renewed every `everyMs` while the page is visible. `clock` is this machine's unless another is given. */
export function useNow(everyMs: number, clock: () => number = Date.now): number {
  const [now, setNow] = useState(clock)
  useEffect(() => {
    const tick = () => {
      if (document.visibilityState === 'visible') setNow(clock())
    }
    const timer = setInterval(tick, everyMs)
    document.addEventListener('visibilitychange', tick)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [everyMs, clock])
  return now
}

export function useMediaQuery(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = matchMedia(query)
      list.addEventListener('change', listener)
      return () => list.removeEventListener('change', listener)
    },
    [query],
  )
  return useSyncExternalStore(subscribe, () => matchMedia(query).matches)
}

/** Whether the page is being printed. */
export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    // The browser prints the page as it is when this handler returns.
    const begin = () => flushSync(() => setPrinting(true))
    const end = () => setPrinting(false)
    addEventListener('beforeprint', begin)
    addEventListener('afterprint', end)
    return () => {
      removeEventListener('beforeprint', begin)
      removeEventListener('afterprint', end)
    }
  }, [])
  return isPrinting
}

/** The value, once it has not changed for `ms`. */
export function useDebounced<Value>(value: Value, ms: number): Value {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

/**
 * Focuses `target` if the step before ended with the focus on an element that is gone, so that keyboard users do not
 * start again at the top of the page. `step` differs after each step.
 */
export function useLostFocus(target: RefObject<HTMLElement | null>, step: unknown): void {
  const last = useRef(step)
  useEffect(() => {
    if (last.current === step) return
    last.current = step
    if (document.activeElement === document.body) target.current?.focus()
  }, [target, step])
}

/** Whether a key that is pressed there is text rather than a shortcut. A field can allow shortcuts until it has text. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.matches('input:not([type=checkbox], [data-shortcuts]), select, textarea')
  )
}
