export type { AdjustmentOptions, StockChange } from './adjust-inventory.ts'
export type { InventorySearch, PetFilter } from './catalog-client.ts'
export {
  type ChangeFilter,
  type OrderFilter,
  type OrderUpdate,
  PetstoreClient,
  type TaggedInventoryItem,
} from './client.ts'
export { InsufficientStockError, OrderClosedError } from './conflict-errors.ts'
export type {
  Availability,
  CatalogEntry,
  Category,
  CategoryUpdate,
  ChangeEvent,
  ErrorBody,
  ErrorDetail,
  HistoryEntry,
  InventoryItem,
  InventoryUpdate,
  Key,
  KeyLimits,
  KeyRotation,
  KeyUpdate,
  KeyWithSecret,
  LimitWindow,
  LowStockEvent,
  NewCategory,
  NewKey,
  NewOrder,
  NewPet,
  NewWebhook,
  Order,
  OrderEvent,
  OrderState,
  PairedKey,
  PairingCode,
  Permission,
  Pet,
  PetEvent,
  PetStatus,
  PetUpdate,
  Reason,
  RecentChange,
  RemovedEvent,
  SearchRow,
  SecretHint,
  Webhook,
  WebhookDelivery,
  WebhookKind,
  WebhookPayload,
  WebhookTest,
  WebhookUpdate,
  WebhookWithSecret,
} from './contract-types.ts'
export { entryTag } from './entry-tag.ts'
export type { EventOptions, InventoryEvent } from './inventory-events.ts'
export type { LimitState } from './limit-state.ts'
export type { CallOptions, WriteOptions } from './operation-call.ts'
export type { PetstoreClientOptions, ResponseNote, RetryOptions } from './options.ts'
export type { Page, PageOptions } from './pages.ts'
export {
  type ClientErrorCode,
  isPetstoreError,
  PetstoreError,
  type PetstoreErrorCode,
} from './petstore-error.ts'
export { EventParser as EventStreamParser, type ServerSentEvent } from './server-sent-events.ts'
export {
  type ReceivedWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
} from './verify-webhook.ts'
