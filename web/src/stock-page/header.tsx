import { Brand } from '../design/brand.tsx'
import { Icon } from '../design/icon.tsx'
import { ThemeSwitch } from '../design/theme-switch.tsx'
import { href, type Route } from './navigation.ts'
import { useRequestState, useSession, useStock } from './session/session-context.ts'
import { signOut } from './session/signed-in.ts'
import { useReadable } from './stock/observable.ts'

export function Header({ current }: { readonly current: Route['view'] }) {
  return (
    <header className="topbar">
      <Brand />
      <nav className="topbar__nav" aria-label="Main">
        <NavLink view="stock" isCurrent={current !== 'overview'}>
          Stock
        </NavLink>
        <NavLink view="overview" isCurrent={current === 'overview'}>
          Overview
        </NavLink>
        <a className="topbar__link" href="/docs">
          Docs
        </a>
      </nav>
      <div className="topbar__end">
        <ConnectionState />
        <KeyName />
        <ThemeSwitch />
        <button type="button" className="button button--quiet header__sign-out" onClick={signOut}>
          <Icon name="signOut" />
          <span className="header__sign-out-text">Sign out</span>
        </button>
      </div>
    </header>
  )
}

interface NavLinkProps {
  readonly view: 'stock' | 'overview'
  readonly isCurrent: boolean
  readonly children: string
}

function NavLink({ view, isCurrent, children }: NavLinkProps) {
  return (
    <a className="topbar__link" href={href({ view })} aria-current={isCurrent ? 'page' : undefined}>
      {children}
    </a>
  )
}

function ConnectionState() {
  const { connection, phase } = useStock()
  const { isUnreachable } = useRequestState()
  if (connection === 'lost' || isUnreachable) {
    return <Connection tone="negative" text="Offline" title="The service cannot be reached" />
  }
  if (connection === 'connecting' || phase === 'loading') {
    return <Connection tone="neutral" text="Connecting" title="Changes by others do not appear yet" />
  }
  return <Connection tone="positive" text="Live" title="Changes by others appear as they happen" />
}

interface ConnectionProps {
  readonly tone: 'negative' | 'neutral' | 'positive'
  readonly text: string
  readonly title: string
}

function Connection({ tone, text, title }: ConnectionProps) {
  return (
    <span className={`badge badge--${tone}`} title={title}>
      <span className="connection__text">{text}</span>
    </span>
  )
}

function KeyName() {
  const owner = useReadable(useSession().owner)
  if (owner === undefined) return null
  return (
    <span className="header__key muted" title={`Signed in with the key ${owner.id}, plan ${owner.plan}`}>
      {owner.name}
    </span>
  )
}
