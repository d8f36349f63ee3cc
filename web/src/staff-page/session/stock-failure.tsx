import { RetryNotice } from '../ui/notices.tsx'
import { useSession, useStock } from './session-context.ts'

/** For a view that has nothing to show, since the stock could not be read. */
export function StockFailure() {
  const { feed } = useSession()
  const { failure } = useStock()
  return (
    <RetryNotice tone="negative" onRetry={() => void feed.reload()}>
      {failure ?? 'The stock could not be read.'}
    </RetryNotice>
  )
}
