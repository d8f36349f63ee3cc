import { ServiceError } from './errors.ts'
import type { PetStatus } from './inventory.ts'
import type { Store } from './store.ts'

export interface Pet {
  readonly id: bigint
  readonly name: string
  readonly categoryId: bigint
  readonly status: PetStatus
}

/** A pet as it comes into the store: its record and its stock, in one. */
export interface StockedPet extends Pet {
  readonly quantity: number
}

export async function requirePet(store: Pick<Store, 'findPet'>, petId: bigint): Promise<Pet> {
  const pet = await store.findPet(petId)
  if (pet === undefined) throw new ServiceError('not_found', `there is no pet with petId ${petId}`)
  return pet
}
