import type { StockStore } from '../../src/core/stock/stock-store.ts'

/** Removes a pet as a caller does; returns the outcome as a word. */
export async function removePet(
  store: Pick<StockStore, 'changeStock'>,
  petId: bigint,
  at = Date.now(),
): Promise<string> {
  const [outcome] = await store.changeStock([{ removedPet: petId, keyId: 'petstore', at }])
  if (outcome === 'unknown_pet') return outcome
  if (typeof outcome === 'object' && 'inUse' in outcome) return 'in_use'
  if (typeof outcome === 'object' && 'removed' in outcome) return 'removed'
  throw new Error(`removing pet ${petId} came to ${JSON.stringify(outcome)}`)
}
