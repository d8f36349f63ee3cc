import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { taggedReply } from '../representation.ts'
import { Int64 } from '../resources.ts'
import { changedWebhookReply, normalUrl, requireAddress } from '../webhook-reply.ts'
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
  success: { description: 'The webhook.', schema: Webhook },
  errors: ['invalid_request', 'not_found', 'payload_too_large'],
  reply: async ({ params: { webhookId }, body, key, sentKey }, { commits, clock, store, webhooks }) => {
    const patch = body.url === undefined ? body : { ...body, url: normalUrl(body.url) }
    await requireAddress(webhooks.sender, patch.url)
    const lag = (await store.findWebhook(webhookId))?.lag ?? { events: 0, since: undefined }
    const command = { type: 'update_webhook', webhookId, patch, keyId: key.id, at: clock() } as const
    return replyOnce(commits, command, sentKey, (outcome) =>
      changedWebhookReply(outcome, webhookId, (webhook) => taggedReply(webhookBody({ webhook, lag }))),
    )
  },
})
