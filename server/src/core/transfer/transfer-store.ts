import type { Category, ImportedCategory } from '../catalog/category.ts'
import type { ImportedPet, StockedPet } from '../catalog/pet.ts'
import type { OrderRow } from '../orders/order.ts'
import type { AdjustmentChange } from '../stock/command.ts'
import type { StagedImport } from './import.ts'

/** For a database with one writer at a time: how an import affects a service that uses the same database. */
export interface WritePause {
  /** Whether a service is running on the database now. */
  isServiceRunning(): boolean
  /** The service reports these seconds to its callers as the time until it can write. Replaces the last announcement. */
  announce(seconds: number): void
  /** Must be called when the import has ended, even if nothing was announced. */
  withdraw(): void
}

/** Imports and exports of many records. */
export interface TransferStore {
  /** Starts an import of pets with their stock. */
  stagePets(): Promise<StagedImport<ImportedPet>>
  stageCategories(): Promise<StagedImport<ImportedCategory>>
  stageOrders(): Promise<StagedImport<OrderRow>>
  /** Starts an adjustment of any number of pets. It counts as one adjustment. */
  stageAdjustment(): Promise<StagedImport<AdjustmentChange>>
  /** Exports return batches by ascending id, from one snapshot. */
  exportPets(): AsyncIterable<readonly StockedPet[]>
  exportCategories(): AsyncIterable<readonly Category[]>
  /** The orders that are open or complete. */
  exportOrders(): AsyncIterable<readonly OrderRow[]>
  /** Writes a snapshot of everything to a new file that only its owner can read, and checks that file. */
  backupTo(path: string): Promise<void>
  /** Absent if other clients can write during an import. */
  readonly writePause?: WritePause
}
