import type { PetStatus } from '../stock/inventory.ts'

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
