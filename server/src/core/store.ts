import type { ApiKey } from './api-key.ts'
import type { HistoryEntry, InventoryItem, QuantityChange, QuantityOutcome } from './inventory.ts'
import type { Order } from './order.ts'
import type { Pet, StockedPet } from './pet.ts'
import type { LimitState } from './rate-windows.ts'

/**
 * Everything the service keeps. Each verb is atomic on its own, and what it acknowledges is on disk.
 * A database that cannot answer throws `ServiceError('service_unavailable')`.
 */
export interface Store {
  /** Every entry, by petId ascending. */
  listInventory(): Promise<InventoryItem[]>
  /**
   * Sets each quantity in the order given, in one commit; answers in the same order. A quantity that
   * really changes leaves one history row.
   */
  setQuantities(changes: readonly QuantityChange[]): Promise<QuantityOutcome[]>
  /** The changes of one pet, oldest first. */
  listHistory(petId: bigint): Promise<HistoryEntry[]>

  findPet(petId: bigint): Promise<Pet | undefined>
  countPets(): Promise<number>
  /** Adds pets with their stock, all or none. */
  addPets(pets: readonly StockedPet[]): Promise<void>

  /** Every order, by id ascending. */
  listOrders(): Promise<Order[]>
  /** Adds orders, all or none. */
  addOrders(orders: readonly Order[]): Promise<void>

  addKey(key: ApiKey, hash: string): Promise<void>
  findKey(hash: string): Promise<ApiKey | undefined>

  /** What every key has used of its windows, and its last ban. */
  loadLimits(): Promise<ReadonlyMap<string, LimitState>>
  /** Remembers these states over a restart. */
  saveLimits(states: ReadonlyMap<string, LimitState>): Promise<void>

  close(): Promise<void>
}
