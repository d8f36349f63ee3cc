import { Component, type ReactNode, Suspense, useEffect, useState } from 'react'
import { useSession } from '../session/session-context.ts'
import { loadViewsAhead, ViewNotLoaded } from './views.ts'

/** Around a view: what is shown until it is loaded, and where it cannot be. */
export function ViewFrame({ children }: { readonly children: ReactNode }) {
  useLoadingAhead()
  return (
    <NotLoadedBoundary>
      <Suspense fallback={<p className="muted shell__loading">Loading…</p>}>{children}</Suspense>
    </NotLoadedBoundary>
  )
}

/** Once the first view has what it shows, and the browser has nothing else to do. */
function useLoadingAhead(): void {
  const { stock } = useSession()
  useEffect(() => {
    const begin = () => {
      if (stock.get().phase !== 'ready') return
      unsubscribe()
      // Not every browser tells when it is idle.
      if (typeof requestIdleCallback === 'function') requestIdleCallback(() => void loadViewsAhead())
      else setTimeout(() => void loadViewsAhead(), 1_000)
    }
    const unsubscribe = stock.subscribe(begin)
    begin()
    return unsubscribe
  }, [stock])
}

interface BoundaryState {
  readonly error: unknown
}

class NotLoadedBoundary extends Component<{ readonly children: ReactNode }, BoundaryState> {
  override state: BoundaryState = { error: undefined }

  static getDerivedStateFromError(error: unknown): BoundaryState {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    if (error instanceof ViewNotLoaded) return <NotLoaded />
    throw error
  }
}

/** The files of a view are gone with the program that they belong to, so the whole page is loaded again. */
function NotLoaded() {
  const [isUnreachable, setUnreachable] = useState(false)
  const loadAgain = async () => {
    setUnreachable(false)
    // Without an answer there would be nothing left to look at, nor to go on with.
    const isThere = await fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isThere) location.reload()
    else setUnreachable(true)
  }
  return (
    <div className="empty" role="alert">
      <p className="empty__title">This view could not be loaded</p>
      <p>The connection is gone, or the program was upgraded meanwhile. What you have under way is kept.</p>
      {isUnreachable && <p>The service still cannot be reached.</p>}
      <button type="button" className="button button--primary" onClick={() => void loadAgain()}>
        Load again
      </button>
    </div>
  )
}
