import Type from 'typebox'
import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { Int64 } from '../resources.ts'
import { removedWebhookReply } from '../webhook-reply.ts'

export const removeWebhook = defineOperation({
  operationId: 'removeWebhook',
  method: 'DELETE',
  path: '/webhooks/{webhookId}',
  summary: 'Remove a webhook',
  description: 'Removes a webhook with its place and its deliveries. What is under way may still arrive.',
  tag: 'webhooks',
  stability: 'beta',
  needs: 'webhooks',
  isIdempotent: true,
  params: { webhookId: Int64('The webhook to remove.') },
  success: { status: 204, description: 'The webhook is gone.', schema: Type.Null() },
  errors: ['invalid_request', 'not_found'],
  reply: ({ params: { webhookId }, key, sentKey }, { commits, clock }) =>
    replyOnce(
      commits,
      { type: 'remove_webhook', webhookId, keyId: key.id, at: clock() },
      sentKey,
      (outcome) => removedWebhookReply(outcome, webhookId),
    ),
})
