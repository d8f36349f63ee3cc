import type { Category } from './category.ts'
import type { Pet, PetFilter, StockedPet } from './pet.ts'
import type { InventorySearch, SearchPlace, SearchRow } from './search.ts'

/** The pets and their categories. They are changed by `changeStock`. */
export interface CatalogStore {
  findPet(petId: bigint): Promise<Pet | undefined>
  /** The first `limit` pets, by id ascending, that the filter lets through. */
  listPets(filter: PetFilter, limit: number): Promise<Pet[]>
  countPets(): Promise<number>
  /** The first `limit` categories, by id ascending; those with a higher id than `after`. */
  listCategories(after: bigint | undefined, limit: number): Promise<Category[]>
  /** Looks at some pets, and gives those of them that the search lets through. */
  searchStep(search: InventorySearch, step: SearchStep): Promise<SearchFinds>
  /** Adds pets with their stock, all or none, and the categories that are missing. */
  addPets(pets: readonly StockedPet[]): Promise<void>
}

/**
 * How pets are come by: all of them, by id or by name; or by id those that an index has: those that the text finds, that
 * run low, of the category, of the status. The direction is that of the order that is wanted, where both are the same.
 */
export type SearchWay = 'petId' | 'name' | 'words' | 'low' | 'category' | 'status'

export interface SearchStep {
  readonly way: SearchWay
  /** How many are looked at; a store may choose to look at fewer. */
  readonly size: number
  /** Those behind it on this way. */
  readonly from: SearchPlace | undefined
  /** Only what comes behind it in the order that is wanted is given, and of that the first `limit`. */
  readonly behind: SearchPlace | undefined
  readonly limit: number
}

export interface SearchFinds {
  /** In any order. */
  readonly rows: readonly (SearchRow & { readonly place: SearchPlace })[]
  /** The last one that was looked at; `undefined` where there are no more. */
  readonly upTo: SearchPlace | undefined
}
