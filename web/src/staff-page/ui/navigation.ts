import { Observable, type Readable } from '../data/observable.ts'

/** A view, or one pet if `petId` is given. `shell/views.ts` lists the names of the views. */
export interface Route {
  readonly view: string
  /** The state that the view keeps in the address, so that a reload and a link restore it. */
  readonly query?: string
  readonly petId?: bigint
}

const LARGEST_PET_ID = 2n ** 63n - 1n

export function href({ view, query, petId }: Route): string {
  if (petId !== undefined) return `#/pets/${petId}`
  return `#/${view}${query ? `?${query}` : ''}`
}

export function goTo(route: Route): void {
  location.hash = href(route)
}

/** The route of an address; the stock if the address has none. */
export function routeOf(hash: string): Route {
  const pet = /^#\/pets\/(-?\d{1,19})$/.exec(hash)?.[1]
  if (pet !== undefined && BigInt(pet) <= LARGEST_PET_ID) return { view: 'pet', petId: BigInt(pet) }
  const [, view, query] = /^#\/([a-z-]+)(?:\?(.*))?$/.exec(hash) ?? []
  if (view === undefined) return { view: 'stock' }
  return query === undefined ? { view } : { view, query }
}

/** An address within the page, with the title of its view. */
interface Place {
  readonly hash: string
  readonly title: string
}

const MAX_TRAIL = 50
const trail = new Observable<readonly Place[]>([])

/** The places that led to the current one, the latest last. Changes before the page shows another view. */
export const visitedPlaces: Readable<readonly Place[]> = trail

let currentTitle = ''

export function setPlaceTitle(title: string): void {
  currentTitle = title
}

/** Records the places that the user visits. Call it before the page is rendered, which changes the title. */
export function followNavigation(): void {
  window.addEventListener('hashchange', ({ oldURL, newURL }) => {
    const from = { hash: new URL(oldURL).hash, title: currentTitle }
    trail.set(trailAfter(trail.get(), from, new URL(newURL).hash))
  })
}

/** Returning to the place before shortens the trail. */
function trailAfter(places: readonly Place[], from: Place, to: string): readonly Place[] {
  const last = places.at(-1)
  if (last !== undefined && pathOf(last.hash) === pathOf(to)) return places.slice(0, -1)
  return pathOf(from.hash) === pathOf(to) ? places : [...places, from].slice(-MAX_TRAIL)
}

function pathOf(hash: string): string {
  return hash.split('?')[0] ?? ''
}
