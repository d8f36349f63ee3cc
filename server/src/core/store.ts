import type { ApiKey, StoredSecret } from './api-key.ts'
import type { HistoryPage } from './history.ts'
import type {
  HistoryEntry,
  InventoryItem,
  QuantityChange,
  QuantityOutcome,
  StockChanges,
} from './inventory.ts'
import type { KeyAct, KeyActEntry, KeyRecord } from './key-admin.ts'
import type { Order } from './order.ts'
import type { Pet, PetFilter, StockedPet } from './pet.ts'
import type { Plan } from './plans.ts'
import type { LimitState } from './rate-windows.ts'
import type { StagedImport } from './staged-import.ts'
import type { StockEvents } from './stock-event.ts'
import type { ContentBatch, ContentCounts } from './store-contents.ts'
import type { BanRecord, CountedRequests, DailyUsage, LimitRecord, RequestCount } from './usage.ts'

/**
 * Everything the service keeps. Each verb is atomic on its own, and what it acknowledges is on disk.
 * A database that cannot answer throws `ServiceError('service_unavailable')`.
 */
export interface Store {
  /** Whether several instances of the service work on it at once: then limits are counted in it, together. */
  readonly isShared: boolean
  /**
   * A number that is another one whenever anything but limits may have changed, by this process or any other;
   * `undefined` where only asking can tell. Called for every request, so it must be cheap.
   */
  version(): number | undefined

  /** Gives every entry, batch by batch, by petId ascending. Resolves to the cursor from which changes follow. */
  loadStock(onBatch: (items: readonly InventoryItem[]) => void): Promise<string>
  /** What is different since the cursor was given, or `too_many` where loading it all again is the better way. */
  stockChangesSince(cursor: string): Promise<StockChanges | 'too_many'>
  /** Every entry, by petId ascending. */
  listInventory(): Promise<InventoryItem[]>
  /**
   * Sets each quantity in the order given, in one commit; answers in the same order. A quantity that
   * really changes leaves one history row.
   */
  setQuantities(changes: readonly QuantityChange[]): Promise<QuantityOutcome[]>
  /** The changes of one pet, oldest first. */
  listHistory(petId: bigint): Promise<HistoryEntry[]>
  /** At most `limit` changes of one pet, newest first; those that are older than the cursor where there is one. */
  listHistoryPage(
    petId: bigint,
    limit: number,
    cursor: string | undefined,
  ): Promise<HistoryPage | 'unknown_cursor'>

  /** Likewise of all pets together; of one pet, in the order in which they were made. */
  listRecentHistory(limit: number, cursor: string | undefined): Promise<HistoryPage | 'unknown_cursor'>

  /** The cursor behind everything that has happened to the stock by now. */
  latestEventCursor(): Promise<string>
  /**
   * At most `limit` of the things that happened to the stock after the cursor, in the order of their commits, each
   * once, whoever did them. What is committed later never stands before what was given. `too_far` where the cursor is
   * so far back, or ahead of everything, that reading the stock anew is the better way; `unknown_cursor` for a text
   * that is no cursor of this store.
   */
  stockEventsAfter(cursor: string, limit: number): Promise<StockEvents | 'too_far' | 'unknown_cursor'>

  findPet(petId: bigint): Promise<Pet | undefined>
  /** The first `limit` pets, by id ascending, that the filter lets through. */
  listPets(filter: PetFilter, limit: number): Promise<Pet[]>
  countPets(): Promise<number>
  /** Adds pets with their stock, all or none. */
  addPets(pets: readonly StockedPet[]): Promise<void>

  /** Every order, by id ascending. */
  listOrders(): Promise<Order[]>
  /** Adds orders, all or none. */
  addOrders(orders: readonly Order[]): Promise<void>

  /** Removes a pet and its stock; its history stays. False where there is no such pet. */
  removePet(petId: bigint): Promise<boolean>
  /** Every pet with its stock, by id ascending, batch by batch and all of one moment. */
  exportPets(): AsyncIterable<readonly StockedPet[]>
  /** Every order, likewise. */
  exportOrders(): AsyncIterable<readonly Order[]>
  /** Begins to bring in pets with their stock. */
  stagePets(): Promise<StagedImport<StockedPet>>
  stageOrders(): Promise<StagedImport<Order>>
  /** Copies everything, of one moment, into a new file that only its owner can read, and checks the copy. */
  backupTo(path: string): Promise<void>

  countContents(): Promise<ContentCounts>
  /** Everything there is, kind by kind and all of one moment, to be moved to another store. */
  readContents(): AsyncIterable<ContentBatch>
  /** Takes everything into this store, which must be empty: all of it or nothing. */
  writeContents(batches: AsyncIterable<ContentBatch>): Promise<void>

  addKey(key: ApiKey, secret: StoredSecret, act: KeyAct): Promise<void>
  /** The key that a secret with this hash opens. Its expiry is the secret's, where that comes first. */
  findKey(hash: string): Promise<ApiKey | undefined>
  /** How many keys of each plan are neither revoked nor expired at `now`. */
  countActiveKeys(now: number): Promise<Record<Plan, number>>
  /** Every key, oldest first. */
  listKeys(): Promise<KeyRecord[]>
  /** Gives the key another secret; those it had end at `endAt`, or are forgotten where that is not in the future. */
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
  /**
   * Gives how these keys stand, and the time by the store's own clock, to `change`, and saves what it makes of them;
   * until then nobody else can look at them. `change` may be called more than once, and what it did the last time
   * counts.
   */
  changeLimits(
    keyIds: readonly string[],
    change: (states: ReadonlyMap<string, LimitState>, now: number) => readonly LimitRecord[],
  ): Promise<void>
  /**
   * Counts the requests of each key that has room for all of them (`hasRoomFor` at the store's time), and gives how it
   * stands after them. A key that is missing in the answer has been left alone.
   */
  countRequests(counts: readonly RequestCount[]): Promise<ReadonlyMap<string, CountedRequests>>
  /** The bans that have been lifted, and would still last at `now` otherwise. */
  listLiftedBans(now: number): Promise<{ readonly keyId: string; readonly number: number }[]>
  /** What each key used from `fromDay` (such as 2026-11-15, UTC) on. */
  listUsage(fromDay: string): Promise<DailyUsage[]>
  /** The bans that began at `since` or later, oldest first. */
  listBans(since: number): Promise<BanRecord[]>

  /** Reads everything once and tells what is damaged: nothing, where all is well. */
  findDamage(): Promise<string[]>
  /** The latest time that a change was recorded with. */
  latestChangeAt(): Promise<number | undefined>

  /** Resolves when the database answers. */
  ping(): Promise<void>
  close(): Promise<void>
}
