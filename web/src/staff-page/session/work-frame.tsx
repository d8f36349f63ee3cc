import type { ReactNode } from 'preact/compat'
import { useReadable } from '../data/observable.ts'
import { Empty } from '../ui/list-frame.tsx'
import { RetryNotice } from '../ui/notices.tsx'
import type { KeyOwner, Session } from './session.ts'
import { useMayChange, useSession, useStock } from './session-context.ts'

/** Shows work that changes the stock once the stock and the owner of the key are known. */
export function WorkFrame({ children }: { readonly children: (owner: KeyOwner) => ReactNode }) {
  const owner = useReadable(useSession().owner)
  const mayChange = useMayChange('stock')
  const { phase, rows } = useStock()
  if (!mayChange) {
    return (
      <Empty title="This key may not change the stock">
        <p>Sign in with one that may.</p>
      </Empty>
    )
  }
  if (phase === 'failed' && rows.length === 0) return <StockFailure />
  if (owner === undefined || (phase === 'loading' && rows.length === 0)) {
    return (
      <div role="status">
        <span className="visually-hidden">Loading the stock</span>
        <span className="skeleton" />
      </div>
    )
  }
  return children(owner)
}

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

/** Creates a value once for each session, so that it lives on while another view is shown. */
export function perSession<Value, Rest extends readonly unknown[]>(
  create: (session: Session, ...rest: Rest) => Value,
): (session: Session, ...rest: Rest) => Value {
  const values = new WeakMap<Session, Value>()
  return (session, ...rest) => {
    const value = values.get(session) ?? create(session, ...rest)
    values.set(session, value)
    return value
  }
}
