import type { IdInput, IdKind } from './ids.ts'
import type { CallOptions, Condition, WriteOptions } from './options.ts'
import type { Api, BodyOf, Query } from './request.ts'

export type Webhooks<Ids extends IdKind> = ReturnType<typeof createWebhooks<Ids>>

/** Webhooks, which send events to an address of yours. `verifyWebhook` reads the deliveries. */
export function createWebhooks<Ids extends IdKind>(api: Api<Ids>) {
  return {
    /** All webhooks, oldest first, on one page. */
    list: (options: CallOptions = {}) => api.list('listWebhooks', options),

    get: (webhookId: IdInput, options: CallOptions = {}) =>
      api.value('getWebhook', { params: { webhookId } }, options),

    /** Returns the secret that signs the deliveries. The service does not show it again. */
    create: (webhook: BodyOf<'createWebhook'>, options: WriteOptions = {}) =>
      api.value('createWebhook', { body: webhook }, options),

    /** Changes the given fields. `{ paused: false }` or another url turns on a webhook that was turned off. */
    update: (webhookId: IdInput, change: BodyOf<'updateWebhook'>, options: WriteOptions & Condition = {}) =>
      api.value('updateWebhook', { params: { webhookId }, body: change }, options),

    remove: (webhookId: IdInput, options: WriteOptions & Condition = {}) =>
      api.done('removeWebhook', { params: { webhookId } }, options),

    /** Returns a new secret. For 24 hours, deliveries are signed with both secrets. */
    rotateSecret: (webhookId: IdInput, options: WriteOptions = {}) =>
      api.value('rotateWebhookSecret', { params: { webhookId } }, options),

    /** Sends the event `from` and all later events again. */
    replay: (webhookId: IdInput, replay: BodyOf<'replayWebhook'>, options: WriteOptions = {}) =>
      api.done('replayWebhook', { params: { webhookId }, body: replay }, options),

    /** Makes the webhook belong to the key of this client, which needs the permission `keys` as well. */
    takeOver: (webhookId: IdInput, options: WriteOptions = {}) =>
      api.value('takeOverWebhook', { params: { webhookId } }, options),

    /** Sends a test event now, and returns the receiver's response. Not retried by default, because it could send two. */
    test: (webhookId: IdInput, options: CallOptions = {}) =>
      api.value('testWebhook', { params: { webhookId } }, { retries: 0, ...options }),

    /** The attempts to deliver events and the responses, newest first. */
    deliveries: (webhookId: IdInput, options: Query<'listWebhookDeliveries'> & CallOptions = {}) =>
      api.list('listWebhookDeliveries', options, { webhookId }),
  }
}
