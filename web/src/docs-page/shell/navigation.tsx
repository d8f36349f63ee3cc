import { type RefObject, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/compat'
import { useContract } from '../contract-context.tsx'
import type { Guide } from '../guides/guide.ts'
import { GUIDES } from '../guides/guide-list.ts'
import { GuidePage } from '../guides/guide-page.tsx'
import { PageContext } from '../page-parts.tsx'
import { href, type PageRoute } from '../page-route.ts'
import { MethodTag } from '../reference/tags.tsx'
import { type Entry, type EntryGroup, findEntries, inLowerCase, pageGroups, partGroups } from './search.ts'

interface Props {
  readonly current: PageRoute | undefined
  readonly searchField: RefObject<HTMLInputElement | null>
  readonly onChoose: () => void
}

export function Navigation({ current, searchField, onChoose }: Props) {
  const contract = useContract()
  const [query, setQuery] = useState('')
  const [sections, setSections] = useState<readonly Entry[]>()
  const pages = useMemo(() => pageGroups(contract), [contract])
  const parts = useMemo(() => partGroups(contract, sections ?? []), [contract, sections])
  const isSearching = query.trim() !== ''
  const list = useRef<HTMLDivElement>(null)
  const groups = isSearching ? findEntries([...pages, ...parts], query) : pages
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
    const index = stops.indexOf(document.activeElement as HTMLAnchorElement)
    stops[Math.min(stops.length - 1, Math.max(0, index + step))]?.focus()
  }
  const openFirst = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && isSearching) list.current?.querySelector('a')?.click()
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
          onChange={({ currentTarget }) => setQuery(currentTarget.value)}
          onKeyDown={openFirst}
        />
        <span className="docs-nav__shortcut" aria-hidden="true">
          <span className="key">/</span>
        </span>
      </search>
      {isSearching && sections === undefined && <GuideSectionReader onRead={setSections} />}
      <div ref={list}>
        {!isSearching && <NavLink entry={START} current={address} onChoose={onChoose} />}
        {groups.map((group) => (
          <NavGroup key={group.title} group={group} current={address} onChoose={onChoose} />
        ))}
      </div>
      <p className="docs-nav__none muted" role="status">
        {groups.length === 0 ? `Nothing contains “${query}”.` : ''}
      </p>
    </nav>
  )
}

const START: Entry = { title: 'Start here', address: href({ page: 'start' }), words: '' }

interface ListProps extends Pick<Props, 'onChoose'> {
  readonly current: string | undefined
}

function NavGroup({ group, current, onChoose }: ListProps & { readonly group: EntryGroup }) {
  return (
    <section className="docs-nav__group" aria-label={group.title}>
      <h2 className="docs-nav__title">{group.title}</h2>
      <ul>
        {group.entries.map((entry) => (
          <li key={entry.address}>
            <NavLink entry={entry} current={current} onChoose={onChoose} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function NavLink({
  entry: { title, address, operation },
  current,
  onChoose,
}: ListProps & { readonly entry: Entry }) {
  return (
    <a
      className={`topbar__link docs-nav__link ${operation?.sunset === undefined ? '' : 'docs-nav__link--deprecated'}`}
      href={address}
      aria-current={current === address ? 'page' : undefined}
      onClick={onChoose}
    >
      <span className="docs-nav__text">{title}</span>
      {operation !== undefined && <MethodTag method={operation.method} />}
    </a>
  )
}

/** Renders every guide invisibly and reads its text, so that the search also finds the tables from the contract. */
function GuideSectionReader({ onRead }: { readonly onRead: (sections: readonly Entry[]) => void }) {
  const container = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const rendered = [...(container.current?.children ?? [])]
    onRead(GUIDES.flatMap((guide, index) => sectionsIn(guide, rendered[index])))
  }, [onRead])
  return (
    <div ref={container} hidden>
      {GUIDES.map((guide) => (
        <PageContext key={guide.id} value={{ page: 'guides', id: guide.id }}>
          <GuidePage guide={guide} />
        </PageContext>
      ))}
    </div>
  )
}

function sectionsIn(guide: Guide, rendered: Element | undefined): readonly Entry[] {
  if (rendered === undefined) throw new Error(`the guide ${guide.id} was not rendered`)
  const sections: { title: string; address: string; texts: string[] }[] = []
  const walker = document.createTreeWalker(rendered, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (node instanceof Text) sections.at(-1)?.texts.push(node.data)
    else if (node instanceof HTMLHeadingElement) {
      const address = node.tagName === 'H1' ? href({ page: 'guides', id: guide.id }) : `#${node.id}`
      sections.push({ title: node.textContent, address, texts: [] })
    }
  }
  return sections.map(({ title, address, texts }) => ({
    title: title === guide.title ? title : `${guide.title}: ${title}`,
    address,
    words: inLowerCase(title, ...texts),
    pageWords: inLowerCase(guide.title, guide.keywords),
  }))
}
