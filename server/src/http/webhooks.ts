import Type from 'typebox'
import { requirePermission } from '../core/keys/api-key.ts'
import type { InvalidUrl } from '../core/stock/command.ts'
import { fromCursor, type LogCursor, toCursor } from '../core/stock/log-cursor.ts'
import { ServiceError } from '../core/values/errors.ts'
import {
  DateTime,
  Int64,
  invalidField,
  type JsonOf,
  jsonWriter,
  MAX_QUANTITY,
  OneOf,
  Text,
} from '../core/values/field.ts'
import { readPageById } from '../core/values/page.ts'
import { recordChanged, recordTag } from '../core/values/record-tag.ts'
import { sendTestEvent, TEST_EVENT_TYPE } from '../core/webhooks/test-event.ts'
import {
  findOwnerProblem,
  GIVE_UP_DAYS,
  isActive,
  MAX_WEBHOOKS,
  NEW_WEBHOOK,
  newSecret,
  newWebhook,
  OLD_SECRET_HOURS,
  RESPONSE_TIMEOUT_SECONDS,
  retryAtOf,
  type Webhook as StoredWebhook,
  WEBHOOK,
  WEBHOOK_UPDATE,
  webhookNotFound,
} from '../core/webhooks/webhook.ts'
import {
  type DeliveryAttempt,
  type ListedAttempt,
  MAX_KEPT_ATTEMPTS,
  type WebhookLag,
  type WebhookStore,
  type WebhookWithLag,
} from '../core/webhooks/webhook-store.ts'
import { commitAndReply, defineOperation, type Services } from './operation.ts'
import {
  conditionalReply,
  createdReply,
  jsonReply,
  NO_CONTENT,
  pageReply,
  type Reply,
  recordETag,
  recordTagsIn,
} from './reply.ts'
import { Count, EXAMPLE_TIME, Flag, HttpStatus, PlainText, pageParameters } from './schemas.ts'

const WEBHOOK_BODY = {
  ...WEBHOOK,
  state: OneOf(['on', 'paused', 'off'], {
    description: `off: the webhook was turned off, because the receiver replied 410 or accepted nothing for ${GIVE_UP_DAYS} days.`,
  }),
  behind: Type.Object(
    {
      events: Count(
        'Events that the webhook has not processed yet, including events of kinds that it does not receive. A pending `relist` counts as one event, in place of the events that it replaces; so does each held pet, in place of its events.',
      ),
      since: Type.Optional(DateTime('When the oldest of these events happened, in UTC.')),
    },
    { title: 'WebhookLag', description: 'The backlog of the webhook.' },
  ),
  heldPets: Count(
    'Pets whose events wait, because the receiver refused one of them. The events of other pets are sent.',
  ),
  failingSince: Type.Optional(
    DateTime('If the last attempt failed: when the first attempt failed since the last success, in UTC.'),
  ),
  retryAt: Type.Optional(
    DateTime('If events wait and the webhook is on: when the next of them is retried, in UTC.'),
  ),
  pauseReason: Type.Optional(
    PlainText(
      'Why nothing is sent although `paused` may be false: the key of the webhook is revoked, paused or expired, or lacks the permission.',
    ),
  ),
  offAt: Type.Optional(DateTime('When the webhook was turned off, in UTC.')),
  offReason: Type.Optional(PlainText('Why the webhook was turned off.')),
}

const NEW_WEBHOOK_EXAMPLE = {
  url: 'https://shop.example/hooks/stock',
  kinds: ['stock.changed', 'stock.low'],
}
const WEBHOOK_EXAMPLE = {
  id: 4_821_734_829,
  ...NEW_WEBHOOK_EXAMPLE,
  paused: false,
  createdAt: EXAMPLE_TIME,
  createdBy: 'key_3vT9cQf0Lw8dZx1R',
  state: 'on',
  behind: { events: 0 },
  heldPets: 0,
}

const Webhook = Type.Object(WEBHOOK_BODY, { title: 'Webhook', examples: [WEBHOOK_EXAMPLE] })

const WebhookWithSecret = Type.Object(
  {
    ...WEBHOOK_BODY,
    secret: PlainText('The secret that deliveries are signed with. It is shown only once.'),
  },
  {
    title: 'WebhookWithSecret',
    examples: [{ ...WEBHOOK_EXAMPLE, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }],
  },
)

const NewWebhook = Type.Object(NEW_WEBHOOK, {
  title: 'NewWebhook',
  examples: [NEW_WEBHOOK_EXAMPLE],
})

const WebhookUpdate = Type.Object(WEBHOOK_UPDATE, {
  title: 'WebhookUpdate',
  minProperties: 1,
  description:
    'Has at least one of these fields. `"paused": false` or a new `url` also turns on a webhook that was turned off.',
  examples: [{ paused: true }],
})

const WebhookReplay = Type.Object(
  {
    from: Text(
      {
        description:
          'The first event that is sent again: the `webhook-id` of its delivery, or its id in an event stream.',
      },
      'the webhook-id of a delivery, such as evt_17_5d1c, or the id of an event',
      (id) => parseEventId(id) !== undefined,
    ),
  },
  { title: 'WebhookReplay', examples: [{ from: 'evt_17_5d1c' }] },
)

const ATTEMPT = {
  messageId: PlainText('The `webhook-id`, which is the same for all attempts of a delivery.'),
  type: PlainText('The kind of event.'),
  at: DateTime('When the attempt was made, in UTC.'),
  durationMs: Count('How long the attempt took.'),
  delivered: Flag('Whether the receiver replied 2xx in time.'),
  status: Type.Optional(HttpStatus('The status of the response; absent if there was none.')),
  error: Type.Optional(PlainText('Why the attempt failed.')),
  response: PlainText('The beginning of the response body, up to 1 kB.'),
}

const ATTEMPT_EXAMPLE = {
  messageId: 'evt_17_5d1c',
  type: 'stock.changed',
  at: EXAMPLE_TIME,
  durationMs: 12,
  delivered: true,
  status: 204,
  response: '',
}

const WebhookDelivery = Type.Object(
  {
    id: PlainText('Identifies the attempt; opaque.'),
    attempt: Type.Integer({
      minimum: 1,
      maximum: MAX_QUANTITY,
      description: 'The number of the attempt, from 1.',
    }),
    ...ATTEMPT,
    parked: Type.Optional(
      Flag(`True if the event is not tried again, because it was refused for ${GIVE_UP_DAYS} days.`),
    ),
  },
  { title: 'WebhookDelivery', examples: [{ id: '17', attempt: 1, ...ATTEMPT_EXAMPLE }] },
)

const WebhookTest = Type.Object(ATTEMPT, {
  title: 'WebhookTest',
  description: 'The attempt and the response of the receiver.',
  examples: [ATTEMPT_EXAMPLE],
})

export const listWebhooks = defineOperation('GET', '/webhooks', {
  summary: 'List webhooks',
  description: 'Returns all webhooks, oldest first, each with its backlog.',
  permission: 'webhooks',
  success: { description: 'The webhooks.', schema: Type.Array(Webhook) },
  reply: async ({ request }, { store, clock }) => {
    const webhooks = await store.listWebhooks()
    const now = clock()
    return conditionalReply(jsonReply(webhooks.map((webhook) => webhookBody(webhook, now))), request)
  },
})

export const createWebhook = defineOperation('POST', '/webhooks', {
  summary: 'Create a webhook',
  description: `Creates a webhook. It belongs to your key, and pauses while that key is revoked, paused or expired, or lacks the permission. From now on, the service sends every event of the given kinds to the address with POST, as the Standard Webhooks specification says. Each event is delivered at least once, and events of one pet arrive in order. An event of an order is in order with the events of the first pet in its lines; if the lines were replaced, compare \`timestamp\`. A delivery succeeds if the receiver replies 2xx within ${RESPONSE_TIMEOUT_SECONDS} seconds. Otherwise the delivery is retried, while the later events of its pet wait. An event that was refused for ${GIVE_UP_DAYS} days is parked: it is not tried again, and its last attempt has \`parked\`. A receiver that accepts nothing at all for ${GIVE_UP_DAYS} days has its webhook turned off. If the log was pruned before all events were delivered, the webhook gets one delivery of the type \`relist\`: read the list again. Only this response shows the secret. A store can have ${MAX_WEBHOOKS} webhooks; beyond that the response is 409.`,
  permission: 'webhooks',
  acceptsIdempotencyKey: true,
  body: NewWebhook,
  success: { status: 201, description: 'The webhook, with its secret.', schema: WebhookWithSecret },
  errors: ['in_use'],
  reply: async (input, services) => {
    const { clock, store, webhookSender } = services
    // The commit refuses the url: the request may be a repeat, and only the commit looks up the stored answer of its
    // Idempotency-Key.
    const { url, urlProblem } = await webhookSender.checkUrl(input.body.url)
    const at = clock()
    const settings = { url, kinds: input.body.kinds, createdAt: at }
    const webhook = newWebhook(settings, await store.latestEventCursor())
    const command = { type: 'create_webhook', webhook, urlProblem, at } as const
    return commitAndReply(input, services, command, {
      done: (outcome) =>
        createdReply(input.request.path, bodyWithSecret({ webhook: outcome.webhook, lag: NO_LAG }, at)),
      invalid_url: refuseUrl,
      too_many_webhooks: () =>
        new ServiceError(
          'in_use',
          `the store has ${MAX_WEBHOOKS} webhooks, which is the maximum; remove a webhook first`,
        ),
    })
  },
})

export const getWebhook = defineOperation('GET', '/webhooks/{webhookId}', {
  summary: 'Get a webhook',
  description: 'Returns one webhook with its backlog, but without its secret.',
  permission: 'webhooks',
  params: { webhookId: Int64('The webhook to return.') },
  success: { description: 'The webhook.', schema: Webhook },
  reply: async ({ params: { webhookId }, request }, { store, clock }) =>
    conditionalReply(webhookReply(await requireWebhook(store, webhookId), clock()), request),
})

export const updateWebhook = defineOperation('PATCH', '/webhooks/{webhookId}', {
  summary: 'Update a webhook',
  description:
    'Changes the address or the kinds of a webhook, pauses it or resumes it. Fields that are not sent stay as they are. Deliveries that are sent after the response obey the change. A delivery that is being sent during the change may be repeated. The webhook continues where it stopped, and a failed delivery is retried at once.',
  permission: 'webhooks',
  acceptsIdempotencyKey: true,
  params: { webhookId: Int64('The webhook to update.') },
  body: WebhookUpdate,
  success: { description: 'The webhook.', schema: Webhook },
  reply: async (input, services) => {
    const { store, webhookSender } = services
    const { params, body } = input
    const { webhookId } = params
    const checked = body.url === undefined ? undefined : await webhookSender.checkUrl(body.url)
    const patch = checked === undefined ? body : { ...body, url: checked.url }
    const lag = await lagOf(store, webhookId)
    const urlProblem = checked?.urlProblem
    const onlyIfTags = recordTagsIn(input.ifMatch)
    const command = { type: 'update_webhook', webhookId, patch, urlProblem, onlyIfTags } as const
    return changeWebhook(input, services, command, {
      done: ({ webhook }) => webhookReply({ webhook, lag }, services.clock()),
      invalid_url: refuseUrl,
      record_changed: () => recordChanged(`webhook ${webhookId}`),
      unknown_webhook: () => webhookNotFound(webhookId),
    })
  },
})

export const removeWebhook = defineOperation('DELETE', '/webhooks/{webhookId}', {
  summary: 'Remove a webhook',
  description:
    'Removes a webhook and its list of deliveries. No delivery is sent after the response; one that was sent before may still arrive.',
  permission: 'webhooks',
  acceptsIdempotencyKey: true,
  params: { webhookId: Int64('The webhook to remove.') },
  success: { status: 204, description: 'The webhook was removed.', schema: Type.Null() },
  reply: (input, services) => {
    const { webhookId } = input.params
    const command = { type: 'remove_webhook', webhookId, onlyIfTags: recordTagsIn(input.ifMatch) } as const
    return changeWebhook(input, services, command, {
      done: () => NO_CONTENT,
      unknown_webhook: () => webhookNotFound(webhookId),
      record_changed: () => recordChanged(`webhook ${webhookId}`),
    })
  },
})

export const listWebhookDeliveries = defineOperation('GET', '/webhooks/{webhookId}/deliveries', {
  summary: 'List the deliveries of a webhook',
  description: `Returns the delivery attempts of a webhook and their responses, newest first, in pages. The latest ${MAX_KEPT_ATTEMPTS.toLocaleString('en')} attempts are kept.`,
  permission: 'webhooks',
  params: { webhookId: Int64('The webhook whose deliveries are returned.') },
  query: pageParameters(),
  success: { description: 'A page of attempts.', schema: Type.Array(WebhookDelivery) },
  reply: async ({ params: { webhookId }, query, request }, { store }) => {
    const page = await readPageById(query, async (limit, before) => {
      await requireWebhook(store, webhookId)
      return store.listDeliveries(webhookId, limit, before)
    })
    return pageReply(request, query, page, deliveryBody)
  },
})

export const rotateWebhookSecret = defineOperation('POST', '/webhooks/{webhookId}/rotate-secret', {
  summary: 'Rotate the secret of a webhook',
  description: `Gives a webhook a new secret. For ${OLD_SECRET_HOURS} hours, all deliveries that are sent after the response are signed with both the new and the old secret, so that the receiver can switch to the new secret without losing a delivery. A second rotation within that time ends the signature with the first secret.`,
  permission: 'webhooks',
  acceptsIdempotencyKey: true,
  params: { webhookId: Int64('The webhook.') },
  success: { description: 'The webhook, with its new secret.', schema: WebhookWithSecret },
  reply: async (input, services) => {
    const { webhookId } = input.params
    const lag = await lagOf(services.store, webhookId)
    const command = { type: 'rotate_webhook_secret', webhookId, secret: newSecret() } as const
    return changeWebhook(input, services, command, {
      done: ({ webhook }) => jsonReply(bodyWithSecret({ webhook, lag }, services.clock())),
      unknown_webhook: () => webhookNotFound(webhookId),
    })
  },
})

export const replayWebhook = defineOperation('POST', '/webhooks/{webhookId}/replay', {
  summary: 'Send events to a webhook again',
  description:
    'Takes a webhook back to an event, so that this event and all later ones are sent again, with the same `webhook-id`. Events that the webhook has not sent yet are never skipped. If the log no longer has these events, the webhook gets a single `relist` instead: read the list again. A webhook that is paused or off sends the events once it is on again.',
  stability: 'beta',
  permission: 'webhooks',
  acceptsIdempotencyKey: true,
  params: { webhookId: Int64('The webhook.') },
  body: WebhookReplay,
  success: { status: 204, description: 'The webhook sends the events again.', schema: Type.Null() },
  reply: (input, services) => {
    const { webhookId } = input.params
    const command = { type: 'replay_webhook', webhookId, cursor: cursorBefore(input.body.from) } as const
    return changeWebhook(input, services, command, {
      done: () => NO_CONTENT,
      unknown_webhook: () => webhookNotFound(webhookId),
    })
  },
})

export const takeOverWebhook = defineOperation('POST', '/webhooks/{webhookId}/take-over', {
  summary: 'Take over a webhook',
  description:
    'The webhook belongs to your key from now on, and pauses with it. Your key needs the permissions `webhooks` and `keys`. The webhook continues where it stopped, with the same secret: rotate it if the previous holder should not know it.',
  stability: 'beta',
  permission: 'webhooks',
  acceptsIdempotencyKey: true,
  params: { webhookId: Int64('The webhook.') },
  success: { description: 'The webhook.', schema: Webhook },
  reply: async (input, services) => {
    requirePermission(input.key, 'keys')
    const { webhookId } = input.params
    const lag = await lagOf(services.store, webhookId)
    const command = { type: 'take_over_webhook', webhookId } as const
    return changeWebhook(input, services, command, {
      done: ({ webhook }) => jsonReply(webhookBody({ webhook, lag }, services.clock())),
      unknown_webhook: () => webhookNotFound(webhookId),
    })
  },
})

export const testWebhook = defineOperation('POST', '/webhooks/{webhookId}/test', {
  summary: 'Send a test event to a webhook',
  description: `Sends an event of the type \`${TEST_EVENT_TYPE}\` at once, whatever kinds the webhook receives and even if it is paused or off, and returns the response. A test event says nothing about the stock. Its \`webhook-id\` begins with \`test_\`. It is never retried. Each instance of the service sends one test event of a webhook at a time; beyond that the response is 503.`,
  permission: 'webhooks',
  hasNoDeadline: true,
  params: { webhookId: Int64('The webhook.') },
  success: { description: 'The attempt and the response of the receiver.', schema: WebhookTest },
  reply: async ({ params: { webhookId } }, { store, clock, webhookSender: sender, testedWebhooks }) => {
    const { webhook } = await requireWebhook(store, webhookId)
    if (testedWebhooks.has(webhookId)) {
      throw new ServiceError(
        'service_unavailable',
        `a test event of webhook ${webhookId} is already being sent; wait for its response, then send the request again`,
      )
    }
    testedWebhooks.add(webhookId)
    try {
      return jsonReply(attemptBody(await sendTestEvent(webhook, { sender, store, clock })))
    } finally {
      testedWebhooks.delete(webhookId)
    }
  },
})

/** Replies once no attempt can leave with the webhook as it was before. */
async function changeWebhook<
  Type extends
    | 'update_webhook'
    | 'remove_webhook'
    | 'rotate_webhook_secret'
    | 'replay_webhook'
    | 'take_over_webhook',
>(
  input: Parameters<typeof commitAndReply>[0],
  services: Pick<Services, 'commits' | 'clock' | 'deliveries'>,
  command: Parameters<typeof commitAndReply<Type>>[2] & { readonly webhookId: bigint },
  replies: Parameters<typeof commitAndReply<Type>>[3],
): Promise<Reply> {
  const reply = await commitAndReply<Type>(input, services, command, replies)
  // A refused change leaves the deliveries as they are.
  if (reply.status < 400) await services.deliveries.applyChange(command.webhookId)
  return reply
}

function parseEventId(id: string): LogCursor | undefined {
  return fromCursor(id.replace(/^evt_/, '').replace('_', '.'))
}

/** The cursor after which the log has the event with this id. */
function cursorBefore(eventId: string): string {
  const event = parseEventId(eventId)
  if (event === undefined) throw new Error(`the schema must refuse the event id ${eventId}`)
  return toCursor({ ...event, position: event.position > 0n ? event.position - 1n : 0n })
}

const NO_LAG: WebhookLag = { events: 0, since: undefined }

async function lagOf(store: WebhookStore, webhookId: bigint): Promise<WebhookLag> {
  return (await store.findWebhook(webhookId))?.lag ?? NO_LAG
}

async function requireWebhook(store: WebhookStore, webhookId: bigint): Promise<WebhookWithLag> {
  const found = await store.findWebhook(webhookId)
  if (found === undefined) throw webhookNotFound(webhookId)
  return found
}

function refuseUrl({ problem }: InvalidUrl): ServiceError {
  return invalidField('url', `url ${problem}`)
}

const webhookToJson = jsonWriter(WEBHOOK_BODY)
const attemptToJson = jsonWriter(ATTEMPT)

/** A webhook as callers see it. */
function webhookBody({ webhook, lag }: WebhookWithLag, now: number): JsonOf<typeof WEBHOOK_BODY> {
  const { held, failingSince, off } = webhook.progress
  return webhookToJson({
    ...webhook,
    state: webhookState(webhook, now),
    pauseReason: findOwnerProblem(webhook, now),
    behind: lag,
    heldPets: held.length,
    failingSince,
    retryAt: retryAtOf(webhook, now),
    offAt: off?.at,
    offReason: off?.reason,
  })
}

function webhookState(webhook: StoredWebhook, now: number): 'on' | 'paused' | 'off' {
  if (webhook.progress.off !== undefined) return 'off'
  return isActive(webhook, now) ? 'on' : 'paused'
}

function webhookReply({ webhook, lag }: WebhookWithLag, now: number) {
  const body = webhookBody({ webhook, lag }, now)
  return jsonReply(body, recordETag(recordTag(WEBHOOK, webhook), body))
}

function bodyWithSecret({ webhook, lag }: WebhookWithLag, now: number) {
  return { ...webhookBody({ webhook, lag }, now), secret: webhook.secret }
}

function attemptBody(attempt: DeliveryAttempt): JsonOf<typeof ATTEMPT> {
  return attemptToJson({ ...attempt, delivered: attempt.isDelivered })
}

function deliveryBody(delivery: ListedAttempt): JsonOf<typeof WebhookDelivery.properties> {
  const { id, attempt, isParked } = delivery
  return { id: String(id), attempt, ...attemptBody(delivery), ...(isParked ? { parked: true } : {}) }
}
