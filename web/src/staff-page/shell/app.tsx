import { Suspense, useEffect, useRef, useSyncExternalStore } from 'preact/compat'
import { useArrival, useHash } from '../../shared/hash-navigation.ts'
import { useReadable } from '../data/observable.ts'
import type { StockModel } from '../data/stock/stock-model.ts'
import { ScanLayer } from '../scanner/scan-layer.tsx'
import { SessionContext, useSession } from '../session/session-context.ts'
import { signedIn } from '../session/signed-in.ts'
import { Confirm } from '../ui/dialog.tsx'
import { type Route, routeOf, setPlaceTitle } from '../ui/navigation.ts'
import { Toasts } from '../ui/toasts.tsx'
import { BottomBar, Header } from './navigation.tsx'
import { FailureToasts, Notices } from './notices.tsx'
import { NotLoadedBoundary, ViewFrame } from './view-frame.tsx'
import { PetView, SignIn, viewNamed } from './views.ts'

export function App() {
  const state = useReadable(signedIn)
  if (state.session === undefined) {
    return (
      <NotLoadedBoundary>
        <Suspense fallback={null}>
          <SignIn reason={state.reason} personId={state.personId} />
        </Suspense>
      </NotLoadedBoundary>
    )
  }
  return (
    <SessionContext value={state.session}>
      <Shell />
    </SessionContext>
  )
}

function Shell() {
  const { stock } = useSession()
  const hash = useHash()
  const route = routeOf(hash)
  const main = useRef<HTMLElement>(null)
  const title = useSyncExternalStore(stock.subscribe, () => titleOf(route, stock))
  useLeavingWarning()
  useEffect(() => setPlaceTitle(title), [title])
  // Another query is the same view.
  useArrival(hash.split('?')[0] ?? '', `${title} · Petstore`, main)
  const current = route.petId === undefined ? viewNamed(route.view) : viewNamed('stock')
  return (
    <div className="shell">
      {/* A button, because a link would replace the route in the address. */}
      <button type="button" className="skip-link" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <Header current={current} />
      <Notices />
      <main ref={main} className="shell__main" tabIndex={-1}>
        <ViewFrame key={route.petId === undefined ? current.name : 'pet'}>
          {route.petId === undefined ? (
            <current.Content />
          ) : (
            <PetView key={String(route.petId)} petId={route.petId} />
          )}
        </ViewFrame>
      </main>
      <FailureToasts />
      <Toasts />
      <BottomBar current={current} />
      <Confirm />
      <ScanLayer />
    </div>
  )
}

function titleOf({ view, petId }: Route, stock: StockModel): string {
  if (petId === undefined) return viewNamed(view).title
  return stock.nameOf(petId)
}

/** Asks before the page is closed while a change is being sent: a change that still waits would be lost. */
function useLeavingWarning(): void {
  const { editor, bulk, orderActions, webhooks } = useSession()
  useEffect(() => {
    const isSending = () =>
      editor.isSaving() || bulk.isRunning() || orderActions.isWorking() || webhooks.isWorking()
    const warn = (event: BeforeUnloadEvent) => {
      if (isSending()) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [editor, bulk, orderActions, webhooks])
}
