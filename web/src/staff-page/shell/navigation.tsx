import { useEffect, useId, useRef, useState } from 'preact/compat'
import { Brand } from '../../design/brand.tsx'
import { Icon } from '../../design/icon.tsx'
import { ThemeSwitch } from '../../design/theme-switch.tsx'
import { useReadable } from '../data/observable.ts'
import { PersonMenu } from '../session/person-menu.tsx'
import { useRequestState, useSession, useStock } from '../session/session-context.ts'
import { useMediaQuery } from '../ui/hooks.ts'
import { href } from '../ui/navigation.ts'
import { VIEWS, type View } from './views.ts'

interface Props {
  readonly current: View
}

const PHONE = '(max-width: 47.99rem)'
/** Both groups of views fit beside each other. */
const WIDE = '(min-width: 80rem)'
/** Views in the bottom bar of a phone; "More" shows all others. */
const MAX_BAR_VIEWS = 5

export function Header({ current }: Props) {
  const isPhone = useMediaQuery(PHONE)
  const isWide = useMediaQuery(WIDE)
  const { daily, admin } = useGroups()
  return (
    <header className="topbar">
      <Brand />
      {!isPhone && (
        <nav className="topbar__nav" aria-label="Main">
          <NavLinks views={daily} current={current} />
          {isWide ? (
            <div className="topbar__group">
              <NavLinks views={admin} current={current} />
              <a className="topbar__link" href="/docs">
                Docs
              </a>
            </div>
          ) : (
            <Menu label="Manage" views={admin} current={current} />
          )}
        </nav>
      )}
      <div className="topbar__end">
        <ConnectionState />
        <ThemeSwitch />
        <PersonMenu />
      </div>
    </header>
  )
}

/** The navigation on a phone, within reach of the thumb. */
export function BottomBar({ current }: Props) {
  const isPhone = useMediaQuery(PHONE)
  const { daily, admin } = useGroups()
  if (!isPhone) return null
  return (
    <nav className="bottom-bar" aria-label="Main">
      <NavLinks views={daily.slice(0, MAX_BAR_VIEWS)} current={current} hasIcons />
      <Menu label="More" views={[...daily.slice(MAX_BAR_VIEWS), ...admin]} current={current} hasIcons />
    </nav>
  )
}

/** The views that the key may use. All views, until the service has reported its permissions. */
function useGroups(): Readonly<Record<'daily' | 'admin', readonly View[]>> {
  const permissions = useReadable(useSession().owner)?.permissions
  const usable = VIEWS.filter(({ needs }) => needs === undefined || permissions?.includes(needs) !== false)
  return {
    daily: usable.filter(({ group }) => group === 'daily'),
    admin: usable.filter(({ group }) => group === 'admin'),
  }
}

interface LinksProps extends Props {
  readonly views: readonly View[]
  readonly hasIcons?: boolean
}

function NavLinks({ views, current, hasIcons = false }: LinksProps) {
  return views.map((view) => (
    <a
      key={view.name}
      className="topbar__link"
      href={href({ view: view.name })}
      aria-current={isWithin(current, view) ? 'page' : undefined}
    >
      {hasIcons && <Icon name={view.icon} size={20} />}
      {view.title}
    </a>
  ))
}

function isWithin(current: View, { name }: View): boolean {
  return current.name === name || current.parent === name
}

/** A button that shows the views that have no room beside it. */
function Menu({ label, views, current, hasIcons = false }: LinksProps & { readonly label: string }) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const menu = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const owner = useReadable(useSession().owner)
  useEffect(() => {
    if (!isOpen) return
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && menu.current?.contains(target) === false) setOpen(false)
    }
    const closeByKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return
      setOpen(false)
      button.current?.focus()
    }
    const ending = new AbortController()
    const options = { signal: ending.signal }
    addEventListener('pointerdown', closeOutside, options)
    addEventListener('focusin', closeOutside, options)
    addEventListener('keydown', closeByKey, options)
    addEventListener('hashchange', () => setOpen(false), options)
    return () => ending.abort()
  }, [isOpen])
  return (
    <div className="menu" ref={menu}>
      <button
        ref={button}
        type="button"
        className="topbar__link menu__button"
        aria-expanded={isOpen}
        aria-controls={id}
        aria-current={views.some((view) => isWithin(current, view)) ? 'true' : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name={hasIcons ? 'more' : 'chevronDown'} size={hasIcons ? 20 : 12} />
        {label}
      </button>
      <div id={id} className="menu__panel popup" hidden={!isOpen}>
        <NavLinks views={views} current={current} hasIcons />
        <a className="topbar__link" href="/docs">
          <Icon name="docs" size={20} />
          Docs
        </a>
        {owner !== undefined && <p className="menu__owner muted">Signed in as {owner.name}</p>}
      </div>
    </div>
  )
}

const CONNECTIONS = {
  offline: { tone: 'negative', text: 'Offline', title: 'The service cannot be reached' },
  connecting: { tone: 'neutral', text: 'Connecting', title: 'Changes by others do not appear yet' },
  live: { tone: 'positive', text: 'Live', title: 'Changes by others appear as they happen' },
}

function ConnectionState() {
  const { connection, phase } = useStock()
  const { isUnreachable } = useRequestState()
  const online = connection === 'connecting' || phase === 'loading' ? 'connecting' : 'live'
  const { tone, text, title } = CONNECTIONS[connection === 'lost' || isUnreachable ? 'offline' : online]
  return (
    <span className={`badge badge--${tone}`} title={title}>
      {text}
    </span>
  )
}
