export {
  type CallOptions,
  type PageOptions,
  type PetFilter,
  PetstoreClient,
  type TaggedInventoryItem,
} from './client.ts'
export type {
  Availability,
  CatalogEntry,
  ChangeEvent,
  ErrorBody,
  HistoryEntry,
  InventoryItem,
  InventoryUpdate,
  KeyLimits,
  LimitWindow,
  NewOrder,
  Order,
  OrderEvent,
  OrderState,
  OrderUpdate,
  Pet,
  PetStatus,
  RecentChange,
  RemovedEvent,
} from './contract-types.ts'
export { entryTag } from './entry-tag.ts'
export type { EventOptions, InventoryEvent } from './inventory-events.ts'
export type { LimitState } from './limit-state.ts'
export type { PetstoreClientOptions, ResponseNote, RetryOptions } from './options.ts'
export type { Page } from './pages.ts'
export {
  type ClientErrorCode,
  isPetstoreError,
  PetstoreError,
  type PetstoreErrorCode,
} from './petstore-error.ts'
export { EventParser as EventStreamParser, type ServerSentEvent } from './server-sent-events.ts'
