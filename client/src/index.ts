export { type Limits, PetstoreClient } from './client.ts'
export type * from './contract-types.ts'
export { MAX_LENGTHS, VALUES } from './contract-types.ts'
export {
  type ClientErrorCode,
  type ErrorContext,
  InsufficientStockError,
  isPetstoreError,
  OrderClosedError,
  PetstoreError,
  type PetstoreErrorCode,
} from './errors.ts'
export type { EventOptions, InventoryEvent } from './events.ts'
export type { IdInput, Input } from './ids.ts'
export type {
  BookingOptions,
  ChangeFilter,
  CountLine,
  Inventory,
  InventorySearch,
  StockLine,
} from './inventory.ts'
export { stringify } from './json.ts'
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
export type { CompletionOptions, Orders } from './orders.ts'
export { etagOf } from './request.ts'
export { METHODS } from './resources.ts'
export { EventParser as EventStreamParser, type ServerSentEvent } from './server-sent-events.ts'
export {
  type ReceivedWebhook,
  type UnknownWebhook,
  verifyWebhook,
  type WebhookHeaders,
} from './verify-webhook.ts'
