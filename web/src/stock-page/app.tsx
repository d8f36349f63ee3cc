import { useEffect, useRef, useSyncExternalStore } from 'react'
import { useArrival, useHash } from '../both-pages/hash-navigation.ts'
import { Header } from './header.tsx'
import { type Route, routeOf } from './navigation.ts'
import { Notices } from './notices.tsx'
import { Overview } from './overview/overview.tsx'
import { PetView } from './pet/pet-view.tsx'
import { SessionContext, useSession } from './session/session-context.ts'
import { SignIn } from './session/sign-in.tsx'
import { signedIn } from './session/signed-in.ts'
import { useReadable } from './stock/observable.ts'
import type { StockModel } from './stock/stock-model.ts'
import { FailureToasts } from './table/failure-toasts.tsx'
import { StockView } from './table/stock-view.tsx'
import { Toasts } from './toasts.tsx'

export function App() {
  const state = useReadable(signedIn)
  if (state.session === undefined) return <SignIn reason={state.reason} />
  return (
    <SessionContext value={state.session}>
      <Shell />
    </SessionContext>
  )
}

/** Asks before the page is left while a change is on its way: it would be lost where it still waits. */
function useLeavingWarning(): void {
  const { editor, bulk } = useSession()
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (editor.isSaving() || bulk.isRunning()) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [editor, bulk])
}

function Shell() {
  const { stock } = useSession()
  const hash = useHash()
  const route = routeOf(hash)
  const main = useRef<HTMLElement>(null)
  const title = useSyncExternalStore(stock.subscribe, () => titleOf(route, stock))
  useLeavingWarning()
  useArrival(hash, `${title} · Petstore`, main)
  return (
    <div className="shell">
      {/* A button, since the address holds the route: a link could not put its target there. */}
      <button type="button" className="skip-link" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <Header current={route.view} />
      <Notices />
      <main ref={main} className="shell__main" tabIndex={-1}>
        {route.view === 'stock' && <StockView />}
        {route.view === 'overview' && <Overview />}
        {route.view === 'pet' && <PetView key={String(route.petId)} petId={route.petId} />}
      </main>
      <FailureToasts />
      <Toasts />
    </div>
  )
}

function titleOf(route: Route, stock: StockModel): string {
  if (route.view === 'pet') return stock.find(route.petId)?.name ?? `Pet ${route.petId}`
  return route.view === 'stock' ? 'Stock' : 'Overview'
}
