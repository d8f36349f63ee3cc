const FOLDERS = ['guides', 'operations', 'schemas'] as const

/** The page in the fragment of the URL. */
export type PageRoute =
  | { readonly page: 'start' }
  | { readonly page: (typeof FOLDERS)[number]; readonly id: string }

/** The address of a page, or of a part of it, such as one of its headings. */
export function href(route: PageRoute, part?: string): string {
  const suffix = part === undefined ? '' : `/${encodeURIComponent(part)}`
  if (route.page !== 'start') return `#/${route.page}/${encodeURIComponent(route.id)}${suffix}`
  return part === undefined ? '#/' : `#/start${suffix}`
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
  if (folder === '' || (folder === 'start' && rest.length === 0)) return { page: 'start' }
  const page = FOLDERS.find((each) => each === folder)
  return page === undefined || id === '' || rest.length > 1 ? undefined : { page, id: decoded(id) }
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
