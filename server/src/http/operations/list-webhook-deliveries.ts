import Type from 'typebox'
import { readPageById } from '../../core/values/page.ts'
import { webhookNotFound } from '../../core/webhooks/webhook.ts'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH, pageReply } from '../representation.ts'
import { cursorParameter, Int64, limitParameter } from '../resources.ts'
import { deliveryBody, WebhookDelivery } from '../webhook-resources.ts'

export const listWebhookDeliveries = defineOperation({
  operationId: 'listWebhookDeliveries',
  method: 'GET',
  path: '/webhooks/{webhookId}/deliveries',
  summary: 'List the deliveries of a webhook',
  description:
    'Returns the delivery attempts of a webhook and their responses, newest first, in pages. The latest 1,000 attempts are kept.',
  tag: 'webhooks',
  stability: 'beta',
  needs: 'webhooks',
  params: { webhookId: Int64('The webhook whose deliveries are returned.') },
  query: { limit: limitParameter, cursor: cursorParameter },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of attempts.', schema: Type.Array(WebhookDelivery), isPaged: true },
  errors: ['invalid_request', 'not_found'],
  reply: async ({ params: { webhookId }, query, request }, { store }) => {
    const page = await readPageById(query, async (limit, before) => {
      if ((await store.findWebhook(webhookId)) === undefined) throw webhookNotFound(webhookId)
      return store.listDeliveries(webhookId, limit, before)
    })
    return pageReply(request, query, page, deliveryBody)
  },
})
