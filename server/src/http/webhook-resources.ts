import Type from 'typebox'
import { DateTime, Int64, type JsonOf, Text } from '../core/values/field.ts'
import { MAX_URL_LENGTH, WEBHOOK_KINDS } from '../core/webhooks/webhook.ts'
import type { DeliveryAttempt, ListedAttempt, WebhookState } from '../core/webhooks/webhook-store.ts'

const AT = '2026-11-15T12:00:00.000Z'
const URL_EXAMPLE = 'https://shop.example/hooks/stock'

const WebhookKind = Type.Enum([...WEBHOOK_KINDS], {
  title: 'WebhookKind',
  type: 'string',
  description: 'What a webhook can be told of.',
})

const Url = Text(
  {
    minLength: 1,
    maxLength: MAX_URL_LENGTH,
    description:
      'Where deliveries are sent: an address on the public internet that begins with https://, without a user name, with the port 443, 80, 8080, 8443 or one above 1024.',
  },
  'an address such as https://shop.example/hooks',
  (url) => url !== '',
)
const Kinds = Type.Array(WebhookKind, {
  ...{ minItems: 1, maxItems: WEBHOOK_KINDS.length, uniqueItems: true },
  description: 'What it is told of.',
})
const Paused = Type.Boolean({ description: 'Nothing is sent while it is paused; it goes on from its place.' })

export const NewWebhook = Type.Object(
  { url: Url, kinds: Kinds },
  {
    title: 'NewWebhook',
    description: 'Other fields are ignored.',
    examples: [{ url: URL_EXAMPLE, kinds: ['stock.changed', 'stock.low'] }],
  },
)

export const WebhookUpdate = Type.Object(
  { url: Type.Optional(Url), kinds: Type.Optional(Kinds), paused: Type.Optional(Paused) },
  {
    title: 'WebhookUpdate',
    minProperties: 1,
    description:
      'At least one of these. `"paused": false` also turns one on again that was turned off. Other fields are ignored.',
    examples: [{ paused: true }],
  },
)

const Behind = Type.Object(
  {
    events: Type.Integer({
      minimum: 0,
      description:
        'Events since its place, wanted or not. If the place is gone, it is 1: one `relist` stands for all of them.',
    }),
    since: Type.Optional(DateTime('When the first of that happened.')),
  },
  { title: 'WebhookLag', description: 'How far it is behind.' },
)

const FIELDS = {
  id: Int64('Identifier of the webhook.'),
  url: Url,
  kinds: Kinds,
  paused: Paused,
  state: Type.Enum(['on', 'paused', 'off'], {
    type: 'string',
    description: 'off: it was turned off, since the receiver said 410 or failed for 3 days.',
  }),
  createdAt: DateTime('When it was made.'),
  behind: Behind,
  failingSince: Type.Optional(DateTime('Since when the first that is due has failed.')),
  retryAt: Type.Optional(DateTime('When that is tried again.')),
  offAt: Type.Optional(DateTime('When it was turned off.')),
  offReason: Type.Optional(Type.String({ description: 'Why it was turned off.' })),
}
const EXAMPLE = {
  ...{ id: 4_821_734_829, url: URL_EXAMPLE, kinds: ['stock.changed', 'stock.low'], paused: false },
  ...{ state: 'on', createdAt: AT, behind: { events: 0 } },
}

export const Webhook = Type.Object(FIELDS, { title: 'Webhook', examples: [EXAMPLE] })

export const WebhookWithSecret = Type.Object(
  {
    ...FIELDS,
    secret: Type.String({ description: 'What deliveries are signed with. Shown once: keep it.' }),
  },
  {
    title: 'WebhookWithSecret',
    examples: [{ ...EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }],
  },
)

const ATTEMPT_FIELDS = {
  messageId: Type.String({ description: 'The webhook-id: the same for each attempt at the same delivery.' }),
  type: Type.String({ description: 'What it told of.' }),
  at: DateTime('When it was sent.'),
  durationMs: Type.Integer({ minimum: 0, description: 'How long it took.' }),
  delivered: Type.Boolean({ description: 'Whether the receiver took it: answered with 2xx in time.' }),
  status: Type.Optional(Type.Integer({ description: 'Of the answer; absent where none came.' })),
  error: Type.Optional(Type.String({ description: 'Why it failed.' })),
  response: Type.String({ description: 'What the answer begins with, up to 1 kB.' }),
}
const ATTEMPT_EXAMPLE = {
  ...{ messageId: 'evt_17_5d1c', type: 'stock.changed', at: AT, durationMs: 12 },
  ...{ delivered: true, status: 204, response: '' },
}

export const WebhookDelivery = Type.Object(
  {
    id: Type.String({ description: 'Identifies the attempt; opaque.' }),
    attempt: Type.Integer({ minimum: 1, description: 'Which attempt at this delivery it was.' }),
    ...ATTEMPT_FIELDS,
  },
  { title: 'WebhookDelivery', examples: [{ id: '17', attempt: 1, ...ATTEMPT_EXAMPLE }] },
)

export const WebhookTest = Type.Object(ATTEMPT_FIELDS, {
  title: 'WebhookTest',
  description: 'What came back.',
  examples: [ATTEMPT_EXAMPLE],
})

function time(name: string, at: number | undefined) {
  return at === undefined ? {} : { [name]: new Date(at).toISOString() }
}

/** A webhook as callers see it. */
export function webhookBody({ webhook, lag }: WebhookState): JsonOf<typeof FIELDS> {
  const { id, url, kinds, paused, createdAt, progress } = webhook
  const { failure, off } = progress
  return {
    ...{ id, url, kinds: [...kinds], paused },
    state: off !== undefined ? 'off' : paused ? 'paused' : 'on',
    createdAt: new Date(createdAt).toISOString(),
    behind: { events: lag.events, ...time('since', lag.since) },
    ...time('failingSince', failure?.since),
    ...time('retryAt', failure?.retryAt),
    ...time('offAt', off?.at),
    ...(off === undefined ? {} : { offReason: off.reason }),
  }
}

export function testBody(attempt: DeliveryAttempt): JsonOf<typeof ATTEMPT_FIELDS> {
  const { messageId, type, at, durationMs, isDelivered, status, error, response } = attempt
  return {
    ...{ messageId, type, at: new Date(at).toISOString(), durationMs: Math.round(durationMs) },
    delivered: isDelivered,
    ...(status === undefined ? {} : { status }),
    ...(error === undefined ? {} : { error }),
    response,
  }
}

export function deliveryBody(listed: ListedAttempt): JsonOf<typeof WebhookDelivery.properties> {
  return { id: String(listed.id), attempt: listed.attempt, ...testBody(listed) }
}
