/** In the order of the navigation. */
export const VIEW_NAMES = [
  ...(['stock', 'receive', 'count', 'orders', 'low-stock', 'pets'] as const),
  ...(['activity', 'overview', 'import', 'people', 'webhooks'] as const),
] as const
export type ViewName = (typeof VIEW_NAMES)[number]

export type Route =
  /** `query` is what the view keeps in the address, so that a reload and a link find it again. */
  { readonly view: ViewName; readonly query?: string } | { readonly view: 'pet'; readonly petId: bigint }

const LARGEST_PET_ID = 2n ** 63n - 1n

export function href(route: Route): string {
  if ('petId' in route) return `#/pets/${route.petId}`
  return `#/${route.view}${route.query ? `?${route.query}` : ''}`
}

export function goTo(route: Route): void {
  location.hash = href(route)
}

/** The route that the address names; the stock where it names none. */
export function routeOf(hash: string): Route {
  const pet = /^#\/pets\/(-?\d{1,19})$/.exec(hash)?.[1]
  if (pet !== undefined && BigInt(pet) <= LARGEST_PET_ID) return { view: 'pet', petId: BigInt(pet) }
  const [, view, query] = /^#\/([a-z-]+)(?:\?(.*))?$/.exec(hash) ?? []
  const name = VIEW_NAMES.find((one) => one === view)
  if (name === undefined) return { view: 'stock' }
  return query === undefined ? { view: name } : { view: name, query }
}
