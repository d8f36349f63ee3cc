import Type, { type TSchema } from 'typebox'
import type { StockEvent } from '../core/stock/stock-event.ts'
import type { WebhookKind } from '../core/webhooks/webhook.ts'
import { LowStockEvent, PetEvent } from './catalog-resources.ts'
import { OrderEvent, orderBody } from './order-resources.ts'
import { ChangeEvent, DateTime, RemovedEvent } from './resources.ts'

/** The data of an event, the same in event streams and webhook deliveries. */
export function eventBody(event: StockEvent): object {
  if (event.kind === 'relist') return {}
  const { kind: _, cursor: __, ...data } = event
  const at = new Date(event.at).toISOString()
  return event.kind === 'order' ? { ...data, order: orderBody(event.order), at } : { ...data, at }
}

type PayloadType = WebhookKind | 'relist'

const DATA: Readonly<Record<PayloadType, readonly [summary: string, data: TSchema]>> = {
  'stock.changed': ['A quantity changed', ChangeEvent],
  'stock.low': ['A pet is low in stock', LowStockEvent],
  'stock.recovered': ['A pet is no longer low in stock', LowStockEvent],
  'order.created': ['An order was created', OrderEvent],
  'order.completed': ['An order was completed', OrderEvent],
  'order.cancelled': ['An order was cancelled', OrderEvent],
  'order.expired': ['A hold expired', OrderEvent],
  'pet.changed': ['A pet was added, or changed other than in its quantity', PetEvent],
  'pet.removed': ['A pet was removed', RemovedEvent],
  relist: ['Events are missing: read the list again, then continue', Type.Object({})],
}

const HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'Identifies the delivery; the same for each retry. Ids of samples begin with `test_`.',
  'webhook-timestamp': 'The time of this attempt, in seconds since 1970.',
  'webhook-signature':
    'One or more signatures, separated by blanks. Each is `v1,` followed by the HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` in base64.',
}

const RESPONSES: Readonly<Record<string, string>> = {
  '2XX': 'Accepted, if it arrives within 15 seconds. The body is ignored.',
  '410': 'Turns the webhook off.',
  '429': 'Retried, after the time in Retry-After if it is present.',
  '503': 'Retried, after the time in Retry-After if it is present.',
  default: 'Retried for 3 days; then the webhook is turned off.',
}

const PAYLOADS = Object.entries(DATA).map(([type, [summary, data]]) => {
  const schema = Type.Object(
    {
      type: Type.Enum([type], { type: 'string', description: 'The kind of event.' }),
      timestamp: DateTime('When the event happened.'),
      data,
    },
    { title: payloadTitle(type), description: `${summary}.` },
  )
  return { type, summary, schema }
})

export const WEBHOOK_PAYLOADS = PAYLOADS.map(({ schema }) => schema)

/** The `webhooks` section of the OpenAPI document. */
export function describeWebhooks(json: (schema: TSchema) => object) {
  return Object.fromEntries(
    PAYLOADS.map(({ type, summary, schema }) => [
      type,
      {
        post: {
          operationId: `receive${payloadTitle(type)}`,
          summary,
          description:
            'Signed as in the Standard Webhooks specification. A delivery may arrive more than once. Deliveries of one pet arrive in order.',
          tags: ['webhooks'],
          'x-stability': 'beta',
          security: [],
          parameters: Object.entries(HEADERS).map(([name, description]) => ({
            name,
            in: 'header',
            required: true,
            description,
            schema: { type: 'string' },
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

/** `StockChangedPayload` for `stock.changed`. */
function payloadTitle(type: string): string {
  const words = type.split('.').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}Payload`
}
