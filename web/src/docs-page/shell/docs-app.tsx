import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'preact/compat'
import { Brand } from '../../design/brand.tsx'
import { Icon } from '../../design/icon.tsx'
import { ThemeSwitch } from '../../design/theme-switch.tsx'
import { useArrival, useHash } from '../../shared/hash-navigation.ts'
import type { Contract } from '../contract.ts'
import { ContractContext, useContractState } from '../contract-context.tsx'
import { GUIDES } from '../guides/guide-list.ts'
import { GuidePage } from '../guides/guide-page.tsx'
import { goToPart, PageContext } from '../page-parts.tsx'
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
  const { title, content } = pageAt(route, contract) ?? { title: 'Nothing here', content: <NothingHere /> }
  const [isMenuOpen, setMenuOpen] = useState(false)
  const closeMenu = () => setMenuOpen(false)
  const searchField = useRef<HTMLInputElement>(null)
  const main = useRef<HTMLElement>(null)
  const name = `${contract.document.info.title} API`
  useArrival(hash, title === undefined ? name : `${title} · ${name}`, main)
  useLayoutEffect(() => goToPart(hash.slice(1)), [hash])
  useShortcuts(searchField, setMenuOpen)
  return (
    <>
      <a className="skip-link" href={hash === '' ? '#/' : hash} onClick={() => main.current?.focus()}>
        Skip to the content
      </a>
      <TopBar>
        <button
          type="button"
          className="button button--quiet button--icon docs-topbar__menu"
          aria-expanded={isMenuOpen}
          aria-controls="docs-menu"
          aria-label="Menu"
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          <Icon name="more" size={18} />
        </button>
      </TopBar>
      <div className="docs-layout">
        {isMenuOpen && (
          <button type="button" className="docs-shade" aria-label="Close the menu" onClick={closeMenu} />
        )}
        <div id="docs-menu" className={isMenuOpen ? 'docs-side docs-side--open' : 'docs-side'}>
          <Navigation current={route} searchField={searchField} onChoose={closeMenu} />
        </div>
        <main ref={main} className="docs-main" tabIndex={-1}>
          <PageContext value={route ?? { page: 'start' }}>{content}</PageContext>
        </main>
      </div>
    </>
  )
}

/** `/` and Ctrl+K move the focus to the search, Escape closes the menu. */
function useShortcuts(
  searchField: RefObject<HTMLInputElement | null>,
  setMenuOpen: (isOpen: boolean) => void,
): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select') !== null
      const isSearch =
        (event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))
      if (event.key === 'Escape') setMenuOpen(false)
      if (!isSearch) return
      event.preventDefault()
      setMenuOpen(true)
      searchField.current?.focus()
      // On a small screen, the menu appears first.
      requestAnimationFrame(() => searchField.current?.focus())
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [searchField, setMenuOpen])
}

/** The page of a route, and its title unless it is the start page; `undefined` if there is none. */
function pageAt(route: PageRoute | undefined, contract: Contract) {
  switch (route?.page) {
    case undefined:
      return undefined
    case 'start':
      return { title: undefined, content: <StartPage /> }
    case 'guides': {
      const guide = GUIDES.find(({ id }) => id === route.id)
      return guide && { title: guide.title, content: <GuidePage guide={guide} /> }
    }
    case 'schemas': {
      const schema = contract.schemas.get(route.id)
      return schema && { title: route.id, content: <SchemaPage name={route.id} schema={schema} /> }
    }
    case 'operations': {
      const operation = contract.operation(route.id)
      if (operation === undefined) return undefined
      return { title: operation.summary, content: <OperationPage key={operation.id} operation={operation} /> }
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

/** `children` come before the name of the shop. */
function TopBar({ children }: { readonly children?: ReactNode }) {
  return (
    <header className="topbar docs-topbar">
      {children}
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
