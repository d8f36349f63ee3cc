import { useCallback, useEffect, useRef, useState } from 'react'
import { useArrival, useHash } from '../../shared/hash-navigation.ts'
import type { Contract } from '../contract.ts'
import { ContractProvider, useContractState } from '../contract-context.tsx'
import { usePartArrival } from '../page-parts.tsx'
import { readRoute } from '../page-route.ts'
import { Navigation } from './navigation.tsx'
import { PageContent, titleOf } from './page-content.tsx'
import { TopBar } from './top-bar.tsx'

export function DocsApp() {
  const state = useContractState()
  if (state.phase === 'ready') {
    return (
      <ContractProvider contract={state.contract}>
        <Docs contract={state.contract} />
      </ContractProvider>
    )
  }
  return (
    <>
      <TopBar />
      <main className="docs-main">
        {state.phase === 'loading' ? (
          <LoadingSkeleton />
        ) : (
          <div className="empty" role="alert">
            <h1 className="empty__title">The reference cannot be shown</h1>
            <p>
              It is drawn from the contract, but {state.reason}. Check that the service runs, then try again.
            </p>
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
  useSearchShortcut(() => {
    setMenuOpen(true)
    searchField.current?.focus()
    // On a small screen the menu was not there yet.
    requestAnimationFrame(() => searchField.current?.focus())
  })
  useArrival(hash, titleOf(contract, route), main)
  usePartArrival(hash)
  useEscape(closeMenu)
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
          <PageContent route={route} />
        </main>
      </div>
    </>
  )
}

/** A slash, or Ctrl+K as in many other places, begins a search. */
function useSearchShortcut(begin: () => void): void {
  const latest = useRef(begin)
  latest.current = begin
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof Element && event.target.closest('input, textarea, select') !== null
      const isShortcut =
        (event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))
      if (!isShortcut) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [])
}

/** Where nothing inside has used the key for itself. */
function useEscape(close: () => void): void {
  useEffect(() => {
    const hear = ({ key }: KeyboardEvent) => key === 'Escape' && close()
    addEventListener('keydown', hear)
    return () => removeEventListener('keydown', hear)
  }, [close])
}

function LoadingSkeleton() {
  return (
    <div className="prose" aria-busy="true">
      <p className="visually-hidden" role="status">
        The reference is loading.
      </p>
      {[40, 90, 85, 60, 95, 70].map((width) => (
        <span key={width} className="skeleton" style={{ width: `${width}%` }} />
      ))}
    </div>
  )
}
