import type { Category } from './category.ts'
import type { Pet, PetFilter, StockedPet } from './pet.ts'
import type { FoundPet, InventorySearch, SearchWindow } from './search.ts'

/** Reads pets and categories. Callers change them with `changeStock`; `addPets` only fills a new store. */
export interface CatalogStore {
  findPet(petId: bigint): Promise<Pet | undefined>
  /** The first `limit` pets that match the filter, by id ascending. */
  listPets(filter: PetFilter, limit: number): Promise<Pet[]>
  countPets(): Promise<number>
  /** The first `limit` categories, by id ascending. With `after`, only categories with a higher id. */
  listCategories(after: bigint | undefined, limit: number): Promise<Category[]>
  /**
   * The first pets that the search finds, in its order. Throws `invalid_request` if finding them takes longer than the time
   * budget of a search.
   */
  searchPets(search: InventorySearch, window: SearchWindow): Promise<readonly FoundPet[]>
  /** Loads the search index, so that the first search does not wait for it. */
  prepareSearch(): Promise<void>
  /** Adds pets with their stock, all or none, and the categories that are missing. */
  addPets(pets: readonly StockedPet[]): Promise<void>
}
