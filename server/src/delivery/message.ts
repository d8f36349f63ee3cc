import { createHmac } from 'node:crypto'
import type { StockEvent } from '../core/stock/stock-event.ts'
import { webhookKindOf } from '../core/webhooks/webhook.ts'
import type { Message } from '../core/webhooks/webhook-store.ts'
import { eventBody } from '../http/events.ts'
import { toJson } from '../http/reply.ts'

const SECRET_PREFIX = /^whsec_/

/** The message of an event, as in the Standard Webhooks specification. A `relist` has no time of its own and gets `at`. */
export function messageOf(event: StockEvent, at: number): Message {
  const type = webhookKindOf(event)
  // An id must not contain a dot, because dots separate the parts of the signed text.
  const id = `${event.kind === 'relist' ? 'relist' : 'evt'}_${event.cursor.replace('.', '_')}`
  const timestamp = new Date(event.kind === 'relist' ? at : event.at).toISOString()
  return { id, type, body: toJson({ type, timestamp, data: eventBody(event) }) }
}

/** One signature for each secret, separated by spaces. */
export function signaturesOf(
  { id, body }: Message,
  timestampSeconds: number,
  secrets: readonly string[],
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.replace(SECRET_PREFIX, ''), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestampSeconds}.${body}`).digest('base64')}`
    })
    .join(' ')
}
