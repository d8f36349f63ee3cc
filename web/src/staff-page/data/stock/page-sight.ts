/** Whoever only glances at another tab does not cost a new connection. */
const REST_AFTER_MS = 2_000

interface Sight {
  /** The page has been out of sight for a while, or has been opened there. */
  readonly rest: () => void
  /** The page is in sight again. */
  readonly wake: () => void
  readonly signal: AbortSignal
}

/** Tells when nobody looks at the page. */
export function followSight({ rest, wake, signal }: Sight): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    clearTimeout(timer)
    if (document.visibilityState === 'visible') wake()
    else timer = setTimeout(rest, REST_AFTER_MS)
  }
  if (document.visibilityState === 'hidden') rest()
  document.addEventListener('visibilitychange', look, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
}
