/** The page in the fragment of the URL. */
export type PageRoute =
  | { readonly page: 'start' }
  | { readonly page: 'guide'; readonly id: string }
  | { readonly page: 'operation'; readonly id: string }
  | { readonly page: 'schema'; readonly id: string }

const FOLDERS = { guide: 'guides', operation: 'operations', schema: 'schemas' } as const
/** The start page is `#/`; its parts need a folder. */
const START_FOLDER = 'start'

/** The address of a page, or of a part of it, such as one of its headings. */
export function href(route: PageRoute, part?: string): string {
  const behind = part === undefined ? '' : `/${encodeURIComponent(part)}`
  if (route.page !== 'start') return `#/${FOLDERS[route.page]}/${encodeURIComponent(route.id)}${behind}`
  return behind === '' ? '#/' : `#/${START_FOLDER}${behind}`
}

/** The id of the element that `href(route, part)` leads to, so that the browser scrolls there itself. */
export function partId(route: PageRoute, part: string): string {
  return href(route, part).slice(1)
}

/** "What a 409 means" is `what-a-409-means` in the address. */
export function partName(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}

/** `undefined` if the address has no page. */
export function readRoute(hash: string): PageRoute | undefined {
  const [folder = '', id = '', ...rest] = hash.replace(/^#?\/?/, '').split('/')
  if (folder === '' || (folder === START_FOLDER && rest.length === 0)) return { page: 'start' }
  const page = (['guide', 'operation', 'schema'] as const).find((each) => FOLDERS[each] === folder)
  return page === undefined || id === '' || rest.length > 1 ? undefined : { page, id: decoded(id) }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
