import type { ApiKey, StoredSecret } from './api-key.ts'
import type { HistoryEntry, InventoryItem, QuantityChange, QuantityOutcome } from './inventory.ts'
import type { KeyAct, KeyActEntry, KeyRecord } from './key-admin.ts'
import type { Order } from './order.ts'
import type { Pet, StockedPet } from './pet.ts'
import type { LimitState } from './rate-windows.ts'
import type { BanRecord, DailyUsage, LimitRecord } from './usage.ts'

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

  addKey(key: ApiKey, secret: StoredSecret, act: KeyAct): Promise<void>
  /** The key that a secret with this hash opens. Its expiry is the secret's, where that comes first. */
  findKey(hash: string): Promise<ApiKey | undefined>
  /** Every key, oldest first. */
  listKeys(): Promise<KeyRecord[]>
  /** Gives the key another secret; those it had end at `endAt`. */
  rotateKey(keyId: string, secret: StoredSecret, endAt: number, act: KeyAct): Promise<void>
  revokeKey(keyId: string, act: KeyAct): Promise<void>
  /** Ends the ban of a key at once; false where there was none. */
  liftBan(keyId: string, act: KeyAct): Promise<boolean>
  /** What was done with the keys, oldest first. */
  listKeyActs(): Promise<KeyActEntry[]>

  /** What every key has used of its windows, and its last ban. */
  loadLimits(): Promise<ReadonlyMap<string, LimitState>>
  /** Remembers over a restart how these keys stand, and adds to what they used on that day. */
  saveLimits(records: readonly LimitRecord[]): Promise<void>
  /** The keys whose ban has been lifted, and that would still be banned at `now` otherwise. */
  listLiftedBans(now: number): Promise<string[]>
  /** What each key used from `fromDay` (such as 2026-11-15, UTC) on. */
  listUsage(fromDay: string): Promise<DailyUsage[]>
  /** The bans that began at `since` or later, oldest first. */
  listBans(since: number): Promise<BanRecord[]>

  /** Reads everything once and tells what is damaged: nothing, where all is well. */
  findDamage(): Promise<string[]>
  /** The latest time that a change was recorded with. */
  latestChangeAt(): Promise<number | undefined>

  close(): Promise<void>
}
