import {
  MAX_WEBHOOKS,
  MAX_WEBHOOKS_PER_KEY,
  newSecret,
  newWebhookId,
  type Webhook,
} from '../../core/webhooks/webhook.ts'
import { replyOnce } from '../idempotency.ts'
import { defineOperation } from '../operation.ts'
import { jsonReply } from '../reply.ts'
import { createdWebhookReply, normalUrl, requireAddress } from '../webhook-reply.ts'
import { NewWebhook, WebhookWithSecret, webhookBody } from '../webhook-resources.ts'

export const createWebhook = defineOperation({
  operationId: 'createWebhook',
  method: 'POST',
  path: '/webhooks',
  summary: 'Make a webhook',
  description: `From now on, what happens is sent to the address by POST, by the Standard Webhooks specification: late rather than never, at least once, in order for each pet. Any answer from 200 to 299 within 15 seconds counts as taken; anything else is repeated for 3 days, then the webhook is turned off. Where the log was pruned past its place, it gets one delivery of the type \`relist\`: read the list again. The answer is the only one that shows the secret. A store may have ${MAX_WEBHOOKS} webhooks, and a key may have created ${MAX_WEBHOOKS_PER_KEY} of them; one more is 409.`,
  tag: 'webhooks',
  stability: 'beta',
  needs: 'webhooks',
  isIdempotent: true,
  body: NewWebhook,
  success: { status: 201, description: 'The webhook, with its secret.', schema: WebhookWithSecret },
  errors: ['invalid_request', 'in_use', 'payload_too_large'],
  reply: async ({ body, key, request, sentKey }, { commits, clock, store, webhooks }) => {
    const url = normalUrl(body.url)
    await requireAddress(webhooks.sender, url)
    const at = clock()
    const webhook: Webhook = {
      id: newWebhookId(),
      url,
      kinds: body.kinds,
      paused: false,
      createdAt: at,
      secret: newSecret(),
      revision: 1,
      progress: { cursor: await store.latestEventCursor() },
    }
    return replyOnce(commits, { type: 'create_webhook', webhook, keyId: key.id, at }, sentKey, (outcome) =>
      createdWebhookReply(outcome, (webhook) => {
        const shown = webhookBody({ webhook, lag: { events: 0, since: undefined } })
        const Location = `${request.path}/${webhook.id}`
        return jsonReply({ ...shown, secret: webhook.secret }, { Location }, 201)
      }),
    )
  },
})
