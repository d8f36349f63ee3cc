import type { Category } from '../catalog/category.ts'
import type { ExportedPet, StockedPet } from '../catalog/pet.ts'
import type { OrderRow } from '../orders/order.ts'
import type { Result, SubmittedCommand } from '../stock/command.ts'

/**
 * Decides and writes commands with at most MAX_CHANGES changes in total, as `StockStore.changeStock` does, but in a transaction
 * that may have other steps. A refused command changes nothing and does not end the transaction.
 */
export type ChangeStep = (commands: readonly SubmittedCommand[]) => Promise<readonly Result[]>

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
  /** Exports yield batches by ascending id, from one snapshot. */
  exportPets(): AsyncIterable<readonly ExportedPet[]>
  exportCategories(): AsyncIterable<readonly Category[]>
  /** A row for each line of the orders that lists have, too. */
  exportOrders(): AsyncIterable<readonly OrderRow[]>
  /** Writes a snapshot of everything to a new file, which only its owner can read, and checks the file. */
  backupTo(path: string): Promise<void>
}
