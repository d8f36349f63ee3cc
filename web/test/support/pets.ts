import type { StockedPet } from '../../../server/src/core/catalog/pet.ts'

/** Pets with ids from 1, ten of each. `fields` gives what is different, by the index of the pet. */
export function petsNumbered(
  count: number,
  fields: (index: number) => Partial<StockedPet> = () => ({}),
): readonly StockedPet[] {
  return Array.from({ length: count }, (_, index) => ({
    id: BigInt(index + 1),
    name: `Pet number ${index + 1}`,
    categoryId: 1n,
    status: 'available',
    quantity: 10,
    ...fields(index),
  }))
}

export function petsNamed(...names: readonly [string, ...string[]]): readonly StockedPet[] {
  return petsNumbered(names.length, (index) => ({ name: names[index] ?? names[0] }))
}

/** Pets in three categories, with barcodes of thirteen digits. */
export function scannedPets(count: number): readonly StockedPet[] {
  return petsNumbered(count, (index) => ({
    categoryId: BigInt((index % 3) + 1),
    barcode: barcodeOf(index + 1),
  }))
}

export function barcodeOf(petId: number): string {
  return String(4_006_381_000_000 + petId)
}
