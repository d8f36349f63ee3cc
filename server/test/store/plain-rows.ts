import type { StockedPet } from '../../src/core/catalog/pet.ts'
import type { QuantityChange, StockRequest } from '../../src/core/stock/stock-request.ts'

export function pet(id: bigint, quantity: number): StockedPet {
  return { id, name: `Pet ${id}`, categoryId: 1n, status: 'available', quantity }
}

export function change(petId: bigint, quantity: number): QuantityChange {
  return { petId, quantity, keyId: 'key_a', at: 1 }
}

/** For tests that only send updates. */
export function asUpdate(request: StockRequest): QuantityChange {
  if (!('quantity' in request)) throw new Error('nobody has sent anything else')
  return request
}
