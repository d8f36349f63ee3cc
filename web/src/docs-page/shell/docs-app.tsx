import { useCallback, useEffect, useRef, useState } from 'preact/compat'
import { Brand } from '../../design/brand.tsx'
import { ThemeSwitch } from '../../design/theme-switch.tsx'
import { useArrival, useHash } from '../../shared/hash-navigation.ts'
import type { Contract } from '../contract.ts'
import { ContractContext, useContract, useContractState } from '../contract-context.tsx'
import { GUIDES } from '../guides/guide-list.ts'
import { GuidePage } from '../guides/guide-page.tsx'
import { PageContext, usePartArrival } from '../page-parts.tsx'
import { href, type PageRoute, readRoute } from '../page-route.ts'
import { OperationPage } from '../reference/operation-page.tsx'
import { SchemaPage } from '../reference/schema-page.tsx'
import { Navigation } from './navigation.tsx'
import { StartPage } from './start-page.tsx'

export function DocsApp() {
  const state = useContractState()
  if (state.phase === 'ready') {
    return (
      <ContractContext value={state.contract}>
        <Docs contract={state.contract} />
      </ContractContext>
    )
  }
  return (
    <>
      <TopBar />
      <main className="docs-main">
        {state.phase === 'loading' ? (
          <p className="prose muted" role="status" aria-busy="true">
            The reference is loading.
          </p>
        ) : (
          <div className="empty" role="alert">
            <h1 className="empty__title">The reference cannot be shown</h1>
            <p>It needs /openapi.json, but {state.reason}. Check that the service runs, then try again.</p>
            <button type="button" className="button button--primary" onClick={state.reload}>
              Try again
            </button>
          </div>
        )}
      </main>
    </>
  )
}

function Docs({ contract }: { readonly contract: Contract }) {
  const hash = useHash()
  const route = readRoute(hash)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const closeMenu = useCallback(() => setMenuOpen(false), [])
  const searchField = useRef<HTMLInputElement>(null)
  const main = useRef<HTMLElement>(null)
  const search = useCallback(() => {
    setMenuOpen(true)
    searchField.current?.focus()
    // On a small screen, the menu appears first.
    requestAnimationFrame(() => searchField.current?.focus())
  }, [])
  useArrival(hash, titleOf(contract, route), main)
  usePartArrival(hash)
  useShortcuts(search, closeMenu)
  return (
    <>
      <a className="skip-link" href={hash === '' ? '#/' : hash} onClick={() => main.current?.focus()}>
        Skip to the content
      </a>
      <TopBar menu={{ isOpen: isMenuOpen, onToggle: () => setMenuOpen(!isMenuOpen) }} />
      <div className="docs-layout">
        {isMenuOpen && (
          <button type="button" className="docs-shade" aria-label="Close the menu" onClick={closeMenu} />
        )}
        <div id="docs-menu" className={isMenuOpen ? 'docs-side docs-side--open' : 'docs-side'}>
          <Navigation current={route} searchField={searchField} onChoose={closeMenu} />
        </div>
        <main ref={main} className="docs-main" tabIndex={-1}>
          <PageContext value={route ?? { page: 'start' }}>
            <PageContent route={route} />
          </PageContext>
        </main>
      </div>
    </>
  )
}

/** `/` and Ctrl+K move the focus to the search, Escape closes the menu. */
function useShortcuts(search: () => void, closeMenu: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select') !== null
      const isSearch =
        (event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))
      if (event.key === 'Escape') closeMenu()
      if (!isSearch) return
      event.preventDefault()
      search()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [search, closeMenu])
}

function PageContent({ route }: { readonly route: PageRoute | undefined }) {
  const contract = useContract()
  switch (route?.page) {
    case undefined:
      return <NothingHere />
    case 'start':
      return <StartPage />
    case 'guide': {
      const guide = GUIDES.find(({ id }) => id === route.id)
      return guide === undefined ? <NothingHere /> : <GuidePage guide={guide} />
    }
    case 'schema': {
      const schema = contract.schemas.get(route.id)
      return schema === undefined ? <NothingHere /> : <SchemaPage name={route.id} schema={schema} />
    }
    case 'operation': {
      const operation = contract.operation(route.id)
      if (operation === undefined) return <NothingHere />
      return <OperationPage key={operation.id} operation={operation} />
    }
  }
}

function NothingHere() {
  return (
    <div className="empty">
      <h1 className="empty__title">There is nothing at this address</h1>
      <p>The address may be mistyped, or the operation has another name now.</p>
      <a className="button" href={href({ page: 'start' })}>
        Go to the start
      </a>
    </div>
  )
}

function titleOf(contract: Contract, route: PageRoute | undefined): string {
  return [nameOf(contract, route), `${contract.title} API`].filter(Boolean).join(' · ')
}

function nameOf(contract: Contract, route: PageRoute | undefined): string | undefined {
  if (route === undefined) return 'Nothing here'
  if (route.page === 'start') return undefined
  if (route.page === 'guide') return GUIDES.find(({ id }) => id === route.id)?.title
  return route.page === 'operation' ? contract.operation(route.id)?.summary : route.id
}

interface Menu {
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function TopBar({ menu }: { readonly menu?: Menu }) {
  return (
    <header className="topbar docs-topbar">
      {menu !== undefined && (
        <button
          type="button"
          className="button button--quiet button--icon docs-topbar__menu"
          aria-expanded={menu.isOpen}
          aria-controls="docs-menu"
          aria-label="Menu"
          onClick={menu.onToggle}
        >
          <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true" focusable="false">
            <path
              d="M2 4.5h14M2 9h14M2 13.5h14"
              stroke="currentColor"
              strokeWidth="1.6"
              strokeLinecap="round"
            />
          </svg>
        </button>
      )}
      <Brand />
      <nav className="topbar__nav docs-topbar__nav" aria-label="Main">
        <a className="topbar__link" href="/#/stock">
          Stock
        </a>
        <a className="topbar__link" href="/#/overview">
          Overview
        </a>
        <a className="topbar__link" href="#/" aria-current="page">
          Docs
        </a>
      </nav>
      <div className="topbar__end">
        <ThemeSwitch />
      </div>
    </header>
  )
}
