import { useEffect, useRef } from 'react'
import { Brand } from '../../design/brand.tsx'
import { ThemeSwitch } from '../../design/theme-switch.tsx'
import { PersonMenu } from '../session/person-menu.tsx'
import { useMayChange, useRequestState, useStock } from '../session/session-context.ts'
import { href, type Route, VIEW_NAMES, type ViewName } from '../ui/navigation.ts'
import { VIEWS } from './views.ts'

export function Header({ current }: { readonly current: Route['view'] }) {
  return (
    <header className="topbar">
      <Brand />
      <nav className="topbar__nav" aria-label="Main">
        {VIEW_NAMES.filter((view) => VIEWS[view].within === undefined).map((view) => (
          <NavLink key={view} view={view} isCurrent={shownAs(current) === view} />
        ))}
        <a className="topbar__link" href="/docs">
          Docs
        </a>
      </nav>
      <div className="topbar__end">
        <ConnectionState />
        <ThemeSwitch />
        <PersonMenu />
      </div>
    </header>
  )
}

/** What the navigation marks as the view that somebody is at. */
function shownAs(current: Route['view']): ViewName {
  return current === 'pet' ? 'stock' : (VIEWS[current].within ?? current)
}

function NavLink({ view, isCurrent }: { readonly view: ViewName; readonly isCurrent: boolean }) {
  const { title, needs } = VIEWS[view]
  const isOfUse = useMayChange(needs)
  const link = useRef<HTMLAnchorElement>(null)
  useEffect(() => {
    // On a phone they do not all fit.
    if (isCurrent) link.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [isCurrent])
  if (!isOfUse) return null
  return (
    <a
      ref={link}
      className="topbar__link"
      href={href({ view })}
      aria-current={isCurrent ? 'page' : undefined}
    >
      {title}
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
