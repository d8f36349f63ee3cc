import { webhookNotFound } from '../../core/webhooks/webhook.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH } from '../representation.ts'
import { Int64 } from '../resources.ts'
import { Webhook, webhookBody } from '../webhook-resources.ts'

export const getWebhook = defineOperation({
  operationId: 'getWebhook',
  method: 'GET',
  path: '/webhooks/{webhookId}',
  summary: 'Get a webhook',
  description: 'Returns one webhook, with how far it is behind. Its secret is not shown again.',
  tag: 'webhooks',
  stability: 'beta',
  needs: 'webhooks',
  params: { webhookId: Int64('The webhook to return.') },
  headers: IF_NONE_MATCH,
  success: { description: 'The webhook.', schema: Webhook },
  errors: ['invalid_request', 'not_found'],
  handle: async ({ params: { webhookId } }, { store }) => {
    const found = await store.findWebhook(webhookId)
    if (found === undefined) throw webhookNotFound(webhookId)
    return webhookBody(found)
  },
})
