import { type KeyboardEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { useContract } from '../contract-context.tsx'
import { GUIDES } from '../guides/guide-list.ts'
import { href, type PageRoute } from '../page-route.ts'
import { MethodTag } from '../reference/operation-badges.tsx'
import { type Entry, type EntryGroup, entryGroups, findEntries } from './search.ts'

interface Props {
  readonly current: PageRoute | undefined
  readonly searchField: RefObject<HTMLInputElement | null>
  /** Something was chosen: on a small screen the menu closes. */
  readonly onChoose: () => void
}

/** Guides, operations and resources, with a search through all of them. */
export function Navigation({ current, searchField, onChoose }: Props) {
  const contract = useContract()
  const groups = useMemo(() => entryGroups(contract, GUIDES), [contract])
  const [query, setQuery] = useState('')
  const list = useRef<HTMLDivElement>(null)
  const found = findEntries(groups, query)
  const address = current === undefined ? undefined : href(current)
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [address])

  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (event.key === 'Escape' && query !== '') {
      event.stopPropagation()
      setQuery('')
      searchField.current?.focus()
    }
    if (step === 0) return
    event.preventDefault()
    const stops = [searchField.current, ...(list.current?.querySelectorAll('a') ?? [])]
    const place = stops.indexOf(document.activeElement as HTMLAnchorElement)
    stops[Math.min(stops.length - 1, Math.max(0, place + step))]?.focus()
  }
  const openFirst = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && query !== '') list.current?.querySelector('a')?.click()
  }
  return (
    <nav className="docs-nav" aria-label="Reference" onKeyDown={move}>
      <search className="docs-nav__search">
        <input
          ref={searchField}
          className="input"
          type="search"
          aria-label="Search the reference"
          placeholder="Search"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={openFirst}
        />
        <span className="docs-nav__shortcut" aria-hidden="true">
          <span className="key">/</span>
        </span>
      </search>
      <div ref={list}>
        <NavLink entry={START} current={current} onChoose={onChoose} isHidden={query !== ''} />
        {found.map((group) => (
          <NavGroup key={group.title} group={group} current={current} onChoose={onChoose} />
        ))}
      </div>
      <p className="docs-nav__none muted" role="status">
        {found.length === 0 ? `Nothing has “${query}” in it.` : ''}
      </p>
    </nav>
  )
}

const START: Entry = { title: 'Start here', route: { page: 'start' }, words: '' }

function NavGroup({
  group,
  current,
  onChoose,
}: Pick<Props, 'current' | 'onChoose'> & { readonly group: EntryGroup }) {
  return (
    <section className="docs-nav__group" aria-label={group.title}>
      <h2 className="docs-nav__title">{group.title}</h2>
      <ul>
        {group.entries.map((entry) => (
          <li key={href(entry.route)}>
            <NavLink entry={entry} current={current} onChoose={onChoose} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function NavLink({
  entry: { title, route, operation },
  current,
  onChoose,
  isHidden = false,
}: Pick<Props, 'current' | 'onChoose'> & { readonly entry: Entry; readonly isHidden?: boolean }) {
  const address = href(route)
  const isCurrent = current !== undefined && href(current) === address
  if (isHidden) return null
  return (
    <a
      className={operation?.isDeprecated ? 'docs-nav__link docs-nav__link--deprecated' : 'docs-nav__link'}
      href={address}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={onChoose}
    >
      <span className="docs-nav__text">{title}</span>
      {operation !== undefined && <MethodTag method={operation.method} />}
    </a>
  )
}
