import { useEffect, useState } from 'react'

/**
 * The time, anew as often as asked for while the page is visible: words such as "a minute ago" stay true. `clock` is
 * this machine's unless another is given.
 */
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
