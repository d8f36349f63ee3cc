export type Route =
  | { readonly view: 'stock' }
  | { readonly view: 'overview' }
  | { readonly view: 'pet'; readonly petId: bigint }

const LARGEST_PET_ID = 2n ** 63n - 1n

export function href(route: Route): string {
  return route.view === 'pet' ? `#/pets/${route.petId}` : `#/${route.view}`
}

export function goTo(route: Route): void {
  location.hash = href(route)
}

/** The route that the address names; the stock where it names none. */
export function routeOf(hash: string): Route {
  const [, view, id] = /^#\/(stock|overview|pets)(?:\/(-?\d{1,19}))?$/.exec(hash) ?? []
  if (view === 'overview') return { view }
  const petId = view === 'pets' && id !== undefined ? BigInt(id) : undefined
  return petId !== undefined && petId <= LARGEST_PET_ID ? { view: 'pet', petId } : { view: 'stock' }
}
