import type { PetStatus } from '../stock/inventory.ts'
import { ServiceError } from '../values/errors.ts'

export interface Pet {
  readonly id: bigint
  readonly name: string
  readonly categoryId: bigint
  readonly status: PetStatus
  /** No other pet has it. */
  readonly barcode?: string
  /** It is low with so many available or fewer; its category decides where nothing is given. */
  readonly lowStockAt?: number
}

/** A pet as it comes into the store: its record and its stock, in one. */
export interface StockedPet extends Pet {
  readonly quantity: number
}

/** A pet as it stands in a file: null takes away what it has, and what is left out stays as it is. */
export interface ImportedPet extends Omit<StockedPet, 'barcode' | 'lowStockAt'> {
  readonly barcode?: string | null
  readonly lowStockAt?: number | null
}

/** A pet as somebody makes it; it gets an id where none is given. */
export interface PetDraft extends Omit<StockedPet, 'id'> {
  readonly id?: bigint
}

/** What of a pet is to be another; null takes it away. */
export interface PetPatch extends Partial<Omit<Pet, 'id' | 'barcode' | 'lowStockAt'>> {
  readonly barcode?: string | null
  readonly lowStockAt?: number | null
}

/** Which pets; all where nothing is given. */
export interface PetFilter {
  readonly status?: PetStatus | undefined
  /** Those with a higher id. */
  readonly after?: bigint | undefined
}

/** The same pet with the patch applied. */
export function patched(pet: Pet, patch: PetPatch): Pet {
  const { barcode = pet.barcode, lowStockAt = pet.lowStockAt, ...rest } = patch
  const { id, name, categoryId, status } = { ...pet, ...rest }
  return {
    ...{ id, name, categoryId, status },
    ...(barcode === undefined || barcode === null ? {} : { barcode }),
    ...(lowStockAt === undefined || lowStockAt === null ? {} : { lowStockAt }),
  }
}

export function isSamePet(one: Pet, other: Pet): boolean {
  return (
    one.name === other.name &&
    one.categoryId === other.categoryId &&
    one.status === other.status &&
    one.barcode === other.barcode &&
    one.lowStockAt === other.lowStockAt
  )
}

export function noPet(petId: bigint): ServiceError {
  return new ServiceError('not_found', `there is no pet with petId ${petId}`)
}
