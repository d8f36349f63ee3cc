import { type CommandOf, SYSTEM_KEY_ID } from '../../core/stock/command.ts'
import { MINUTE } from '../../core/values/clock.ts'
import { rewindCommand } from '../../core/webhooks/redelivery.ts'
import { sendTestEvent } from '../../core/webhooks/test-event.ts'
import {
  newWebhook,
  normalizeUrl,
  receivesEvent,
  retryAtOf,
  WEBHOOK_KINDS,
  type Webhook,
  type WebhookKind,
} from '../../core/webhooks/webhook.ts'
import { MAX_KEPT_ATTEMPTS, type WebhookLag, type WebhookWithLag } from '../../core/webhooks/webhook-store.ts'
import { HttpSender } from '../../delivery/http-sender.ts'
import type { Config } from '../../service/config.ts'
import type { Store } from '../../store/store.ts'
import {
  type ConfirmFlags,
  type JsonFlags,
  listParser,
  type PetstoreCommand,
  parseWebhookId,
  type TimeResolver,
  throwUsageError,
  timeParser,
  wholeNumberParser,
} from '../arguments.ts'
import {
  formatCount,
  formatMinute,
  formatNumber,
  formatSecond,
  handOverSecret,
  isoTime,
  printList,
  requireConfirmation,
} from '../terminal.ts'
import type { OpenedStore } from '../with-store.ts'

const EVENTS_PER_READ = 1_000
const ID_HELP = 'id of the webhook; petstore webhooks list shows all ids'

export function addWebhooksCommands(program: PetstoreCommand): void {
  const webhooks = program
    .command('webhooks')
    .description(
      'Manage webhooks, even while the service is running. Changes apply to deliveries that start later.',
    )
  webhooks
    .command('list')
    .description('List all webhooks with their backlog. Times are in UTC.')
    .jsonOption()
    .storeAction(listWebhooks)
  webhooks
    .command('create')
    .description('Create a webhook. Its secret is shown once.')
    .requiredOption('--url <url>', 'address of the receiver', parseUrl)
    .requiredOption(
      '--kinds <names>',
      `kinds of events to send: all, or a comma-separated list of ${WEBHOOK_KINDS.join()}`,
      listParser('--kinds', WEBHOOK_KINDS, 'all'),
    )
    .storeAction(createWebhook)
    .settings('webhookPrivateAddresses')
  webhooks
    .command('pause')
    .description('Stop sending. The webhook keeps its position in the log.')
    .argument('<webhookId>', ID_HELP, parseWebhookId)
    .storeAction((opened, id: bigint) => setPaused(opened, id, true))
  webhooks
    .command('resume')
    .description(
      'Continue a webhook that is paused, turned off or waiting for a retry, from its position in the log.',
    )
    .argument('<webhookId>', ID_HELP, parseWebhookId)
    .storeAction((opened, id: bigint) => setPaused(opened, id, false))
  webhooks
    .command('remove')
    .description('Remove a webhook with its position and its deliveries.')
    .argument('<webhookId>', ID_HELP, parseWebhookId)
    .confirmOption('removes the webhook')
    .storeAction(removeWebhook)
  webhooks
    .command('deliveries')
    .description(
      'Show the latest delivery attempts of a webhook with their responses, newest first. Times are in UTC.',
    )
    .argument('<webhookId>', ID_HELP, parseWebhookId)
    .option(
      '--limit <number>',
      `maximum number of attempts, up to ${MAX_KEPT_ATTEMPTS}`,
      wholeNumberParser('--limit', 1, MAX_KEPT_ATTEMPTS),
      20,
    )
    .jsonOption()
    .storeAction(listDeliveries)
  webhooks
    .command('test')
    .description('Send a test event to a webhook and show the response. Fails if the event is not accepted.')
    .argument('<webhookId>', ID_HELP, parseWebhookId)
    .storeAction(testWebhook)
    .settings('webhookPrivateAddresses')
  webhooks
    .command('replay')
    .description('Resend all events since a given time, for a receiver that has lost data.')
    .argument('<webhookId>', ID_HELP, parseWebhookId)
    .requiredOption(
      '--from <when>',
      'start: 2h, 3d, or a day or time such as 2027-01-31T08:00',
      timeParser('past', '--from'),
    )
    .storeAction(replay)
}

async function listWebhooks({ store }: OpenedStore, flags: JsonFlags): Promise<void> {
  const webhooks = await store.listWebhooks()
  printList(webhooks, flags, {
    columns: [
      ['ID', ({ webhook }) => String(webhook.id)],
      ['STATE', ({ webhook }) => conditionOf(webhook)],
      ['BEHIND', ({ lag }) => formatNumber(lag.events)],
      ['SINCE', ({ lag }) => formatMinute(lag.since)],
      ['CREATED', ({ webhook }) => formatMinute(webhook.createdAt)],
      ['KINDS', ({ webhook }) => formatKinds(webhook)],
      ['URL', ({ webhook }) => webhook.url],
    ],
    toJson: webhookToJson,
    emptyMessage: 'There are no webhooks.',
  })
  if (flags.json === true) return
  for (const { webhook } of webhooks) {
    const { off } = webhook.progress
    if (off !== undefined)
      console.log(`Webhook ${webhook.id} was turned off at ${formatMinute(off.at)}: ${off.reason}`)
  }
}

function parseUrl(text: string): string {
  const normalized = normalizeUrl(text)
  return normalized.type === 'valid' ? normalized.url : throwUsageError(`--url ${normalized.problem}`)
}

async function createWebhook(
  { store, config, database }: OpenedStore,
  { url, kinds }: { readonly url: string; readonly kinds: readonly WebhookKind[] },
): Promise<void> {
  const problem = await senderFor(store, config).problemOf(url)
  if (problem !== undefined) throwUsageError(`--url ${problem}`)
  const at = store.clock()
  const webhook = newWebhook({ url, kinds, createdAt: at }, await store.latestEventCursor())
  await handOverSecret(
    webhook.secret,
    () => changeWebhook(store, { type: 'create_webhook', webhook, keyId: SYSTEM_KEY_ID, at }),
    'petstore webhooks list',
    `Created webhook ${webhook.id} (${formatKinds(webhook)}) in ${database}.`,
  )
}

async function setPaused(
  { store, database }: OpenedStore,
  webhookId: bigint,
  paused: boolean,
): Promise<void> {
  const { webhook, lag } = await requireWebhook(store, webhookId)
  const condition = conditionOf(webhook)
  const wantedCondition = paused ? 'paused' : 'on'
  if (condition === wantedCondition) throw new Error(`webhook ${webhookId} is already ${condition}`)
  const origin = { keyId: SYSTEM_KEY_ID, at: store.clock() }
  await changeWebhook(store, { type: 'update_webhook', webhookId, patch: { paused }, ...origin })
  const backlog = formatCount(lag.events, 'event')
  console.log(
    paused
      ? `Paused webhook ${webhookId} in ${database}. It keeps its position in the log. To continue: petstore webhooks resume ${webhookId}`
      : `Webhook ${webhookId} in ${database} was ${condition} and continues from its position, ${backlog} behind.`,
  )
}

async function removeWebhook(
  { store, database }: OpenedStore,
  webhookId: bigint,
  flags: ConfirmFlags,
): Promise<void> {
  const { webhook } = await requireWebhook(store, webhookId)
  const description = `webhook ${webhookId} (${webhook.url})`
  requireConfirmation(flags, `Remove ${description} and its position in the log?`)
  await store.changeStock([{ type: 'remove_webhook', webhookId, keyId: SYSTEM_KEY_ID, at: store.clock() }])
  console.log(`Removed ${description} from ${database}.`)
}

async function listDeliveries(
  { store }: OpenedStore,
  webhookId: bigint,
  flags: JsonFlags & { readonly limit: number },
): Promise<void> {
  await requireWebhook(store, webhookId)
  const deliveries = await store.listDeliveries(webhookId, flags.limit, undefined)
  printList(deliveries, flags, {
    columns: [
      ['AT', ({ at }) => formatSecond(at)],
      ['TYPE', ({ type }) => type],
      ['ATTEMPT', ({ attempt }) => attempt],
      ['STATUS', ({ status }) => (status === undefined ? '-' : String(status))],
      ['MS', ({ durationMs }) => Math.round(durationMs)],
      ['MESSAGE', ({ messageId }) => messageId],
      ['PROBLEM', ({ error }) => error ?? '-'],
    ],
    toJson: ({ at, durationMs, isDelivered, ...rest }) => ({
      ...rest,
      at: isoTime(at),
      durationMs,
      delivered: isDelivered,
    }),
    emptyMessage: 'There are no delivery attempts yet.',
  })
}

async function testWebhook({ store, config, database }: OpenedStore, webhookId: bigint): Promise<void> {
  const { webhook } = await requireWebhook(store, webhookId)
  const sender = senderFor(store, config)
  const { error, status, response } = await sendTestEvent(webhook, { sender, store, clock: store.clock })
  if (error !== undefined) {
    throw new Error(`webhook ${webhookId} did not accept the test event: ${error}\n${response}`.trimEnd())
  }
  console.log(`Webhook ${webhookId} in ${database} accepted the test event: ${status}`)
}

function senderFor({ clock }: Store, { webhookPrivateAddresses }: Config): HttpSender {
  return new HttpSender({ allowsPrivate: webhookPrivateAddresses === 'on', clock })
}

async function replay(
  { store, database }: OpenedStore,
  webhookId: bigint,
  flags: { readonly from: TimeResolver },
): Promise<void> {
  const at = store.clock()
  const from = flags.from(at)
  const { webhook, lag } = await requireWebhook(store, webhookId)
  const rewind = await store.findRewind(webhook.progress, from)
  if (rewind.type === 'no_rewind') throw new Error(describeRefusedReplay(webhook, lag, from))
  const rewound = await changeWebhook(store, rewindCommand(webhook, rewind, { keyId: SYSTEM_KEY_ID, at }))
  const isStopped = rewound.paused || rewound.progress.off !== undefined
  const hint = isStopped
    ? ` The webhook is ${conditionOf(rewound)}. To continue: petstore webhooks resume ${webhookId}`
    : ''
  console.log(
    rewind.type === 'relist'
      ? `Events since ${formatMinute(from)} were pruned from the log, so webhook ${webhookId} in ${database} will send a relist instead: the receiver must read the list again.${hint}`
      : `Webhook ${webhookId} in ${database} continues from ${formatMinute(from)}: ${formatCount(await countEventsAfter(store, rewind.cursor, webhook), 'event')} will be sent.${hint}`,
  )
}

/**
 * Explains why a replay is refused: the webhook has to send a relist first, there are no events since `from`, or none of
 * them has been sent yet.
 */
function describeRefusedReplay(
  { id, progress }: Webhook,
  { since: oldestUnsentAt }: WebhookLag,
  from: number,
): string {
  if (progress.relistAt !== undefined) {
    return `webhook ${id} has to send a relist first; replay after that delivery`
  }
  return oldestUnsentAt === undefined
    ? `there are no events since ${formatMinute(from)}; nothing was changed`
    : `webhook ${id} has only sent the events before ${formatMinute(oldestUnsentAt)} and will send the later events anyway; nothing was changed`
}

async function countEventsAfter(store: Store, cursor: string, webhook: Webhook): Promise<number> {
  let count = 0
  for (let position = cursor; ; ) {
    const page = await store.eventsAfter(position, EVENTS_PER_READ)
    // The log was pruned in the meantime.
    if (typeof page === 'string') return count
    count += page.events.filter((event) => receivesEvent(webhook, event)).length
    if (page.events.length < EVENTS_PER_READ) return count
    position = page.cursor
  }
}

async function requireWebhook(store: Store, id: bigint): Promise<WebhookWithLag> {
  const found = await store.findWebhook(id)
  if (found === undefined)
    throw new Error(`there is no webhook ${id}; petstore webhooks list shows all webhooks`)
  return found
}

async function changeWebhook(
  store: Store,
  command: CommandOf<'create_webhook' | 'update_webhook' | 'move_webhook_cursor'>,
): Promise<Webhook> {
  const [outcome] = await store.changeStock([command])
  switch (outcome.type) {
    case 'done':
      return outcome.webhook
    case 'invalid_url':
      throw new Error(`the url ${outcome.problem}`)
    case 'too_many_webhooks':
      throw new Error(`the store has ${outcome.max} webhooks, which is the maximum; remove a webhook first`)
    case 'unknown_webhook':
      throw new Error('the webhook was removed in the meantime')
    case 'webhook_changed':
      throw new Error('the webhook was changed in the meantime; run the command again')
  }
}

function formatKinds({ kinds }: Webhook): string {
  return kinds.length === WEBHOOK_KINDS.length ? 'all' : kinds.join()
}

/** Leaves out the secrets that sign deliveries. */
function webhookToJson({ webhook, lag }: WebhookWithLag) {
  const { id, url, kinds, paused, createdAt, progress } = webhook
  const { failure, off } = progress
  return {
    id,
    url,
    kinds,
    paused,
    state: conditionOf(webhook),
    createdAt: isoTime(createdAt),
    behind: { events: lag.events, since: isoTime(lag.since) },
    failingSince: isoTime(failure?.since),
    retryAt: isoTime(retryAtOf(webhook)),
    offAt: isoTime(off?.at),
    offReason: off?.reason ?? null,
  }
}

type WebhookCondition = 'on' | 'failing' | 'paused' | 'off'

function conditionOf({ paused, progress: { off, failure } }: Webhook): WebhookCondition {
  if (off !== undefined) return 'off'
  if (paused) return 'paused'
  return failure === undefined ? 'on' : 'failing'
}

/** A backlog beyond one of these limits is a problem. */
const MAX_BACKLOG_MS = 5 * MINUTE
const MAX_BACKLOG_EVENTS = 10_000

/** Describes the problem of a webhook that is turned off or has a large backlog. */
export function findWebhookProblem({ webhook, lag }: WebhookWithLag, now: number) {
  const { id, url, progress } = webhook
  // The path of the address may contain a secret.
  const name = `webhook ${id} (${URL.parse(url)?.host ?? 'no address'})`
  const resume = `petstore webhooks resume ${id}`
  const { off, failure } = progress
  if (off !== undefined) {
    const text = `${name} was turned off at ${formatMinute(off.at)}: ${off.reason}`
    return { text, advice: `fix the receiver, then continue from the same position: ${resume}` }
  }
  const hasBacklog =
    lag.events > MAX_BACKLOG_EVENTS || (lag.since !== undefined && now - lag.since > MAX_BACKLOG_MS)
  if (!hasBacklog) return undefined
  const since = lag.since === undefined ? '' : `, since ${formatMinute(lag.since)}`
  const text = `${name} is ${formatCount(lag.events, 'event')} behind${since}`
  if (webhook.paused) return { text: `${text}; it is paused`, advice: `to continue: ${resume}` }
  if (failure === undefined) {
    return {
      text,
      advice:
        'start petstore serve, which sends events; if it runs, check its log and the response time of the receiver',
    }
  }
  const advice = `petstore webhooks deliveries ${id} shows the reason; fix the receiver, then retry at once: ${resume}`
  return { text: `${text}; it has failed since ${formatMinute(failure.since)}`, advice }
}
