import type { ReactNode } from 'react'
import { useReadable } from '../data/observable.ts'
import type { KeyOwner } from './session.ts'
import { useMayChange, useSession, useStock } from './session-context.ts'
import { StockFailure } from './stock-failure.tsx'

/** Around work that changes the stock and is kept for the owner of the key: what has to be there before it can go on. */
export function WorkFrame({ children }: { readonly children: (owner: KeyOwner) => ReactNode }) {
  const owner = useReadable(useSession().owner)
  const mayChange = useMayChange('stock')
  const { phase, rows } = useStock()
  if (!mayChange) {
    return (
      <div className="empty">
        <p className="empty__title">This key may not change the stock</p>
        <p>Sign in with one that may.</p>
      </div>
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
