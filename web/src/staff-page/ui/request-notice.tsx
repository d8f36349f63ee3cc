import { useEffect, useState } from 'react'
import { Icon } from '../../design/icon.tsx'
import type { RequestState } from '../data/request-watch.ts'

/** What the answers of the service said: that the limit is reached, or that it cannot do its work. */
export function RequestNotice({ state }: { readonly state: RequestState }) {
  const { throttledUntil, isUnavailable, isUnreachable } = state
  return (
    <>
      {throttledUntil !== undefined && <Countdown until={throttledUntil} />}
      {isUnavailable && !isUnreachable && (
        <div className="notice notice--caution">
          <Icon name="warning" />
          <span>The service cannot do its work at the moment (503). The page keeps trying.</span>
        </div>
      )}
    </>
  )
}

function Countdown({ until }: { readonly until: number }) {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 250)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  return (
    <div className="notice notice--caution">
      <Icon name="warning" />
      <span>The limit of this key is reached. Requests wait and go on by themselves.</span>
      {/* Read out once, not every second. */}
      <strong className="number" aria-hidden="true">
        {inWords(seconds)}
      </strong>
    </div>
  )
}

function inWords(seconds: number): string {
  if (seconds < 60) return `Goes on in ${seconds} s`
  if (seconds < 3600) return `Goes on in ${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `Goes on in ${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}
