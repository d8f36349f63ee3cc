import type { Page } from '../values/page.ts'
import type { Adjustment, AdjustmentFilter } from './adjustment.ts'
import type { ResultsOf, SubmittedCommand } from './command.ts'
import type { RememberedAnswer } from './decide.ts'
import type { HistoryEntry, HistoryFilter, PruneLimit } from './history.ts'
import type { InventoryItem, StockChanges } from './inventory.ts'
import type { EditFilter, PetEdit } from './pet-edit.ts'
import type { StockEvents } from './stock-event.ts'

/** Nothing was changed: another process has locked the pets in `petIds` or, if `petIds` is empty, other rows. */
export class PetsLockedError extends Error {
  override readonly name = 'PetsLockedError'
  readonly petIds: ReadonlySet<bigint>

  constructor(petIds: ReadonlySet<bigint>, options?: ErrorOptions) {
    super('another process keeps pets locked', options)
    this.petIds = petIds
  }
}

export interface CommitOptions {
  /** `full` by default. */
  readonly lockWait?: 'brief' | 'full'
  /**
   * Called once all rows are locked, before anything is decided. If it throws, nothing is changed, and `changeStock` rejects with
   * its error.
   */
  readonly onLocked?: () => void
}

/** Reads the stock, and commits all changes. */
export interface StockStore {
  /** Changes with every write, except writes to rate-limit counters. Must be cheap: `undefined` if it would need a query. */
  version(): number | undefined
  /** How many concurrent calls of `changeStock` are worthwhile, if they are about different pets. */
  readonly concurrentCommits: number
  /** How many further calls of `changeStock` may wait for locks of other processes. */
  readonly concurrentLockWaits: number
  /** Reads every entry, in batches, by petId ascending. Resolves to the cursor to pass to `stockChangesSince`. */
  loadStock(onBatch: (items: readonly InventoryItem[]) => void): Promise<string>
  /** The changes since the cursor; `reload` if they are unknown, or if loading the whole stock is faster. */
  stockChangesSince(cursor: string): Promise<StockChanges | 'reload'>
  /**
   * Decides the commands in order, in one commit. The caller passes commands with at most MAX_CHANGES changes in total. Rejects
   * with a ServiceError if the database fails; then it is unknown whether the commit was made. After any other error, the
   * commit was rolled back. With a brief lock wait, rejects with PetsLockedError if another process holds a lock on a pet or
   * on another row of the commit.
   */
  changeStock<const Commands extends readonly SubmittedCommand[]>(
    commands: Commands,
    options?: CommitOptions,
  ): Promise<ResultsOf<Commands>>
  findAnswer(sent: Pick<RememberedAnswer, 'keyId' | 'idempotencyKey'>): Promise<RememberedAnswer | undefined>
  /** Removes at most `maxAnswers` answers that need not be remembered any more, in one commit. Resolves to their number. */
  forgetAnswers(now: number, maxAnswers: number): Promise<number>
}

/** The history of the stock, for people. Pruning it changes no quantity. */
export interface HistoryStore {
  /**
   * At most `limit` changes of one pet, newest first. With a cursor, only changes before it. If the pet was edited very often,
   * a page may have fewer changes, or none, although there is a next page.
   */
  listHistoryPage(petId: bigint, limit: number, cursor: string | undefined): Promise<Page<HistoryEntry>>
  /**
   * At most `limit` changes of all pets, newest first. A call examines only a limited part of the log, so a
   * short or empty page may still have a next page.
   */
  listRecentHistory(
    limit: number,
    cursor: string | undefined,
    filter?: HistoryFilter,
  ): Promise<Page<HistoryEntry>>
  findAdjustment(id: bigint): Promise<Adjustment | undefined>
  /** At most `limit` adjustments, the latest recorded first. Every call examines only a limited part of the log, as above. */
  listAdjustments(
    limit: number,
    cursor: string | undefined,
    filter: AdjustmentFilter,
  ): Promise<Page<Adjustment>>
  /** At most `limit` edits of pets, newest first. Every call examines only a limited part of the log, as above. */
  listPetEdits(limit: number, cursor: string | undefined, filter?: EditFilter): Promise<Page<PetEdit>>
  /** The number of log rows, and how many of them `pruneHistory` would remove. Reports the rows counted so far. */
  countPrunable(
    limit: PruneLimit,
    onProgress?: (rows: number) => void,
  ): Promise<{ readonly prunable: number; readonly total: number }>
  /** Removes at most `maxRows` prunable log rows, oldest first, in one commit. Resolves to their number. */
  pruneHistory(limit: PruneLimit, maxRows: number): Promise<number>
}

export interface EventStore extends Pick<StockStore, 'version'> {
  latestEventCursor(): Promise<string>
  /**
   * At most `limit` events of all processes after the cursor, in the order of their commits. A reader that continues at the
   * returned cursor gets each event once. `relist_needed` if the cursor is ahead of the log or belongs to another log, or if
   * the log was pruned past it.
   */
  eventsAfter(cursor: string, limit: number): Promise<StockEvents | 'relist_needed'>
}
