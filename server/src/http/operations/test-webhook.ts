import { secretsAt, webhookNotFound } from '../../core/webhooks/webhook.ts'
import { attemptOf } from '../../core/webhooks/webhook-store.ts'
import { defineOperation } from '../operation.ts'
import { Int64 } from '../resources.ts'
import { testBody, WebhookTest } from '../webhook-resources.ts'

export const testWebhook = defineOperation({
  operationId: 'testWebhook',
  method: 'POST',
  path: '/webhooks/{webhookId}/test',
  summary: 'Send a sample to a webhook',
  description:
    'Sends a sample of the first of its kinds now, paused or not, and answers with what came back. The webhook-id of a sample begins with `test_`. Nothing is repeated.',
  tag: 'webhooks',
  stability: 'beta',
  needs: 'webhooks',
  params: { webhookId: Int64('The webhook.') },
  success: { description: 'What came back.', schema: WebhookTest },
  errors: ['invalid_request', 'not_found'],
  handle: async ({ params: { webhookId } }, { store, clock, webhooks }) => {
    const found = await store.findWebhook(webhookId)
    if (found === undefined) throw webhookNotFound(webhookId)
    const { webhook } = found
    const at = clock()
    const [kind] = webhook.kinds
    if (kind === undefined) throw new Error(`webhook ${webhookId} has no kinds`)
    const message = webhooks.sampleOf(kind, at)
    const result = await webhooks.sender.send(webhook.url, secretsAt(webhook, at), message)
    const attempt = attemptOf(message, 1, at, result)
    await store.recordDeliveries(webhookId, [attempt])
    return testBody(attempt)
  },
})
