import Type, { type TSchema } from 'typebox'
import { forEachOrderWebhook } from '../core/orders/order.ts'
import type { WebhookKind } from '../core/webhooks/webhook.ts'
import { LowStockEvent, PetEvent } from './catalog-resources.ts'
import { OrderEvent } from './order-resources.ts'
import { ChangeEvent, DateTime, RemovedEvent } from './resources.ts'
import { json } from './schema-references.ts'

type PayloadType = WebhookKind | 'relist'

/** What each delivery tells, in words, and its data: that of the same event in a stream. */
const DATA: Readonly<Record<PayloadType, readonly [summary: string, data: TSchema]>> = {
  'stock.changed': ['A quantity changed', ChangeEvent],
  'stock.low': ['So few are available that a pet is low', LowStockEvent],
  'stock.recovered': ['A pet is no longer low', LowStockEvent],
  ...forEachOrderWebhook(({ summary }) => [summary, OrderEvent] as const),
  'pet.changed': ['A pet was added, or changed in anything but its quantity', PetEvent],
  'pet.removed': ['A pet is gone', RemovedEvent],
  relist: ['The place of the webhook was gone: read the list again, then go on', Type.Object({})],
}

const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id':
    'Identifies the delivery; the same each time it is repeated. That of a sample begins with `test_`.',
  'webhook-timestamp': 'When this attempt was made, in seconds since 1970.',
  'webhook-signature':
    'One or more of `v1,` and the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` in base64, with blanks in between.',
}

const RESPONSES: Readonly<Record<string, string>> = {
  '2XX': 'Taken, where it comes within 15 seconds. The body is not looked at.',
  '410': 'The webhook is turned off.',
  '429': 'Repeated after Retry-After, where that is given.',
  '503': 'Repeated after Retry-After, where that is given.',
  default: 'Repeated, for 3 days; then the webhook is turned off.',
}

const PAYLOADS = Object.entries(DATA).map(([type, [summary, data]]) => {
  const schema = Type.Object(
    {
      type: Type.Enum([type], { type: 'string', description: 'What it tells of.' }),
      timestamp: DateTime('When it happened.'),
      data,
    },
    { title: payloadTitle(type), description: `${summary}.` },
  )
  return { type, summary, schema }
})

/** Under their own names in the contract. */
export const WEBHOOK_PAYLOADS = PAYLOADS.map(({ schema }) => schema)

/** What receivers get, in the words of OpenAPI 3.1. */
export function describeWebhooks() {
  return Object.fromEntries(
    PAYLOADS.map(({ type, summary, schema }) => [
      type,
      {
        post: {
          operationId: `receive${payloadTitle(type)}`,
          summary,
          description:
            'Signed by the Standard Webhooks specification. It may arrive more than once, and in order for each pet.',
          tags: ['webhooks'],
          'x-stability': 'beta',
          security: [],
          parameters: Object.entries(HEADERS).map(([name, description]) => ({
            ...{ name, in: 'header', required: true, description, schema: { type: 'string' } },
          })),
          requestBody: { required: true, content: json(schema) },
          responses: Object.fromEntries(
            Object.entries(RESPONSES).map(([status, description]) => [status, { description }]),
          ),
        },
      },
    ]),
  )
}

/** `stock.changed` is told by a StockChangedPayload. */
function payloadTitle(type: string): string {
  const words = type.split('.').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}Payload`
}
