import { useEffect, useRef, useSyncExternalStore } from 'react'
import { useArrival, useHash } from '../../shared/hash-navigation.ts'
import { useReadable } from '../data/observable.ts'
import type { StockModel } from '../data/stock/stock-model.ts'
import { SessionContext, useSession } from '../session/session-context.ts'
import { SignIn } from '../session/sign-in.tsx'
import { signedIn } from '../session/signed-in.ts'
import { Confirm } from '../ui/confirm.tsx'
import { type Route, routeOf } from '../ui/navigation.ts'
import { Toasts } from '../ui/toasts.tsx'
import { FailureToasts } from './failure-toasts.tsx'
import { Header } from './header.tsx'
import { Notices } from './notices.tsx'
import { ViewFrame } from './view-frame.tsx'
import { PetView, VIEWS } from './views.ts'

export function App() {
  const state = useReadable(signedIn)
  if (state.session === undefined) return <SignIn reason={state.reason} personId={state.personId} />
  return (
    <SessionContext value={state.session}>
      <Shell />
    </SessionContext>
  )
}

/** Asks before the page is left while a change is on its way: it would be lost where it still waits. */
function useLeavingWarning(): void {
  const { editor, bulk, orderActions, webhooks } = useSession()
  useEffect(() => {
    const isAtWork = () =>
      editor.isSaving() || bulk.isRunning() || orderActions.isWorking() || webhooks.isWorking()
    const warn = (event: BeforeUnloadEvent) => {
      if (isAtWork()) event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [editor, bulk, orderActions, webhooks])
}

function Shell() {
  const { stock } = useSession()
  const hash = useHash()
  const route = routeOf(hash)
  const main = useRef<HTMLElement>(null)
  const title = useSyncExternalStore(stock.subscribe, () => titleOf(route, stock))
  useLeavingWarning()
  // Another query is the same view.
  useArrival(hash.split('?')[0] ?? '', `${title} · Petstore`, main)
  return (
    <div className="shell">
      {/* A button, since the address holds the route: a link could not put its target there. */}
      <button type="button" className="skip-link" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <Header current={route.view} />
      <Notices />
      <main ref={main} className="shell__main" tabIndex={-1}>
        <ViewFrame key={route.view}>
          <Content route={route} />
        </ViewFrame>
      </main>
      <FailureToasts />
      <Toasts />
      <Confirm />
    </div>
  )
}

function Content({ route }: { readonly route: Route }) {
  if (route.view === 'pet') return <PetView key={String(route.petId)} petId={route.petId} />
  const { Content: View } = VIEWS[route.view]
  return <View />
}

function titleOf(route: Route, stock: StockModel): string {
  if (route.view === 'pet') return stock.find(route.petId)?.name ?? `Pet ${route.petId}`
  return VIEWS[route.view].title
}
