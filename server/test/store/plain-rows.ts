import type { StockedPet } from '../../src/core/catalog/pet.ts'
import type { QuantityChange } from '../../src/core/stock/inventory.ts'

export function pet(id: bigint, quantity: number): StockedPet {
  return { id, name: `Pet ${id}`, categoryId: 1n, status: 'available', quantity }
}

export function change(petId: bigint, quantity: number): QuantityChange {
  return { petId, quantity, keyId: 'key_a', at: 1 }
}
