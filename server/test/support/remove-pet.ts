import type { StockStore } from '../../src/core/stock/stock-store.ts'

/** Removes a pet as a caller does; returns the outcome as a word. */
export async function removePet(
  store: Pick<StockStore, 'changeStock'>,
  petId: bigint,
  at = Date.now(),
): Promise<string> {
  const [outcome] = await store.changeStock([{ type: 'remove_pet', petId, keyId: 'petstore', at }])
  switch (outcome.type) {
    case 'done':
      return 'removed'
    case 'unknown_pet':
      return 'unknown_pet'
    case 'record_changed':
      throw new Error('the command has set no condition')
    case 'pet_reserved':
      return 'in_use'
    case 'pet_has_stock':
      return 'forbidden'
  }
}
