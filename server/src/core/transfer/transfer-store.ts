import type { Category, ImportedCategory } from '../catalog/category.ts'
import type { ImportedPet, StockedPet } from '../catalog/pet.ts'
import type { OrderRow } from '../orders/order.ts'
import type { StagedAdjustment } from './staged-adjustment.ts'
import type { StagedImport } from './staged-import.ts'
import type { ContentBatch, ContentCounts } from './store-contents.ts'

/** For a database with one writer at a time: what a long import does to the service beside it. */
export interface WritePause {
  /** Whether a service runs on the database at this moment. */
  isServed(): boolean
  /** Lets the service tell its callers how many seconds it cannot write for. Replaces the previous announcement. */
  announce(seconds: number): void
  /** To be called when the import has ended, whether or not anything was announced. */
  withdraw(): void
}

/** Many rows at once, in and out. */
export interface TransferStore {
  /** Begins to bring in pets with their stock. */
  stagePets(): Promise<StagedImport<ImportedPet>>
  /** Likewise categories; their pets cross thresholds in the same commit. */
  stageCategories(): Promise<StagedImport<ImportedCategory>>
  stageOrders(): Promise<StagedImport<OrderRow>>
  /** Begins one adjustment of any number of pets. */
  stageAdjustment(): Promise<StagedAdjustment>
  /** Every pet with its stock, by id ascending, batch by batch and all of one moment. */
  exportPets(): AsyncIterable<readonly StockedPet[]>
  /** Every category, likewise. */
  exportCategories(): AsyncIterable<readonly Category[]>
  /** Every order that is open or complete, likewise. */
  exportOrders(): AsyncIterable<readonly OrderRow[]>
  /** Copies everything, of one moment, into a new file that only its owner can read, and checks the copy. */
  backupTo(path: string): Promise<void>
  /** Absent if others can write while an import does. */
  readonly writePause?: WritePause
}

/** Everything there is, to be moved to another store. */
export interface ContentStore {
  countContents(): Promise<ContentCounts>
  /** Kind by kind and all of one moment. */
  readContents(): AsyncIterable<ContentBatch>
  /** Takes everything into this store, which must be empty: all of it or nothing. */
  writeContents(batches: AsyncIterable<ContentBatch>): Promise<void>
  /** Makes it another database for those who follow it: after a restore, cursors of before mean something else. */
  renewIdentity(): Promise<void>
}
