import type { HistoryFilter, HistoryPage, PruneLimit, Removal } from './history.ts'
import type { InventoryItem, StockChanges } from './inventory.ts'
import type { StockEvents } from './stock-event.ts'
import type { StockOutcome, StockRequest } from './stock-request.ts'

/** Another process keeps these pets locked; if there are none, it has locked something else. Nothing was changed. */
export class PetsLocked extends Error {
  override readonly name = 'PetsLocked'
  readonly petIds: ReadonlySet<bigint>

  constructor(petIds: ReadonlySet<bigint>, options?: ErrorOptions) {
    super('another process keeps pets locked', options)
    this.petIds = petIds
  }
}

/** What is on the shelf. */
export interface StockStore {
  /**
   * A number that is another one whenever anything but limits may have changed, by this process or any other;
   * `undefined` where only asking can tell. Called for every request, so it must be cheap.
   */
  version(): number | undefined
  /** How many calls of `changeStock` for different pets it is worth having under way at once. */
  readonly concurrentCommits: number
  /** How many calls of `changeStock` may wait beside them for pets that other processes have locked. */
  readonly concurrentLockWaits: number
  /** Gives every entry, batch by batch, by petId ascending. Resolves to the cursor from which changes follow. */
  loadStock(onBatch: (items: readonly InventoryItem[]) => void): Promise<string>
  /** What is different since the cursor was given, or `too_many` where loading it all again is the better way. */
  stockChangesSince(cursor: string): Promise<StockChanges | 'too_many'>
  /**
   * Decides on each request in the order given, in one commit; answers in the same order. A quantity that really
   * changes is written to the stock and to the log in that same commit, and so is what is remembered of a request with
   * a key. At most as many changes as one adjustment can have. Rejects with a ServiceError if the database is in trouble,
   * after which nobody knows whether the commit was made; any other error means that it was rolled back. A brief wait
   * for pets that another process has locked ends with PetsLocked.
   */
  changeStock(requests: readonly StockRequest[], lockWait?: 'brief' | 'full'): Promise<StockOutcome[]>
  /** Removes at most `batch` answers that were remembered before this time, in one commit; gives how many. */
  forgetAnswers(before: number, batch: number): Promise<number>
}

/** What happened to the stock, for people. It can be removed without changing what is on the shelf. */
export interface HistoryStore {
  /** At most `limit` changes of one pet, newest first; those that are older than the cursor where there is one. */
  listHistoryPage(
    petId: bigint,
    limit: number,
    cursor: string | undefined,
  ): Promise<HistoryPage | 'unknown_cursor'>
  /** When a pet was last removed, and by whom; `undefined` where the log does not tell of it. */
  findRemoval(petId: bigint): Promise<Removal | undefined>
  /**
   * Likewise of all pets together; of one pet, in the order in which they were made. Where a filter is given, only so much
   * of the log is looked at: a page may have fewer than `limit`, or none, and still tell where to go on.
   */
  listRecentHistory(
    limit: number,
    cursor: string | undefined,
    filter?: HistoryFilter,
  ): Promise<HistoryPage | 'unknown_cursor'>
  /** How many rows of the log there are, and how many of them `pruneHistory` would remove. */
  countPrunable(limit: PruneLimit): Promise<{ readonly prunable: number; readonly total: number }>
  /**
   * Removes at most `batch` of the oldest rows of the log that the limit lets go, in one commit; gives how many. No
   * quantity changes by it.
   */
  pruneHistory(limit: PruneLimit, batch: number): Promise<number>
}

/** What happened to the stock, for those who follow it. */
export interface EventStore {
  version(): number | undefined
  /** The cursor behind everything that has happened to the stock by now. */
  latestEventCursor(): Promise<string>
  /**
   * At most `limit` of the things that happened to the stock after the cursor, in the order of their commits, each
   * once, whoever did them. What is committed later never stands before what was given. `too_far` where the cursor is
   * so far back, or ahead of everything, that reading the stock anew is the better way; `unknown_cursor` for a text
   * that is no cursor of this store.
   */
  stockEventsAfter(cursor: string, limit: number): Promise<StockEvents | 'too_far' | 'unknown_cursor'>
}
