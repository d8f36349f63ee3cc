import type { ReactNode } from 'preact/compat'
import { Icon } from '../../design/icon.tsx'
import type { RequestState } from '../data/request-watch.ts'
import { Button } from './button.tsx'
import { useNow } from './hooks.ts'

interface RetryNoticeProps {
  readonly tone: 'caution' | 'negative'
  readonly onRetry: () => void
  /** Nothing is shown without it. */
  readonly children: ReactNode
}

/** Says what could not be loaded, with a button that tries again. */
export function RetryNotice({ tone, onRetry, children }: RetryNoticeProps) {
  if (children === undefined) return null
  return (
    <div className={`notice notice--${tone}`} role="alert">
      {children}
      <Button size="small" onClick={onRetry}>
        Try again
      </Button>
    </div>
  )
}

/** Says that requests wait because the limit is reached, or that the service is out of order. */
export function RequestNotice({ state }: { readonly state: RequestState }) {
  const { throttledUntil, isUnavailable, isUnreachable } = state
  return (
    <>
      {throttledUntil !== undefined && <Countdown until={throttledUntil} />}
      {isUnavailable && !isUnreachable && (
        <div className="notice notice--caution">
          <Icon name="warning" />
          <span>The service cannot do its work at the moment. The page keeps trying.</span>
        </div>
      )}
    </>
  )
}

function Countdown({ until }: { readonly until: number }) {
  const now = useNow(250)
  const seconds = Math.max(0, Math.ceil((until - now) / 1000))
  return (
    <div className="notice notice--caution">
      <Icon name="warning" />
      <span>The limit of this key is reached. Requests wait and continue by themselves.</span>
      {/* Screen readers would read it every second. */}
      <strong className="number" aria-hidden="true">
        {countdownWords(seconds)}
      </strong>
    </div>
  )
}

function countdownWords(seconds: number): string {
  if (seconds < 60) return `Continues in ${seconds} s`
  if (seconds < 3600) return `Continues in ${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return `Continues in ${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`
}
