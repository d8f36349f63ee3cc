import type { PetStatus } from '../stock/inventory.ts'
import { ServiceError } from '../values/errors.ts'
import { parseInt64 } from '../values/int64.ts'
import { type PageRequest, unknownCursor } from '../values/page-request.ts'
import type { CatalogStore } from './catalog-store.ts'

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

/** Which pets; all where nothing is given. */
export interface PetFilter {
  readonly status?: PetStatus
  /** Those with a higher id. */
  readonly after?: bigint
}

/** A page of pets by id ascending, and the cursor of the next one where there is one. */
export async function listPetPage(
  store: Pick<CatalogStore, 'listPets'>,
  { status, limit, cursor }: PageRequest & { readonly status: PetStatus | undefined },
): Promise<{ pets: readonly Pet[]; next: string | undefined }> {
  const after = cursor === undefined ? undefined : parseInt64(cursor)
  if (cursor !== undefined && after === undefined) throw unknownCursor(cursor)
  const filter = { ...(status === undefined ? {} : { status }), ...(after === undefined ? {} : { after }) }
  // One more than asked for tells whether there is a next page.
  const found = await store.listPets(filter, limit + 1)
  const pets = found.slice(0, limit)
  return { pets, next: found.length > limit ? String(pets.at(-1)?.id) : undefined }
}

export async function requirePet(store: Pick<CatalogStore, 'findPet'>, petId: bigint): Promise<Pet> {
  const pet = await store.findPet(petId)
  if (pet === undefined) throw new ServiceError('not_found', `there is no pet with petId ${petId}`)
  return pet
}
