import { newSecret } from '../../core/webhooks/webhook.ts'
import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import { Int64 } from '../resources.ts'
import { changedWebhookReply } from '../webhook-reply.ts'
import { WebhookWithSecret, webhookBody } from '../webhook-resources.ts'

export const rotateWebhookSecret = defineOperation({
  operationId: 'rotateWebhookSecret',
  method: 'POST',
  path: '/webhooks/{webhookId}/rotate-secret',
  summary: 'Give a webhook a new secret',
  description:
    'Gives a webhook a new secret. For 24 hours deliveries are signed with the one before it as well, so that receivers can change at their own time.',
  tag: 'webhooks',
  stability: 'beta',
  needs: 'webhooks',
  isIdempotent: true,
  params: { webhookId: Int64('The webhook.') },
  success: { description: 'The webhook, with its new secret.', schema: WebhookWithSecret },
  errors: ['invalid_request', 'not_found'],
  reply: async ({ params: { webhookId }, key, sentKey }, { commits, clock, store }) => {
    const lag = (await store.findWebhook(webhookId))?.lag ?? { events: 0, since: undefined }
    const command = {
      type: 'rotate_webhook_secret',
      webhookId,
      secret: newSecret(),
      keyId: key.id,
      at: clock(),
    } as const
    return replyOnce(commits, command, sentKey, (outcome) =>
      changedWebhookReply(outcome, webhookId, (webhook) =>
        jsonReply({ ...webhookBody({ webhook, lag }), secret: webhook.secret }),
      ),
    )
  },
})
