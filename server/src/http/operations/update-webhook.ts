import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { taggedReply } from '../representation.ts'
import { Int64 } from '../resources.ts'
import { readWebhookUpdate } from '../webhook-input.ts'
import { changedWebhookReply, requireAddress } from '../webhook-reply.ts'
import { Webhook, WebhookUpdate, webhookBody } from '../webhook-resources.ts'

export const updateWebhook = defineOperation({
  operationId: 'updateWebhook',
  method: 'PATCH',
  path: '/webhooks/{webhookId}',
  summary: 'Change a webhook',
  description:
    'Changes the address or the kinds of a webhook, pauses it, or lets it go on: what the body names, and nothing else. It goes on from its place, and what has failed is tried again at once.',
  tag: 'webhooks',
  stability: 'beta',
  needs: 'webhooks',
  isIdempotent: true,
  params: { webhookId: Int64('The webhook to change.') },
  body: WebhookUpdate,
  parseBody: readWebhookUpdate,
  success: { description: 'The webhook.', schema: Webhook },
  errors: ['invalid_request', 'not_found', 'payload_too_large'],
  reply: async ({ params: { webhookId }, body, key, sentKey }, { commits, clock, store, webhooks }) => {
    await requireAddress(webhooks.sender, body.patch.url)
    const lag = (await store.findWebhook(webhookId))?.lag ?? { events: 0, since: undefined }
    const command = { type: 'update_webhook', webhookId, ...body, keyId: key.id, at: clock() } as const
    return replyOnce(commits, command, sentKey, (outcome) =>
      changedWebhookReply(outcome, webhookId, (webhook) => taggedReply(webhookBody({ webhook, lag }))),
    )
  },
})
