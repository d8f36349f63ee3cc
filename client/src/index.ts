export type {
  Catalog,
  Categories,
  EditFilter,
  Pets,
  UpsertOptions,
  UpsertProgress,
} from './catalog.ts'
export { type Limits, PetstoreClient } from './client.ts'
export type {
  Availability,
  CatalogEntry,
  Category,
  CategoryEvent,
  CategoryUpdate,
  ChangeEvent,
  ErrorBody,
  ErrorDetail,
  HistoryEntry,
  ImportKind,
  ImportResult,
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
  OrderUpdate,
  PairingCode,
  Permission,
  Pet,
  PetBatch,
  PetBatchResult,
  PetEdit,
  PetEvent,
  PetStatus,
  PetUpdate,
  PetUpsert,
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
export {
  type ClientErrorCode,
  type ErrorContext,
  type FailedPart,
  InsufficientStockError,
  isPetstoreError,
  OrderClosedError,
  PetstoreError,
  type PetstoreErrorCode,
} from './errors.ts'
export type { EventOptions, InventoryEvent } from './events.ts'
export type { IdInput, IdKind, Input, Output } from './ids.ts'
export {
  type Adjustment,
  type BookingOptions,
  type ChangeFilter,
  type CountLine,
  entryTag,
  type Inventory,
  type InventorySearch,
  type StockChange,
  type StockLine,
  type TaggedInventoryItem,
} from './inventory.ts'
export { stringify } from './json.ts'
export type { Keys } from './keys.ts'
export type { LimitState } from './limit-state.ts'
export type { List, Page } from './list.ts'
export type {
  CallOptions,
  Condition,
  IncomingResponse,
  OutgoingRequest,
  PetstoreClientOptions,
  WriteOptions,
} from './options.ts'
export type { OrderFilter, Orders } from './orders.ts'
export { etagOf, type OperationId } from './request.ts'
export { EventParser as EventStreamParser, type ServerSentEvent } from './server-sent-events.ts'
export {
  type ReceivedWebhook,
  type UnknownWebhook,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
} from './verify-webhook.ts'
export type { Webhooks } from './webhooks.ts'
