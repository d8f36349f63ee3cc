import { CatalogClient } from './catalog-client.ts'
import type {
  NewWebhook,
  Redelivery,
  Webhook,
  WebhookDelivery,
  WebhookTest,
  WebhookUpdate,
  WebhookWithSecret,
} from './contract-types.ts'
import { type CallOptions, callForValue, callOperation, type WriteOptions } from './operation-call.ts'
import { allItems, type Page, type PageOptions, pageOf } from './pages.ts'
import type { Transport } from './transport.ts'

/** Who is told of what happens. What arrives is read by `verifyWebhook`. */
export class WebhookClient extends CatalogClient {
  readonly #calls: Transport

  constructor(transport: Transport) {
    super(transport)
    this.#calls = transport
  }

  /** All webhooks, the oldest first. */
  async listWebhooks({ signal }: CallOptions = {}): Promise<readonly Webhook[]> {
    return (await callForValue(this.#calls, 'listWebhooks', { signal })).value
  }

  async getWebhook(webhookId: bigint, { signal }: CallOptions = {}): Promise<Webhook> {
    return (await callForValue(this.#calls, 'getWebhook', { params: { webhookId }, signal })).value
  }

  /** The only answer with its secret: keep it. */
  async createWebhook(webhook: NewWebhook, options: WriteOptions = {}): Promise<WebhookWithSecret> {
    return (await callForValue(this.#calls, 'createWebhook', { body: webhook, ...options })).value
  }

  /** Changes what `update` names. One that was turned off is turned on again by `{ paused: false }`. */
  async updateWebhook(
    webhookId: bigint,
    update: WebhookUpdate,
    options: WriteOptions = {},
  ): Promise<Webhook> {
    const input = { params: { webhookId }, body: update, ...options }
    return (await callForValue(this.#calls, 'updateWebhook', input)).value
  }

  async removeWebhook(webhookId: bigint, options: WriteOptions = {}): Promise<void> {
    await callOperation(this.#calls, 'removeWebhook', { params: { webhookId }, ...options })
  }

  /** The new secret; for 24 hours deliveries are signed with the one before it as well. */
  async rotateWebhookSecret(webhookId: bigint, options: WriteOptions = {}): Promise<WebhookWithSecret> {
    const input = { params: { webhookId }, ...options }
    return (await callForValue(this.#calls, 'rotateWebhookSecret', input)).value
  }

  /** Sends the events since a time again, with the same ids. */
  async redeliverWebhook(
    webhookId: bigint,
    redelivery: Redelivery,
    options: WriteOptions = {},
  ): Promise<Webhook> {
    const input = { params: { webhookId }, body: redelivery, ...options }
    return (await callForValue(this.#calls, 'redeliverWebhook', input)).value
  }

  /** Sends a test event and returns the response. */
  async testWebhook(webhookId: bigint, { signal }: CallOptions = {}): Promise<WebhookTest> {
    return (await callForValue(this.#calls, 'testWebhook', { params: { webhookId }, signal })).value
  }

  /** A page of what was sent and what came back, newest first. */
  async listWebhookDeliveries(
    webhookId: bigint,
    { limit, cursor, signal }: PageOptions = {},
  ): Promise<Page<WebhookDelivery>> {
    const input = { params: { webhookId }, query: { limit, cursor }, signal }
    const { value, headers } = await callForValue(this.#calls, 'listWebhookDeliveries', input)
    return pageOf(value, headers)
  }

  /** All that is kept of it. */
  allWebhookDeliveries(webhookId: bigint, { signal }: CallOptions = {}): AsyncIterable<WebhookDelivery> {
    return allItems((cursor) => this.listWebhookDeliveries(webhookId, { limit: 100, cursor, signal }))
  }
}
