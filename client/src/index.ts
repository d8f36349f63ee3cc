export type { AdjustmentOptions, StockChange } from './adjust-inventory.ts'
export {
  type PageOptions,
  type PetFilter,
  PetstoreClient,
  type TaggedInventoryItem,
} from './client.ts'
export type {
  CatalogEntry,
  ChangeEvent,
  ErrorBody,
  ErrorDetail,
  HistoryEntry,
  InventoryItem,
  InventoryUpdate,
  KeyLimits,
  LimitWindow,
  Order,
  Pet,
  PetStatus,
  Reason,
  RecentChange,
  RemovedEvent,
} from './contract-types.ts'
export { entryTag } from './entry-tag.ts'
export type { EventOptions, InventoryEvent } from './inventory-events.ts'
export type { LimitState } from './limit-state.ts'
export type { CallOptions, WriteOptions } from './operation-call.ts'
export type { PetstoreClientOptions, ResponseNote, RetryOptions } from './options.ts'
export type { Page } from './pages.ts'
export {
  type ClientErrorCode,
  isPetstoreError,
  PetstoreError,
  type PetstoreErrorCode,
} from './petstore-error.ts'
export { EventParser as EventStreamParser, type ServerSentEvent } from './server-sent-events.ts'
