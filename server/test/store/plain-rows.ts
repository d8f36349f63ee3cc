import type { StockedPet } from '../../src/core/catalog/pet.ts'
import type { Command, CommandOf } from '../../src/core/stock/command.ts'

export function pet(id: bigint, quantity: number): StockedPet {
  return { id, name: `Pet ${id}`, categoryId: 1n, status: 'available', quantity }
}

export function change(petId: bigint, quantity: number): CommandOf<'set_quantity'> {
  return { type: 'adjust', changes: [{ petId, quantity }], keyId: 'key_a', at: 1 }
}

/** For tests that only send updates. */
export function asUpdate(request: Command): CommandOf<'set_quantity'> {
  if (request.type !== 'set_quantity') throw new Error('nobody has sent anything else')
  return request
}
