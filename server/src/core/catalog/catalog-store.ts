import type { Category } from './category.ts'
import type { Pet } from './pet.ts'
import type { FoundPet, InventorySearch, SearchWindow } from './search.ts'

/** Reads pets and categories. `StockStore.changeStock` and imports change them. */
export interface CatalogStore {
  findPet(petId: bigint): Promise<Pet | undefined>
  /** The first `limit` pets, by id ascending. With `after`, only pets with a higher id. */
  listPets(after: bigint | undefined, limit: number): Promise<Pet[]>
  countPets(): Promise<number>
  /** The first `limit` categories, by id ascending. With `after`, only categories with a higher id. */
  listCategories(after: bigint | undefined, limit: number): Promise<Category[]>
  /** The categories whose new threshold some of their pets may lack, each with the id of its latest threshold change. */
  unappliedThresholds(): Promise<ReadonlyMap<bigint, string>>
  /** The pets that lack the threshold of their category, by id ascending. */
  petsWithOldThreshold(categoryId: bigint): Promise<bigint[]>
  /** Records that all pets of the category have its threshold, unless this is no longer its latest threshold change. */
  finishThresholdChange(categoryId: bigint, changeId: string): Promise<void>
  /** The pets of this window, in the order of the search. Throws `invalid_request` if the search exceeds its time limit. */
  searchPets(search: InventorySearch, window: SearchWindow): Promise<readonly FoundPet[]>
  /** Loads the search index, so that the first search does not wait for it. */
  prepareSearch(): Promise<void>
}
