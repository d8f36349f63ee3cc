import Type from 'typebox'
import { defineOperation } from '../operation.ts'
import { IF_NONE_MATCH } from '../representation.ts'
import { Webhook, webhookBody } from '../webhook-resources.ts'

export const listWebhooks = defineOperation({
  operationId: 'listWebhooks',
  method: 'GET',
  path: '/webhooks',
  summary: 'List webhooks',
  description: 'Returns all webhooks, oldest first, each with its backlog.',
  tag: 'webhooks',
  stability: 'beta',
  needs: 'webhooks',
  headers: IF_NONE_MATCH,
  success: { description: 'The webhooks.', schema: Type.Array(Webhook) },
  errors: [],
  handle: async (_, { store }) => (await store.listWebhooks()).map(webhookBody),
})
