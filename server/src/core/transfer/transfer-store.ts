import type { Category, ImportedCategory } from '../catalog/category.ts'
import type { ExportedPet, ImportedPet } from '../catalog/pet.ts'
import type { OrderRow } from '../orders/order.ts'
import type { AdjustmentChange } from '../stock/command.ts'
import type { StagedImport } from './import.ts'

/** Coordinates an import with a running service if the database allows only one writer at a time. */
export interface WritePause {
  isServiceRunning(): boolean
  /** Makes the service refuse writes and ask callers to retry after this many seconds. Replaces the last announcement. */
  announce(seconds: number): void
  /** Ends the announcement. Must be called at the end of the import, even if nothing was announced. */
  withdraw(): void
}

export interface TransferStore {
  stagePets(): Promise<StagedImport<ImportedPet>>
  stageCategories(): Promise<StagedImport<ImportedCategory>>
  stageOrders(): Promise<StagedImport<OrderRow>>
  /** All rows are one adjustment, which may have more than MAX_CHANGES changes. */
  stageAdjustment(): Promise<StagedImport<AdjustmentChange>>
  /** Exports yield batches by ascending id, from one snapshot. */
  exportPets(): AsyncIterable<readonly ExportedPet[]>
  exportCategories(): AsyncIterable<readonly Category[]>
  /** Only open and complete orders. */
  exportOrders(): AsyncIterable<readonly OrderRow[]>
  /** Writes a snapshot of everything to a new file, which only its owner can read, and checks the file. */
  backupTo(path: string): Promise<void>
  /** Absent if other clients can write during an import. */
  readonly writePause?: WritePause
}
