import { useSession, useStock } from './session/session-context.ts'

/** For a view that has nothing to show, since the stock could not be read. */
export function StockFailure() {
  const { feed } = useSession()
  const { failure } = useStock()
  return (
    <div className="notice notice--negative" role="alert">
      {failure ?? 'The stock could not be read.'}
      <button type="button" className="button button--small" onClick={() => void feed.reload()}>
        Try again
      </button>
    </div>
  )
}
