import { createContext, useContext, useLayoutEffect } from 'react'
import { href, type PageRoute, partId, partName } from './page-route.ts'

const PageContext = createContext<PageRoute>({ page: 'start' })

/** Around a page: what its parts are parts of. */
export const PageProvider = PageContext

/** What makes an element a part with an address of its own. */
export function usePart(part: string): { readonly id: string; readonly tabIndex: -1 } {
  return { id: partId(useContext(PageContext), part), tabIndex: -1 }
}

/** A heading with a link to itself. That of the whole page, of level 1, leads to the page. */
export function Heading({
  level = 2,
  part,
  note,
  className,
  children: title,
}: {
  readonly level?: 1 | 2 | 3
  /** Its name in the address, where it is not that of its words. */
  readonly part?: string
  /** What stands in it beside the title, in less loud letters. */
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

/** Goes to the part that the address names, once the page is drawn; what is folded up around it is opened. */
export function usePartArrival(hash: string): void {
  useLayoutEffect(() => goToPart(hash.slice(1)), [hash])
}

export function goToPart(id: string): void {
  const element = document.getElementById(id)
  if (element === null) return
  const folded = element.closest('details')
  if (folded !== null) folded.open = true
  element.scrollIntoView()
  element.focus({ preventScroll: true })
}
