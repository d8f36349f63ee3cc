import type { ResultsOf, SubmittedCommand } from './command.ts'
import type { HistoryFilter, HistoryPage, PruneLimit, Removal } from './history.ts'
import type { InventoryItem, StockChanges } from './inventory.ts'
import type { StockEvents } from './stock-event.ts'

/** Another process keeps these pets locked; if the set is empty, it has locked something else. Nothing was changed. */
export class PetsLocked extends Error {
  override readonly name = 'PetsLocked'
  readonly petIds: ReadonlySet<bigint>

  constructor(petIds: ReadonlySet<bigint>, options?: ErrorOptions) {
    super('another process keeps pets locked', options)
    this.petIds = petIds
  }
}

/** Stock, and the one method through which every change is committed. */
export interface StockStore {
  /**
   * A number that changes whenever anything but rate-limit counters may have changed, in this process or another;
   * `undefined` if it takes a query to know. Called for every request, so it must be cheap.
   */
  version(): number | undefined
  /** How many concurrent calls of `changeStock` for different pets pay off. */
  readonly concurrentCommits: number
  /** How many further calls of `changeStock` may wait for pets that other processes have locked. */
  readonly concurrentLockWaits: number
  /** Reads every entry, in batches, by petId ascending. Resolves to the cursor to pass to `stockChangesSince`. */
  loadStock(onBatch: (items: readonly InventoryItem[]) => void): Promise<string>
  /** The changes since the cursor, or `too_many` if loading the whole stock again is faster. */
  stockChangesSince(cursor: string): Promise<StockChanges | 'too_many'>
  /**
   * Decides the commands in order, in one commit; the results have the same order. A quantity that changes is written to
   * the stock and to the log in that commit, and so is the answer to a command with an idempotency key. The commands may
   * have a total size of MAX_CHANGES. Rejects with a ServiceError if the database fails, and then the commit may or may not
   * have been made; any other error means that it was rolled back. With a brief lock wait, it rejects with PetsLocked if
   * another process keeps a pet locked.
   */
  changeStock<const Commands extends readonly SubmittedCommand[]>(
    commands: Commands,
    lockWait?: 'brief' | 'full',
  ): Promise<ResultsOf<Commands>>
  /** Removes at most `batch` answers that are older than this time, in one commit. Resolves to their number. */
  forgetAnswers(before: number, batch: number): Promise<number>
}

/** The history of the stock, for people. Removing it changes no quantity. */
export interface HistoryStore {
  /** At most `limit` changes of one pet, newest first; only changes older than the cursor, if there is one. */
  listHistoryPage(
    petId: bigint,
    limit: number,
    cursor: string | undefined,
  ): Promise<HistoryPage | 'unknown_cursor'>
  /** When a pet was last removed, and by whom; `undefined` if the log has no such record. */
  findRemoval(petId: bigint): Promise<Removal | undefined>
  /**
   * At most `limit` changes of all pets, newest first. With a filter, one call examines a limited part of the log: a page
   * may have fewer than `limit` changes, or none, and still have a next page.
   */
  listRecentHistory(
    limit: number,
    cursor: string | undefined,
    filter?: HistoryFilter,
  ): Promise<HistoryPage | 'unknown_cursor'>
  /** The number of log rows, and how many of them `pruneHistory` would remove. */
  countPrunable(limit: PruneLimit): Promise<{ readonly prunable: number; readonly total: number }>
  /**
   * Removes at most `batch` of the oldest log rows that the limit allows to remove, in one commit. Resolves to their number.
   * Changes no quantity.
   */
  pruneHistory(limit: PruneLimit, batch: number): Promise<number>
}

/** The events of the stock, for subscribers. */
export interface EventStore {
  version(): number | undefined
  /** The cursor after the latest event. */
  latestEventCursor(): Promise<string>
  /**
   * At most `limit` events after the cursor, each once, in the order of their commits, including commits of other processes.
   * An event that is committed later never precedes an event that was returned. `too_far` if the cursor is ahead
   * of the log, was pruned, or is so far back that reading the whole stock is faster; `unknown_cursor` if the text is not a
   * cursor of this store.
   */
  stockEventsAfter(cursor: string, limit: number): Promise<StockEvents | 'too_far' | 'unknown_cursor'>
}
