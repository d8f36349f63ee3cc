import { useEffect, useState } from 'react'
import { Icon } from '../design/icon.tsx'
import type { RequestState } from './session/request-watch.ts'
import { useRequestState, useSession, useStock } from './session/session-context.ts'
import { WebhookNotice } from './webhooks/webhook-notice.tsx'

/** What keeps the page from working at the moment, and when or how it goes on. */
export function Notices() {
  const { feed } = useSession()
  const { connection } = useStock()
  const requests = useRequestState()
  return (
    <div className="notices" role="status">
      <RequestNotice state={requests} />
      {(connection === 'lost' || requests.isUnreachable) && (
        <div className="notice notice--negative">
          <Icon name="warning" />
          <span className="notices__text">
            Connection lost. What you see may be out of date; the page reconnects by itself.
          </span>
          <button type="button" className="button button--small" onClick={feed.reconnectNow}>
            Reconnect now
          </button>
        </div>
      )}
      <WebhookNotice />
    </div>
  )
}

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
