export {
  type CallOptions,
  type PageOptions,
  type PetFilter,
  PetstoreClient,
  type TaggedInventoryItem,
} from './client.ts'
export type {
  ChangeEvent,
  ErrorBody,
  HistoryEntry,
  InventoryItem,
  InventoryUpdate,
  Order,
  Pet,
  PetStatus,
  RemovedEvent,
} from './contract-types.ts'
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
