/** What the part of the address behind # names. */
export type PageRoute =
  | { readonly page: 'start' }
  | { readonly page: 'guide'; readonly id: string }
  | { readonly page: 'operation'; readonly id: string }
  | { readonly page: 'schema'; readonly id: string }

const FOLDERS = { guide: 'guides', operation: 'operations', schema: 'schemas' } as const

export function href(route: PageRoute): string {
  return route.page === 'start' ? '#/' : `#/${FOLDERS[route.page]}/${encodeURIComponent(route.id)}`
}

/** `undefined` for an address that names nothing here. */
export function readRoute(hash: string): PageRoute | undefined {
  const [folder = '', id = '', ...rest] = hash.replace(/^#?\/?/, '').split('/')
  if (folder === '') return { page: 'start' }
  const page = (['guide', 'operation', 'schema'] as const).find((each) => FOLDERS[each] === folder)
  return page === undefined || id === '' || rest.length > 0 ? undefined : { page, id: decoded(id) }
}

/** An address that somebody mistyped names a page that does not exist, which the page says. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
