import { Component, type ReactNode, Suspense, useEffect, useState } from 'preact/compat'
import { useSession } from '../session/session-context.ts'
import { Button } from '../ui/button.tsx'
import { loadViewsAhead, ViewNotLoaded } from './views.ts'

/** Around a view: a placeholder until it is loaded, and a message if it cannot be loaded. */
export function ViewFrame({ children }: { readonly children: ReactNode }) {
  useLoadingAhead()
  return (
    <NotLoadedBoundary>
      <Suspense fallback={<p className="muted shell__loading">Loading…</p>}>{children}</Suspense>
    </NotLoadedBoundary>
  )
}

/** Loads the other views once the first view has its data and the browser is idle. */
function useLoadingAhead(): void {
  const { stock } = useSession()
  useEffect(() => {
    const begin = () => {
      if (stock.get().phase !== 'ready') return
      unsubscribe()
      // Safari has no requestIdleCallback.
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

/** Around a lazy component: shows what to do if its files cannot be loaded. */
export class NotLoadedBoundary extends Component<{ readonly children: ReactNode }, BoundaryState> {
  override state: BoundaryState = { error: undefined }

  static override getDerivedStateFromError(error: unknown): BoundaryState {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    if (error instanceof ViewNotLoaded) return <NotLoaded />
    throw error
  }
}

/** After an upgrade of the service the files of a view are gone, so the whole page has to be loaded again. */
function NotLoaded() {
  const [isUnreachable, setUnreachable] = useState(false)
  const loadAgain = async () => {
    setUnreachable(false)
    // Reloading without a connection would lose the page.
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
      <p>The connection is lost, or the service was upgraded. Your unfinished work is kept.</p>
      {isUnreachable && <p>The service still cannot be reached.</p>}
      <Button tone="primary" onClick={() => void loadAgain()}>
        Load again
      </Button>
    </div>
  )
}
