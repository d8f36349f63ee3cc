import type { StockedPet } from '../catalog/pet.ts'
import type { OrderRow } from '../orders/order.ts'
import type { StagedImport } from './staged-import.ts'
import type { ContentBatch, ContentCounts } from './store-contents.ts'

/** Many rows at once, in and out. */
export interface TransferStore {
  /** Begins to bring in pets with their stock. */
  stagePets(): Promise<StagedImport<StockedPet>>
  stageOrders(): Promise<StagedImport<OrderRow>>
  /** Every pet with its stock, by id ascending, batch by batch and all of one moment. */
  exportPets(): AsyncIterable<readonly StockedPet[]>
  /** Every order that is open or complete, likewise. */
  exportOrders(): AsyncIterable<readonly OrderRow[]>
  /** Copies everything, of one moment, into a new file that only its owner can read, and checks the copy. */
  backupTo(path: string): Promise<void>
}

/** Everything there is, to be moved to another store. */
export interface ContentStore {
  countContents(): Promise<ContentCounts>
  /** Kind by kind and all of one moment. */
  readContents(): AsyncIterable<ContentBatch>
  /** Takes everything into this store, which must be empty: all of it or nothing. */
  writeContents(batches: AsyncIterable<ContentBatch>): Promise<void>
}
