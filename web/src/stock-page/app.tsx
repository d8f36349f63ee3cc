import { useEffect } from 'react'
import { Header } from './header.tsx'
import { useRoute } from './navigation.ts'
import { Notices } from './notices.tsx'
import { Overview } from './overview/overview.tsx'
import { PetView } from './pet/pet-view.tsx'
import { SessionContext, useSession } from './session/session-context.ts'
import { SignIn } from './session/sign-in.tsx'
import { signedIn } from './session/signed-in.ts'
import { useReadable } from './stock/observable.ts'
import { StockView } from './table/stock-view.tsx'
import { Toasts } from './toasts.tsx'

const TITLES = { stock: 'Stock', overview: 'Overview', pet: 'Pet' } as const

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
      const isSaving = [...editor.get().values()].some(({ kind }) => kind === 'saving')
      const phase = bulk.get()?.phase
      if (isSaving || phase === 'running' || phase === 'stopping') event.preventDefault()
    }
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [editor, bulk])
}

function Shell() {
  const route = useRoute()
  useLeavingWarning()
  useEffect(() => {
    document.title = `${TITLES[route.view]} · Petstore`
  }, [route.view])
  return (
    <div className="shell">
      <button type="button" className="skip-link" onClick={skipToMain}>
        Skip to the content
      </button>
      <Header current={route.view} />
      <Notices />
      <main id="main" className="shell__main" tabIndex={-1}>
        {route.view === 'stock' && <StockView />}
        {route.view === 'overview' && <Overview />}
        {route.view === 'pet' && <PetView key={String(route.petId)} petId={route.petId} />}
      </main>
      <Toasts />
    </div>
  )
}

/** A button, since the address holds the route: a link could not put its target there. */
function skipToMain(): void {
  document.getElementById('main')?.focus()
}
