import type { ReactNode } from 'react'

interface RetryNoticeProps {
  readonly tone: 'caution' | 'negative'
  readonly onRetry: () => void
  readonly children: ReactNode
}

/** Says what could not be had, and offers to ask for it once more. */
export function RetryNotice({ tone, onRetry, children }: RetryNoticeProps) {
  return (
    <div className={`notice notice--${tone}`} role="alert">
      {children}
      <button type="button" className="button button--small" onClick={onRetry}>
        Try again
      </button>
    </div>
  )
}
