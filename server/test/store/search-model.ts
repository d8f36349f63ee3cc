import { nameWords } from '../../src/core/catalog/name-words.ts'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import {
  type InventorySearch,
  type SearchParameters,
  searchOf,
  searchPage,
} from '../../src/core/catalog/search.ts'
import type { Store } from '../../src/store/store.ts'

/** A pet with its own threshold, and its reserved units. */
export interface ModelPet extends StockedPet {
  readonly reserved: number
}

export const ALL: SearchParameters = {
  q: undefined,
  status: undefined,
  categoryId: undefined,
  low: undefined,
  below: undefined,
  sort: 'petId',
}

/** The result of a search, computed in the simplest way. */
export function foundIn(pets: readonly ModelPet[], parameters: SearchParameters): bigint[] {
  const search = searchOf(parameters)
  const { by, isDescending } = search.order
  const found = pets.filter((pet) => isFound(pet, search))
  found.sort((one, other) => {
    const byId = one.id < other.id ? -1 : 1
    if (by === 'petId') return byId
    if (by === 'name') return compareBytes(one, other) || byId
    if (by === 'quantity') return one.quantity - other.quantity || byId
    return one.quantity - one.reserved - (other.quantity - other.reserved) || byId
  })
  const ids = found.map(({ id }) => id)
  return isDescending ? ids.reverse() : ids
}

function isFound(pet: ModelPet, { text, status, categoryId, isLow, below }: InventorySearch): boolean {
  const available = pet.quantity - pet.reserved
  const own = nameWords(pet.name).split(' ')
  return (
    (text === undefined ||
      text.id === pet.id ||
      (pet.barcode !== undefined && text.barcode === pet.barcode) ||
      (text.words.length > 0 && text.words.every((word) => own.some((one) => one.startsWith(word))))) &&
    (status === undefined || status === pet.status) &&
    (categoryId === undefined || categoryId === pet.categoryId) &&
    (isLow === undefined || (pet.lowStockAt !== undefined && available <= pet.lowStockAt)) &&
    (below === undefined || available < below)
  )
}

function compareBytes(one: ModelPet, other: ModelPet): number {
  return Buffer.compare(Buffer.from(nameWords(one.name)), Buffer.from(nameWords(other.name)))
}

/** All pages of a search; `between` runs after each page. */
export async function searched(
  store: Pick<Store, 'searchPets'>,
  parameters: SearchParameters,
  { limit = 1_000, between = async () => {} } = {},
): Promise<bigint[]> {
  const ids: bigint[] = []
  let cursor: string | undefined
  do {
    const page = await searchPage(store, searchOf(parameters), { limit, cursor })
    ids.push(...page.rows.map(({ petId }) => petId))
    cursor = page.next
    if (cursor !== undefined) await between()
  } while (cursor !== undefined)
  return ids
}
