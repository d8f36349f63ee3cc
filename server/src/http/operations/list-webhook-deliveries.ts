import Type from 'typebox'
import { parseInt64 } from '../../core/values/int64.ts'
import { unknownCursor } from '../../core/values/page-request.ts'
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
    'Returns what was sent for a webhook and what came back, newest first, page by page. The latest 1,000 attempts are kept.',
  tag: 'webhooks',
  stability: 'beta',
  needs: 'webhooks',
  params: { webhookId: Int64('The webhook.') },
  query: { limit: limitParameter, cursor: cursorParameter },
  headers: IF_NONE_MATCH,
  success: { description: 'A page of attempts.', schema: Type.Array(WebhookDelivery), isPaged: true },
  errors: ['invalid_request', 'not_found'],
  reply: async ({ params: { webhookId }, query, request }, { store }) => {
    const { limit, cursor } = query
    const before = cursor === undefined ? undefined : parseInt64(cursor)
    if (cursor !== undefined && before === undefined) throw unknownCursor(cursor)
    if ((await store.findWebhook(webhookId)) === undefined) throw webhookNotFound(webhookId)
    const found = await store.listDeliveries(webhookId, limit + 1, before)
    const shown = found.slice(0, limit).map(deliveryBody)
    const next = found.length > limit ? shown.at(-1)?.id : undefined
    return pageReply(request, shown, { ...query, cursor: next })
  },
})
