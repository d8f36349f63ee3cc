import type { StockEvents } from '../stock/stock-event.ts'
import type { Message, SendResult } from './sender.ts'
import type { Webhook, WebhookProgress } from './webhook.ts'

/** One request to the address of a webhook, and what came of it. */
export interface DeliveryAttempt {
  /** The same for each attempt to deliver the same. */
  readonly messageId: string
  readonly type: string
  readonly at: number
  readonly durationMs: number
  /** Counted from 1. */
  readonly attempt: number
  readonly isDelivered: boolean
  /** Of the answer; absent where none came. */
  readonly status?: number
  /** Why it failed, in words. */
  readonly error?: string
  /** What the answer begins with. */
  readonly response: string
}

export function attemptOf(
  { id, type }: Message,
  attempt: number,
  at: number,
  { retryAfterMs: _, ...result }: SendResult,
): DeliveryAttempt {
  return { ...result, messageId: id, type, at, attempt, isDelivered: result.error === undefined }
}

export interface ListedAttempt extends DeliveryAttempt {
  readonly id: bigint
}

/** How far a webhook is behind. */
export interface WebhookLag {
  /** Events after its place, wanted or not; 1 if the place is gone, since a relist stands for all of them. */
  readonly events: number
  /** When the first of that happened; `undefined` where there is none. */
  readonly since: number | undefined
}

export interface WebhookState {
  readonly webhook: Webhook
  readonly lag: WebhookLag
}

/** For those who look at webhooks. They are changed by `changeStock`. */
export interface WebhookStore {
  /** By when they were made. */
  listWebhooks(): Promise<WebhookState[]>
  findWebhook(id: bigint): Promise<WebhookState | undefined>
  /** At most `limit` attempts, newest first; those that are older than `before` where that is given. */
  listDeliveries(webhookId: bigint, limit: number, before: bigint | undefined): Promise<ListedAttempt[]>
  /** Writes down attempts beside a place: those of a test. */
  recordDeliveries(webhookId: bigint, attempts: readonly DeliveryAttempt[]): Promise<void>
  /** The cursor before everything that happened from this time on and is still known. */
  eventCursorAt(time: number): Promise<string>
}

/** For those who deliver. */
export interface DeliveryStore {
  version(): number | undefined
  latestEventCursor(): Promise<string>
  /** Like `stockEventsAfter`, however far back the cursor is. */
  eventsAfter(cursor: string, limit: number): Promise<StockEvents | 'too_far' | 'unknown_cursor'>
  /** Takes all webhooks that nobody delivers for, for so long; gives those that are ours for at least half of that. */
  leaseWebhooks(durationMs: number): Promise<Webhook[]>
  /** So that somebody else need not wait. */
  releaseWebhooks(): Promise<void>
  /** Writes down how far we have come. False where it is not ours any more, or has been changed: then nothing is. */
  saveProgress(
    webhook: Pick<Webhook, 'id' | 'revision'>,
    progress: WebhookProgress,
    attempts: readonly DeliveryAttempt[],
  ): Promise<boolean>
}

/** Of each webhook. */
export const MAX_KEPT_DELIVERIES = 1_000
