import { newSecret } from '../../core/webhooks/webhook.ts'
import { changeOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import { Int64 } from '../resources.ts'
import { webhookReply } from '../webhook-reply.ts'
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
    const webhookChange = { newSecret: newSecret() }
    return changeOnce(commits, { webhookId, webhookChange, keyId: key.id, at: clock() }, sentKey, (outcome) =>
      webhookReply(outcome, (webhook) =>
        jsonReply({ ...webhookBody({ webhook, lag }), secret: webhook.secret }),
      ),
    )
  },
})
