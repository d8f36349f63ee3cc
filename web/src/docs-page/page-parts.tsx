import { createContext, useContext } from 'preact/compat'
import { href, type PageRoute, partName } from './page-route.ts'

/** The page that its headings and other parts belong to. */
export const PageContext = createContext<PageRoute>({ page: 'start' })

/** Gives an element an address of its own. Its id is the fragment, so that the browser scrolls there itself. */
export function usePart(part: string): { readonly id: string; readonly tabIndex: -1 } {
  return { id: href(useContext(PageContext), part).slice(1), tabIndex: -1 }
}

/** A heading with a link to itself; the link of level 1 leads to the page. */
export function Heading({
  level = 2,
  part,
  note,
  className,
  children: title,
}: {
  readonly level?: 1 | 2 | 3
  /** Its name in the address; derived from the title by default. */
  readonly part?: string
  /** Muted text after the title. */
  readonly note?: string
  readonly className?: string
  readonly children: string
}) {
  const page = useContext(PageContext)
  const name = part ?? partName(title)
  const Tag = `h${level}` as const
  return (
    <div className="heading">
      <Tag {...usePart(name)} className={className}>
        {title}
        {note !== undefined && <span className="muted"> {note}</span>}
      </Tag>
      <a
        className="heading__link"
        href={level === 1 ? href(page) : href(page, name)}
        aria-label={`Link to “${title}”`}
      >
        #
      </a>
    </div>
  )
}

export function goToPart(id: string): void {
  const element = document.getElementById(id)
  if (element === null) return
  const folded = element.closest('details')
  if (folded !== null) folded.open = true
  element.scrollIntoView()
  element.focus({ preventScroll: true })
}
