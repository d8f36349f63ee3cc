import { useEffect, useState } from 'preact/compat'

/** Whole seconds until a moment, counting down to 0. */
export function useSecondsUntil(moment: number | undefined): number {
  const [seconds, setSeconds] = useState(() => secondsUntil(moment))
  useEffect(() => {
    setSeconds(secondsUntil(moment))
    if (secondsUntil(moment) === 0) return
    const timer = setInterval(() => {
      const left = secondsUntil(moment)
      setSeconds(left)
      if (left === 0) clearInterval(timer)
    }, 250)
    return () => clearInterval(timer)
  }, [moment])
  return seconds
}

function secondsUntil(moment: number | undefined): number {
  return moment === undefined ? 0 : Math.max(0, Math.ceil((moment - Date.now()) / 1000))
}
