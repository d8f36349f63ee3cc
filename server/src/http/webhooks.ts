import Type from 'typebox'
import type { InvalidUrl } from '../core/stock/command.ts'
import { ServiceError } from '../core/values/errors.ts'
import { DateTime, Int64, invalidField, type JsonOf, jsonWriter, OneOf } from '../core/values/field.ts'
import { readPageById } from '../core/values/page.ts'
import { rewindCommand } from '../core/webhooks/redelivery.ts'
import { MAX_PARALLEL_TESTS } from '../core/webhooks/shared-delivery.ts'
import { sendTestEvent, TEST_EVENT_TYPE } from '../core/webhooks/test-event.ts'
import {
  MAX_WEBHOOKS,
  MAX_WEBHOOKS_PER_KEY,
  NEW_WEBHOOK,
  newSecret,
  newWebhook,
  normalizeUrl,
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
  type WebhookSender,
  type WebhookStore,
  type WebhookWithLag,
} from '../core/webhooks/webhook-store.ts'
import { commitAndReply, defineOperation } from './operation.ts'
import { conditionalReply, createdReply, jsonReply, NO_CONTENT, pageReply, replyWithETag } from './reply.ts'
import { Count, EXAMPLE_TIME, Flag, PlainText, pageParameters } from './schemas.ts'

const WEBHOOK_BODY = {
  ...WEBHOOK,
  state: OneOf(['on', 'paused', 'off'], {
    description: 'off: the webhook was turned off, because the receiver replied 410 or failed for 3 days.',
  }),
  behind: Type.Object(
    {
      events: Count(
        'Events that the webhook has not processed yet, including events of kinds that it does not receive. A pending `relist` counts as one event, in place of the events that it replaces.',
      ),
      since: Type.Optional(DateTime('When the oldest of these events happened, in UTC.')),
    },
    { title: 'WebhookLag', description: 'The backlog of the webhook.' },
  ),
  failingSince: Type.Optional(DateTime('If deliveries fail: when the first attempt failed, in UTC.')),
  retryAt: Type.Optional(
    DateTime('If deliveries fail and the webhook is on: when the next attempt is made, in UTC.'),
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
  state: 'on',
  behind: { events: 0 },
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

const Redelivery = Type.Object(
  { since: DateTime('The events at or after this time are sent again.') },
  { title: 'Redelivery', examples: [{ since: EXAMPLE_TIME }] },
)

const ATTEMPT = {
  messageId: PlainText('The `webhook-id`, which is the same for all attempts of a delivery.'),
  type: PlainText('The kind of event.'),
  at: DateTime('When the attempt was made, in UTC.'),
  durationMs: Count('How long the attempt took.'),
  delivered: Flag('Whether the receiver replied 2xx in time.'),
  status: Type.Optional(
    Type.Integer({ description: 'The status of the response; absent if there was none.' }),
  ),
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
    attempt: Type.Integer({ minimum: 1, description: 'The number of the attempt, from 1.' }),
    ...ATTEMPT,
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
  reply: async ({ request }, { store }) =>
    conditionalReply(jsonReply((await store.listWebhooks()).map(webhookBody)), request),
})

export const createWebhook = defineOperation('POST', '/webhooks', {
  summary: 'Create a webhook',
  description: `Creates a webhook. From now on, the service sends every event of the given kinds to the address with POST, as the Standard Webhooks specification says. Each event is delivered at least once, and events of one pet arrive in order. A delivery succeeds if the receiver replies 2xx within 15 seconds. Otherwise the delivery is retried for 3 days; then the webhook is turned off. If the log was pruned before all events were delivered, the webhook gets one delivery of the type \`relist\`: read the list again. Only this response shows the secret. A store can have ${MAX_WEBHOOKS} webhooks, and a key can have created ${MAX_WEBHOOKS_PER_KEY} of them; beyond that the response is 409.`,
  permission: 'webhooks',
  acceptsIdempotencyKey: true,
  body: NewWebhook,
  success: { status: 201, description: 'The webhook, with its secret.', schema: WebhookWithSecret },
  errors: ['in_use'],
  reply: async (input, services) => {
    const { clock, store, webhookSender } = services
    const { url, urlProblem } = await checkWebhookUrl(input.body.url, webhookSender)
    const at = clock()
    const settings = { url, kinds: input.body.kinds, createdAt: at }
    const webhook = newWebhook(settings, await store.latestEventCursor())
    const command = { type: 'create_webhook', webhook, urlProblem, at } as const
    return commitAndReply(input, services, command, {
      done: (outcome) =>
        createdReply(input.request.path, bodyWithSecret({ webhook: outcome.webhook, lag: NO_LAG })),
      invalid_url: refuseUrl,
      too_many_webhooks: ({ scope, max }) => {
        const owner = scope === 'store' ? 'the store has' : 'this API key has created'
        const message = `${owner} ${max} webhooks, which is the maximum; remove a webhook first`
        return new ServiceError('in_use', message)
      },
    })
  },
})

export const getWebhook = defineOperation('GET', '/webhooks/{webhookId}', {
  summary: 'Get a webhook',
  description: 'Returns one webhook with its backlog, but without its secret.',
  permission: 'webhooks',
  params: { webhookId: Int64('The webhook to return.') },
  success: { description: 'The webhook.', schema: Webhook },
  reply: async ({ params: { webhookId }, request }, { store }) =>
    conditionalReply(jsonReply(webhookBody(await requireWebhook(store, webhookId))), request),
})

export const updateWebhook = defineOperation('PATCH', '/webhooks/{webhookId}', {
  summary: 'Update a webhook',
  description:
    'Changes the address or the kinds of a webhook, pauses it or resumes it. Fields that are not sent stay as they are. Deliveries that start after the response obey the change. The webhook continues where it stopped, and a failed delivery is retried at once.',
  permission: 'webhooks',
  acceptsIdempotencyKey: true,
  params: { webhookId: Int64('The webhook to update.') },
  body: WebhookUpdate,
  success: { description: 'The webhook.', schema: Webhook },
  reply: async (input, services) => {
    const { store, webhookSender } = services
    const { params, body } = input
    const { webhookId } = params
    const checked = body.url === undefined ? undefined : await checkWebhookUrl(body.url, webhookSender)
    const patch = checked === undefined ? body : { ...body, url: checked.url }
    const lag = await lagOf(store, webhookId)
    const urlProblem = checked?.urlProblem
    const command = { type: 'update_webhook', webhookId, patch, urlProblem } as const
    return commitAndReply(input, services, command, {
      done: ({ webhook }) => replyWithETag(webhookBody({ webhook, lag })),
      invalid_url: refuseUrl,
      unknown_webhook: () => webhookNotFound(webhookId),
    })
  },
})

export const removeWebhook = defineOperation('DELETE', '/webhooks/{webhookId}', {
  summary: 'Remove a webhook',
  description:
    'Removes a webhook and its list of deliveries. No delivery starts after the response; one that is being sent at that moment may still arrive.',
  permission: 'webhooks',
  acceptsIdempotencyKey: true,
  params: { webhookId: Int64('The webhook to remove.') },
  success: { status: 204, description: 'The webhook was removed.', schema: Type.Null() },
  reply: (input, services) => {
    const { webhookId } = input.params
    const command = { type: 'remove_webhook', webhookId } as const
    return commitAndReply(input, services, command, {
      done: () => NO_CONTENT,
      unknown_webhook: () => webhookNotFound(webhookId),
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
  description:
    'Gives a webhook a new secret. For 24 hours, all deliveries that start after the response are signed with both the new and the old secret, so that the receiver can switch to the new secret without losing a delivery. A second rotation within that time ends the signature with the first secret.',
  permission: 'webhooks',
  acceptsIdempotencyKey: true,
  params: { webhookId: Int64('The webhook.') },
  success: { description: 'The webhook, with its new secret.', schema: WebhookWithSecret },
  reply: async (input, services) => {
    const { webhookId } = input.params
    const lag = await lagOf(services.store, webhookId)
    const command = { type: 'rotate_webhook_secret', webhookId, secret: newSecret() } as const
    return commitAndReply(input, services, command, {
      done: ({ webhook }) => jsonReply(bodyWithSecret({ webhook, lag })),
      unknown_webhook: () => webhookNotFound(webhookId),
    })
  },
})

/**
 * Another try is needed if the webhook changed after it was read, for example because an instance took it over. A takeover
 * happens at most once every few seconds.
 */
const MAX_REDELIVER_TRIES = 5

export const redeliverWebhook = defineOperation('POST', '/webhooks/{webhookId}/redeliver', {
  summary: 'Send events to a webhook again',
  description:
    'Takes a webhook back to the first event at or after `since`, so that this event and all later ones are sent again, with the same `webhook-id`. Events that the webhook has not sent yet are never skipped. If some of these events may have been pruned from the log, the webhook gets a single `relist` instead: read the list again. A webhook that is paused or off sends the events once it is on again.',
  permission: 'webhooks',
  acceptsIdempotencyKey: true,
  params: { webhookId: Int64('The webhook.') },
  body: Redelivery,
  success: { description: 'The webhook. `behind` counts from the new position.', schema: Webhook },
  reply: async (input, services) => {
    const { webhookId } = input.params
    const { since } = input.body
    const { store } = services
    const origin = { keyId: input.key.id, at: services.clock() }
    if (since > origin.at)
      throw invalidField('since', `since must not be in the future, got ${new Date(since).toISOString()}`)
    for (let tries = 1; ; tries++) {
      const found = await store.findWebhook(webhookId)
      const rewind = found && (await store.findRewind(found.webhook.progress, since))
      // An unknown webhook is not refused here: the request may be a repeat, and only the commit looks up the stored answer of
      // its Idempotency-Key. So a command is run that changes nothing.
      const command =
        found === undefined || rewind === undefined
          ? ({ type: 'move_webhook_cursor', webhookId, cursor: '', onlyIfRevision: 0, ...origin } as const)
          : rewindCommand(found.webhook, rewind, origin)
      let wasChanged = false
      const reply = await commitAndReply(input, services, command, {
        done: ({ webhook }) => jsonReply(webhookBody({ webhook, lag: rewind?.lag ?? NO_LAG })),
        unknown_webhook: () => webhookNotFound(webhookId),
        webhook_changed: () => {
          wasChanged = true
          const message = `webhook ${webhookId} was changed at the same time; send the request again`
          return new ServiceError('service_unavailable', message, { retryAfterSeconds: 1 })
        },
      })
      if (!wasChanged || tries === MAX_REDELIVER_TRIES) return reply
    }
  },
})

export const testWebhook = defineOperation('POST', '/webhooks/{webhookId}/test', {
  summary: 'Send a test event to a webhook',
  description: `Sends an event of the type \`${TEST_EVENT_TYPE}\` at once, whatever kinds the webhook receives and even if it is paused or off, and returns the response. A test event says nothing about the stock. Its \`webhook-id\` begins with \`test_\`. It is never retried. On each instance of the service, a key can send one test event at a time, and all keys together ${MAX_PARALLEL_TESTS}; beyond that the response is 503.`,
  permission: 'webhooks',
  params: { webhookId: Int64('The webhook.') },
  success: { description: 'The attempt and the response of the receiver.', schema: WebhookTest },
  reply: async ({ params: { webhookId }, key }, { store, clock, webhookSender: sender, testEventSlots }) => {
    const { webhook } = await requireWebhook(store, webhookId)
    const attempt = await testEventSlots.run(key.id, () => sendTestEvent(webhook, { sender, store, clock }))
    return jsonReply(attemptBody(attempt))
  },
})

const NO_LAG: WebhookLag = { events: 0, since: undefined }

async function lagOf(store: WebhookStore, webhookId: bigint): Promise<WebhookLag> {
  return (await store.findWebhook(webhookId))?.lag ?? NO_LAG
}

async function requireWebhook(store: WebhookStore, webhookId: bigint): Promise<WebhookWithLag> {
  const found = await store.findWebhook(webhookId)
  if (found === undefined) throw webhookNotFound(webhookId)
  return found
}

/**
 * Throws if the url is malformed. Otherwise returns it in normal form, with `urlProblem` if deliveries to it are not allowed.
 * Does not throw for a `urlProblem`: the request may be a repeat, and only the commit looks up the stored answer of its
 * Idempotency-Key.
 */
async function checkWebhookUrl(
  text: string,
  sender: WebhookSender,
): Promise<{ readonly url: string; readonly urlProblem: string | undefined }> {
  const normalized = normalizeUrl(text)
  if (normalized.type === 'invalid') throw invalidField('url', `url ${normalized.problem}`)
  return { url: normalized.url, urlProblem: await sender.problemOf(normalized.url) }
}

function refuseUrl({ problem }: InvalidUrl): ServiceError {
  return invalidField('url', `url ${problem}`)
}

const webhookToJson = jsonWriter(WEBHOOK_BODY)
const attemptToJson = jsonWriter(ATTEMPT)

/** A webhook as callers see it. */
function webhookBody({ webhook, lag }: WebhookWithLag): JsonOf<typeof WEBHOOK_BODY> {
  const { failure, off } = webhook.progress
  return webhookToJson({
    ...webhook,
    state: webhookState(webhook),
    behind: lag,
    failingSince: failure?.since,
    retryAt: retryAtOf(webhook),
    offAt: off?.at,
    offReason: off?.reason,
  })
}

function webhookState({ paused, progress }: StoredWebhook): 'on' | 'paused' | 'off' {
  if (progress.off !== undefined) return 'off'
  return paused ? 'paused' : 'on'
}

function bodyWithSecret({ webhook, lag }: WebhookWithLag) {
  return { ...webhookBody({ webhook, lag }), secret: webhook.secret }
}

function attemptBody(attempt: DeliveryAttempt): JsonOf<typeof ATTEMPT> {
  return attemptToJson({ ...attempt, delivered: attempt.isDelivered })
}

function deliveryBody(delivery: ListedAttempt): JsonOf<typeof WebhookDelivery.properties> {
  return { id: String(delivery.id), attempt: delivery.attempt, ...attemptBody(delivery) }
}
