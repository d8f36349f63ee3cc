import type { Pet, PetFilter, StockedPet } from './pet.ts'

/** The pets themselves. */
export interface CatalogStore {
  findPet(petId: bigint): Promise<Pet | undefined>
  /** The first `limit` pets, by id ascending, that the filter lets through. */
  listPets(filter: PetFilter, limit: number): Promise<Pet[]>
  countPets(): Promise<number>
  /** Adds pets with their stock, all or none. */
  addPets(pets: readonly StockedPet[]): Promise<void>
  /** Removes a pet and its stock; its history and its closed orders stay. Not while orders of it are open. */
  removePet(petId: bigint): Promise<'removed' | 'unknown_pet' | 'in_use'>
}
