import { nameWords } from '../../../src/core/catalog/name-words.ts'
import { SEARCH_SORTS, type SearchParameters } from '../../../src/core/catalog/search.ts'
import { PET_STATUSES } from '../../../src/core/stock/inventory.ts'
import { foundIn } from '../../store/search-model.ts'
import { categoryBody, numbersOf } from './catalog.ts'
import type { SearchCall } from './catalog-steps.ts'
import { failure } from './outcome.ts'
import { look, type Plan, type Setting } from './plan.ts'
import type { ModelPet, ModelWorld } from './world.ts'

const SEARCH = '/inventory/search'
const NEXT_SEARCH = /^<\/v1\/inventory\/search\?[^>]*cursor=[^>]+>; rel="next"$/

/** The end of a page: the sort value of its last pet, unless that is the id, and its id. */
interface Place {
  readonly value: string | number | undefined
  readonly id: bigint
}

export function searchPlan(setting: Setting, call: SearchCall): Plan {
  const { world } = setting
  const page = call.follows === 'not' ? undefined : world.nextPages.get('search')
  const path = page?.path ?? `${SEARCH}?${queryOf(call)}`
  if (page !== undefined && call.follows === 'astray') return strayed(page.path)
  const query = new URL(`http://any${path}`).searchParams
  const parameters = parametersOf(query)
  const from = page === undefined ? undefined : { id: BigInt(page.last), value: page.value }
  const pets = new Map(Array.from(world.pets, ([id, pet]) => [id, searchable(world, id, pet)]))
  const wanted = foundIn([...pets.values()], parameters).filter((id) =>
    isBehind(parameters.sort, placeOf(world, parameters.sort, id), from),
  )
  const limit = Number(query.get('limit'))
  const shown = wanted.slice(0, limit)
  const last = shown.at(-1)
  const body = shown.map((id) => rowOf(world, id))
  const hasNext = wanted.length > limit && last !== undefined
  const next = hasNext ? { last, value: placeOf(world, parameters.sort, last).value } : undefined
  const facts = next === undefined ? {} : { next: { name: 'search', pattern: NEXT_SEARCH, ...next } }
  return look(setting, path, path, body, {}, facts)
}

/** A cursor belongs to its own search only. */
function strayed(path: string): Plan {
  const url = new URL(`http://any${path}`)
  url.searchParams.set('below', '12345')
  return { method: 'GET', path: url.pathname + url.search, headers: {}, answer: () => failure(400) }
}

function queryOf({ query }: SearchCall): URLSearchParams {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
}

function parametersOf(query: URLSearchParams): SearchParameters {
  const [categoryId, below] = [query.get('categoryId'), query.get('below')]
  return {
    q: query.get('q') ?? undefined,
    status: PET_STATUSES.find((status) => status === query.get('status')),
    categoryId: categoryId === null ? undefined : BigInt(categoryId),
    low: query.has('low') ? true : undefined,
    below: below === null ? undefined : Number(below),
    sort: SEARCH_SORTS.find((sort) => sort === query.get('sort')) ?? 'petId',
  }
}

/** With its effective threshold. */
function searchable(world: ModelWorld, id: bigint, pet: ModelPet) {
  const { lowStockAt: _, ...rest } = pet
  const threshold = world.catalog.thresholdOf(pet)
  return {
    id,
    ...rest,
    reserved: world.orders.reservedOf(id),
    ...(threshold === undefined ? {} : { lowStockAt: threshold }),
  }
}

function rowOf(world: ModelWorld, petId: bigint) {
  const pet = petOf(world, petId)
  const { name, categoryId, status, quantity, barcode } = pet
  const reserved = world.orders.reservedOf(petId)
  const since = world.catalog.low.get(petId)
  return numbersOf({
    petId,
    name,
    categoryId,
    status,
    quantity,
    reserved,
    available: quantity - reserved,
    barcode,
    lowStockAt: world.catalog.thresholdOf(pet),
    ownLowStockAt: pet.lowStockAt,
    lowSince: since === undefined ? undefined : new Date(since).toISOString(),
  })
}

function placeOf(world: ModelWorld, sort: SearchParameters['sort'], id: bigint): Place {
  const { name, quantity } = petOf(world, id)
  switch (sort.replace('-', '')) {
    case 'name':
      return { id, value: nameWords(name) }
    case 'quantity':
      return { id, value: quantity }
    case 'available':
      return { id, value: quantity - world.orders.reservedOf(id) }
    default:
      return { id, value: undefined }
  }
}

function isBehind(sort: string, { id, value }: Place, from: Place | undefined): boolean {
  if (from === undefined) return true
  const byValue = compared(value, from.value)
  const order = byValue === 0 ? (id > from.id ? 1 : id < from.id ? -1 : 0) : byValue
  return sort.startsWith('-') ? order < 0 : order > 0
}

function compared(one: Place['value'], other: Place['value']): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)))
}

function petOf(world: ModelWorld, id: bigint): ModelPet {
  const pet = world.pets.get(id)
  if (pet === undefined) throw new Error(`the model finds pet ${id}, which it does not have`)
  return pet
}

/** The whole catalogue, or all categories, page by page. */
export function catalogPlan(
  setting: Setting,
  call: { readonly kind: 'catalog' | 'categories'; readonly limit: number; readonly follows: boolean },
): Plan {
  const { world } = setting
  const { kind } = call
  const page = call.follows ? world.nextPages.get(kind) : undefined
  const limit = page?.limit ?? call.limit
  const after = page === undefined ? undefined : BigInt(page.last)
  const all =
    kind === 'catalog'
      ? world.sortedPets().map(([petId, pet]) => [petId, entryOf(petId, pet)] as const)
      : [...world.catalog.categories]
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([id, category]) => [id, categoryBody(id, category)] as const)
  const wanted = all.filter(([id]) => after === undefined || id > after)
  const shown = wanted.slice(0, limit)
  const last = shown.at(-1)?.[0]
  const path = page?.path ?? `/${kind}?limit=${limit}`
  const pattern = new RegExp(`^</v1/${kind}\\?limit=${limit}&cursor=[^>]+>; rel="next"$`)
  const hasNext = wanted.length > limit && last !== undefined
  const body = shown.map(([, row]) => row)
  return look(setting, path, path, body, {}, hasNext ? { next: { name: kind, last, pattern } } : {})
}

function entryOf(petId: bigint, { name, categoryId, barcode, lowStockAt }: ModelPet) {
  return numbersOf({ petId, name, categoryId, barcode, lowStockAt })
}
