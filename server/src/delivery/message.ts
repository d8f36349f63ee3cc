import { createHmac, randomUUID } from 'node:crypto'
import { mapOrderWebhooks, ORDER_TRANSITIONS } from '../core/orders/order.ts'
import type { StockEvent } from '../core/stock/stock-event.ts'
import { type WebhookKind, webhookKindOf } from '../core/webhooks/webhook.ts'
import type { Message } from '../core/webhooks/webhook-store.ts'
import { eventBody } from '../http/events.ts'
import { toJson } from '../http/reply.ts'

const SECRET_PREFIX = /^whsec_/

/** The message of an event, as in the Standard Webhooks specification. A `relist` has no time of its own and gets `at`. */
export function messageOf(event: StockEvent, at: number): Message {
  const type = webhookKindOf(event)
  if (type === undefined) throw new Error(`events of kind ${event.kind} are not delivered to webhooks`)
  // An id must not contain a dot, because dots separate the parts of the signed text.
  const id = `${event.kind === 'relist' ? 'relist' : 'evt'}_${event.cursor.replace('.', '_')}`
  return toMessage(id, type, event.kind === 'relist' ? at : event.at, eventBody(event))
}

/** A message for tests of a webhook, with sample data and an id that begins with `test_`. */
export function sampleMessage(kind: WebhookKind, at: number): Message {
  const petId = 1n
  const author = { at: new Date(at).toISOString(), keyId: 'key_sample' }
  const low = { petId, quantity: 2, reserved: 0, available: 2, lowStockAt: 3, ...author }
  const samples: Readonly<Record<WebhookKind, object>> = {
    'stock.changed': { petId, before: 4, after: 5, status: 'available', ...author },
    'stock.low': low,
    'stock.recovered': { ...low, quantity: 9, available: 9 },
    ...mapOrderWebhooks(({ change }) => {
      const { to: state } = ORDER_TRANSITIONS[change]
      const order = { id: 1n, petId, quantity: 1, state, createdAt: at }
      return eventBody({ kind: 'order', change, order, at, keyId: author.keyId, cursor: '' })
    }),
    'pet.changed': {
      change: 'changed',
      petId,
      name: 'Sample',
      categoryId: 1n,
      status: 'available',
      quantity: 5,
      ...author,
    },
    'pet.removed': { petId, ...author },
  }
  return toMessage(`test_${randomUUID()}`, kind, at, samples[kind])
}

function toMessage(id: string, type: string, at: number, data: object): Message {
  return { id, type, body: toJson({ type, timestamp: new Date(at).toISOString(), data }) }
}

/** The signatures with each of the secrets, separated by blanks. */
export function signaturesOf({ id, body }: Message, seconds: number, secrets: readonly string[]): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(SECRET_PREFIX, ''), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
    })
    .join(' ')
}
