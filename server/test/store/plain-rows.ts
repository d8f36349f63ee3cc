import type { StockedPet } from '../../src/core/catalog/pet.ts'
import type { ChangeOrigin } from '../../src/core/stock/change-origin.ts'
import type { Command, CommandOf } from '../../src/core/stock/command.ts'
import type { LockedEntry } from '../../src/core/stock/inventory.ts'

export function pet(id: bigint, quantity: number): StockedPet {
  return { id, name: `Pet ${id}`, categoryId: 1n, status: 'available', quantity }
}

/** Counts a pet. */
export function change(petId: bigint, quantity: number, by: Partial<ChangeOrigin> = {}): CommandOf<'adjust'> {
  return { type: 'adjust', changes: [{ petId, quantity }], keyId: 'key_a', at: 1, ...by }
}

/** The pet and the quantity of a command that counts one pet. */
export function countIn(command: Command): { readonly petId: bigint; readonly quantity: number } {
  const [first] = command.type === 'adjust' ? command.changes : []
  if (first?.petId === undefined || first.quantity === undefined) throw new Error('the command counts no pet')
  return { petId: first.petId, quantity: first.quantity }
}

/** An entry of a pet that was never counted and never moved. */
export function entryWith(quantity: number, more: Partial<LockedEntry> = {}): LockedEntry {
  return {
    quantity,
    status: 'available',
    reserved: 0,
    lowStockAt: null,
    countedAt: null,
    movedAt: null,
    ...more,
  }
}
