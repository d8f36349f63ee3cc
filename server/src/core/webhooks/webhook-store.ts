// The ports of webhooks: the store, the sender and the observers of deliveries.
import Type from 'typebox'
import type { EventStore } from '../stock/stock-store.ts'
import { DateTime, Int64, type RecordOf } from '../values/field.ts'
import type { Webhook, WebhookProgress } from './webhook.ts'

/** The message of a delivery. Each attempt sends the same message. */
export interface Message {
  readonly id: string
  readonly type: string
  readonly body: string
}

export interface SendResult {
  /** Absent if no response arrived. */
  readonly status?: number
  readonly durationMs: number
  /** The beginning of the response body. */
  readonly response: string
  /** Why the attempt failed; absent if it succeeded. */
  readonly error?: string
  /** The receiver's Retry-After. */
  readonly retryAfterMs?: number
}

export interface CheckedUrl {
  /** In normal form, if the text is a url. */
  readonly url: string
  /** Why messages cannot be sent to it, as a phrase that follows "url"; absent if they can. */
  readonly urlProblem?: string
}

/** Allows an attempt as long as the webhook does not change. */
export interface SendPermit {
  /** Checked after the address lookup, immediately before each connection. */
  isValid(): boolean | Promise<boolean>
  /** Ends an attempt whose connection is being made. */
  readonly signal?: AbortSignal
}

export interface WebhookSender {
  checkUrl(text: string): Promise<CheckedUrl>
  /** Signs the message with each of the secrets. Never rejects. Returns undefined if the permit ended before a response came. */
  send(
    url: string,
    secrets: readonly string[],
    message: Message,
    permit: SendPermit,
  ): Promise<SendResult | undefined>
}

export interface DeliveryObserver {
  attemptFinished?(isDelivered: boolean, durationMs: number): void
  webhookTurnedOff?(webhook: Webhook, reason: string): void
}

/** One request to the url of a webhook, and its result. */
export const DELIVERY_ATTEMPT = {
  messageId: Type.String(),
  type: Type.String(),
  response: Type.String(),
  at: DateTime('When the attempt was made.'),
  durationMs: Type.Integer(),
  attempt: Type.Integer({ description: 'Counted from 1.' }),
  isDelivered: Type.Boolean(),
  isParked: Type.Optional(Type.Boolean({ description: 'Whether the event is not tried again.' })),
  status: Type.Optional(Type.Integer()),
  error: Type.Optional(Type.String()),
}
export type DeliveryAttempt = RecordOf<typeof DELIVERY_ATTEMPT>

export function attemptOf(
  { id, type }: Message,
  { attempt, at, isParked = false }: { attempt: number; at: number; isParked?: boolean },
  { retryAfterMs: _, ...result }: SendResult,
): DeliveryAttempt {
  const durationMs = Math.round(result.durationMs)
  const isDelivered = result.error === undefined
  const attempted = { ...result, durationMs, messageId: id, type, at, attempt, isDelivered }
  return isParked ? { ...attempted, isParked } : attempted
}

export const LISTED_ATTEMPT = { id: Int64('Later attempts have higher ids.'), ...DELIVERY_ATTEMPT }
export type ListedAttempt = RecordOf<typeof LISTED_ATTEMPT>

export interface WebhookLag {
  /**
   * The number of events after the webhook's cursor, even of kinds that it does not receive. A pending relist and each held pet
   * count as one more event. If the log no longer has the events, a single relist replaces them, and the number is 1.
   */
  readonly events: number
  /** When the oldest of them happened. `undefined` if there is none, or if a relist replaces them. */
  readonly since: number | undefined
}

export interface WebhookWithLag {
  readonly webhook: Webhook
  readonly lag: WebhookLag
}

/** The limit for each webhook. As many last attempts of parked events are kept in addition. */
export const MAX_KEPT_ATTEMPTS = 1_000

/** Reads webhooks and records deliveries. Commands create and change webhooks. */
export interface WebhookStore {
  /** Sorted by the time of their creation. */
  listWebhooks(): Promise<WebhookWithLag[]>
  findWebhook(id: bigint): Promise<WebhookWithLag | undefined>
  /** At most `limit` attempts, newest first. With `before`, only attempts older than that id. */
  listDeliveries(webhookId: bigint, limit: number, before: bigint | undefined): Promise<ListedAttempt[]>
  /** Records attempts without changing the progress. */
  recordDeliveries(webhookId: bigint, attempts: readonly DeliveryAttempt[]): Promise<void>
}

export interface DeliveryStore extends EventStore {
  /** Whether other processes may deliver, too. */
  readonly sharesDeliveries: boolean
  /**
   * Leases every free webhook, renews leases after half of their time, and returns all webhooks that this process has
   * leased.
   */
  leaseWebhooks(durationMs: number): Promise<Webhook[]>
  /** Ends the leases of this process, so that another process can take over at once. */
  releaseWebhooks(): Promise<void>
  /**
   * Records the attempts and saves the progress. If the webhook has changed or another process has leased it, only records the
   * attempts, and returns false.
   */
  saveProgress(
    webhook: Pick<Webhook, 'id' | 'revision'>,
    progress: WebhookProgress,
    attempts: readonly DeliveryAttempt[],
  ): Promise<boolean>
}
