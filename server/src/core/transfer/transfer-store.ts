import type { Category } from '../catalog/category.ts'
import type { ExportedPet, StockedPet } from '../catalog/pet.ts'
import type { OrderRow } from '../orders/order.ts'
import type { AdjustmentRow } from '../stock/adjustment.ts'
import type { Result, SubmittedCommand } from '../stock/command.ts'

/**
 * Decides and writes commands with at most MAX_CHANGES changes in total, as `StockStore.changeStock` does, but in a transaction
 * that may have other steps. A refused command changes nothing and does not end the transaction.
 */
export type ChangeStep = (commands: readonly SubmittedCommand[]) => Promise<readonly Result[]>

/** Batches by ascending id. One after the other can be read, each once. */
export interface Snapshot {
  readonly categories: AsyncIterable<readonly Category[]>
  readonly pets: AsyncIterable<readonly ExportedPet[]>
  /** A row for each line of the orders that lists have, too. */
  readonly orders: AsyncIterable<readonly OrderRow[]>
  /** A row for each line. */
  readonly adjustments: AsyncIterable<readonly AdjustmentRow[]>
}

export interface TransferStore {
  /**
   * Calls `work` in one transaction. If `work` rejects, nothing is changed, and the returned promise rejects with its error.
   * Other callers continue between two steps: they read the state before the transaction, and a write waits for the locks
   * of the transaction or fails with `service_unavailable`. On SQLite every write does; on PostgreSQL only changes of
   * the pets that the transaction has changed and, if it changes the catalogue, of pets and categories in general.
   */
  changeInOneTransaction<T>(work: (change: ChangeStep) => Promise<T>): Promise<T>
  /** The pets that have one of these ids or barcodes. */
  findStockedPets(ids: readonly bigint[], barcodes: readonly string[]): Promise<StockedPet[]>
  /** Calls `read` with what the store has at one moment, and resolves once `read` does. */
  readSnapshot<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T>
  /** Writes a snapshot of everything to a new file, which only its owner can read, and checks the file. */
  backupTo(path: string): Promise<void>
}
