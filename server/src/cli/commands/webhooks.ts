import type { Command } from 'commander'
import {
  type CreateWebhook,
  type MoveWebhook,
  STORE_KEY_ID,
  type UpdateWebhook,
} from '../../core/stock/command.ts'
import {
  kindOf,
  newSecret,
  newWebhookId,
  normalizeUrl,
  WEBHOOK_KINDS,
  type Webhook,
  type WebhookKind,
} from '../../core/webhooks/webhook.ts'
import { MAX_KEPT_DELIVERIES, type WebhookState } from '../../core/webhooks/webhook-store.ts'
import { HttpSender } from '../../delivery/http-sender.ts'
import type { Store } from '../../store/store.ts'
import { listOf, readWebhookId, readWhen, wholeNumber, wrongUse } from '../arguments.ts'
import { type AskingFlags, ask, requireAnswer } from '../asking.ts'
import { handOver } from '../handing-over.ts'
import { counted, grouped, json, moment, table } from '../output.ts'
import { conditionOf } from '../webhook-health.ts'
import { databaseName, type SettingFlags, setting, withStore } from '../with-store.ts'

const EVENTS_A_READ = 1_000
const WHICH = 'its id; petstore webhooks list shows all'

interface JsonFlags extends SettingFlags {
  readonly json?: true
}

export function addWebhooksCommands(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('Look after webhooks, while the service runs; it heeds a change within a second or two.')
  webhooks
    .command('list')
    .description('List all webhooks, with how far each is behind. Times are in UTC.')
    .option('--json', 'for machines')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(listWebhooks)
  webhooks
    .command('create')
    .description('Make a webhook. Its secret is shown once.')
    .requiredOption('--url <url>', 'where deliveries are sent')
    .requiredOption(
      '--kinds <names>',
      `what it is told of: all, or some of ${WEBHOOK_KINDS.join()}`,
      listOf('--kinds', WEBHOOK_KINDS, 'all'),
    )
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .addOption(setting('webhookPrivateAddresses'))
    .action(createWebhook)
  webhooks
    .command('pause')
    .description('Send nothing more. It keeps its place.')
    .argument('<webhookId>', WHICH, readWebhookId)
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action((id: bigint, flags: SettingFlags) => setPaused(id, true, flags))
  webhooks
    .command('resume')
    .description(
      'Let one go on from its place: one that is paused, was turned off, or waits after a failure.',
    )
    .argument('<webhookId>', WHICH, readWebhookId)
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action((id: bigint, flags: SettingFlags) => setPaused(id, false, flags))
  webhooks
    .command('remove')
    .description('Remove a webhook with its place and its deliveries.')
    .argument('<webhookId>', WHICH, readWebhookId)
    .option('--yes', 'do not ask')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(removeWebhook)
  webhooks
    .command('deliveries')
    .description('Show what was sent for a webhook and what came back, newest first. Times are in UTC.')
    .argument('<webhookId>', WHICH, readWebhookId)
    .option('--limit <number>', `how many, up to ${MAX_KEPT_DELIVERIES}`, wholeNumber('--limit', 1), 20)
    .option('--json', 'for machines')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(listDeliveries)
  webhooks
    .command('replay')
    .description('Send again what happened from a time on: for a receiver that has lost what it was told.')
    .argument('<webhookId>', WHICH, readWebhookId)
    .requiredOption('--from <when>', 'since when: 2h, 3d, or a day or time such as 2027-01-31T08:00')
    .addOption(setting('databaseUrl'))
    .addOption(setting('data'))
    .action(replay)
}

async function listWebhooks(flags: JsonFlags): Promise<void> {
  const states = await withStore(flags, 'expect', (store) => store.listWebhooks())
  if (flags.json === true) console.log(json(states.map(forMachines)))
  else if (states.length === 0) console.log('There are no webhooks.')
  else {
    console.log(
      table(
        ['ID', 'STATE', 'BEHIND', 'SINCE', 'CREATED', 'KINDS', 'URL'],
        states.map(({ webhook, lag }) => [
          ...[String(webhook.id), conditionOf(webhook)],
          ...[grouped(lag.events), moment(lag.since)],
          ...[moment(webhook.createdAt), kindsText(webhook), webhook.url],
        ]),
      ),
    )
    for (const { webhook } of states) {
      const { off } = webhook.progress
      if (off !== undefined) console.log(`${webhook.id} was turned off ${moment(off.at)}: ${off.reason}`)
    }
  }
}

async function createWebhook(
  flags: SettingFlags & { readonly url: string; readonly kinds: readonly WebhookKind[] },
): Promise<void> {
  const normalized = normalizeUrl(flags.url)
  if ('problem' in normalized) wrongUse(`--url ${normalized.problem}`)
  const { url } = normalized
  const { kinds } = flags
  await withStore(flags, 'expect', async (store, config) => {
    const allowsPrivate = config.webhookPrivateAddresses === 'on'
    const problem = await new HttpSender({ allowsPrivate, clock: store.clock }).problemOf(url)
    if (problem !== undefined) wrongUse(`--url ${problem}`)
    const at = store.clock()
    const progress = { cursor: await store.latestEventCursor() }
    const newWebhook = {
      ...{ id: newWebhookId(), url, kinds, paused: false, createdAt: at, secret: newSecret() },
      ...{ revision: 1, progress },
    }
    await handOver(
      'secret',
      newWebhook.secret,
      () => change(store, { type: 'create_webhook', webhook: newWebhook, keyId: STORE_KEY_ID, at }),
      `Made webhook ${newWebhook.id} (${kindsText(newWebhook)}) in ${databaseName(config)}.`,
    )
  })
}

async function setPaused(webhookId: bigint, paused: boolean, flags: SettingFlags): Promise<void> {
  await withStore(flags, 'expect', async (store, config) => {
    const before = await requireWebhook(store, webhookId)
    const was = conditionOf(before.webhook)
    if (was === (paused ? 'paused' : 'on')) throw new Error(`webhook ${webhookId} is ${was} already`)
    const patch = { paused }
    await change(store, { type: 'update_webhook', webhookId, patch, keyId: STORE_KEY_ID, at: store.clock() })
    const behind = counted(before.lag.events, 'event')
    console.log(
      paused
        ? `Paused webhook ${webhookId} in ${databaseName(config)}. It keeps its place: petstore webhooks resume ${webhookId}`
        : `Webhook ${webhookId} in ${databaseName(config)} was ${was} and goes on from its place, ${behind} behind.`,
    )
  })
}

async function removeWebhook(webhookId: bigint, flags: SettingFlags & AskingFlags): Promise<void> {
  requireAnswer(flags, 'removes the webhook')
  await withStore(flags, 'expect', async (store, config) => {
    const { webhook } = await requireWebhook(store, webhookId)
    const described = `webhook ${webhookId} (${webhook.url})`
    ask(flags, `Remove ${described} and its place in the log?`)
    await store.changeStock([{ type: 'remove_webhook', webhookId, keyId: STORE_KEY_ID, at: store.clock() }])
    console.log(`Removed ${described} from ${databaseName(config)}.`)
  })
}

async function listDeliveries(
  webhookId: bigint,
  flags: JsonFlags & { readonly limit: number },
): Promise<void> {
  const deliveries = await withStore(flags, 'expect', async (store) => {
    await requireWebhook(store, webhookId)
    return store.listDeliveries(webhookId, flags.limit, undefined)
  })
  if (flags.json === true) {
    const shown = deliveries.map(({ at, durationMs, isDelivered, ...rest }) => ({
      ...{ ...rest, at: new Date(at).toISOString(), durationMs, delivered: isDelivered },
    }))
    console.log(json(shown))
  } else if (deliveries.length === 0) console.log('Nothing was sent yet.')
  else {
    console.log(
      table(
        ['AT', 'TYPE', 'ATTEMPT', 'STATUS', 'MS', 'MESSAGE', 'PROBLEM'],
        deliveries.map(({ at, type, attempt, status, durationMs, messageId, error }) => [
          ...[new Date(at).toISOString().slice(0, 19).replace('T', ' '), type, attempt],
          ...[status === undefined ? '-' : String(status), Math.round(durationMs), messageId, error ?? '-'],
        ]),
      ),
    )
  }
}

async function replay(webhookId: bigint, flags: SettingFlags & { readonly from: string }): Promise<void> {
  const startFrom = (now: number) => {
    const from = readWhen('--from', flags.from, now, 'back')
    return from > now ? wrongUse(`--from must be in the past, got "${flags.from}"`) : from
  }
  // A mistake in the arguments is reported without opening the database.
  startFrom(Date.now())
  await withStore(flags, 'expect', async (store, config) => {
    const at = store.clock()
    const from = startFrom(at)
    const { webhook, lag } = await requireWebhook(store, webhookId)
    requireNothingSkipped(webhook, lag, from)
    const cursor = await store.eventCursorAt(from)
    const count = await countAfter(store, cursor, webhook)
    if (count === 0) throw new Error(`nothing of its kinds has happened since ${moment(from)}`)
    const { paused, progress } = await change(store, {
      type: 'move_webhook',
      webhookId,
      cursor,
      keyId: STORE_KEY_ID,
      at,
    })
    const isHeld = paused || progress.off !== undefined
    console.log(
      `Webhook ${webhookId} in ${databaseName(config)} goes back to ${moment(from)}: ${counted(count, 'event')} will be sent again.${
        isHeld ? ` It is ${conditionOf(webhook)}: petstore webhooks resume ${webhookId}` : ''
      }`,
    )
  })
}

/** What is due already must not be lost by going on from somewhere later. */
function requireNothingSkipped({ id, progress }: Webhook, lag: WebhookState['lag'], from: number): void {
  if (lag.events === undefined || progress.relistAt !== undefined) {
    throw new Error(
      `webhook ${id} is due a relist, since its place in the log is gone; replay once it has been delivered`,
    )
  }
  if (lag.since !== undefined && lag.since < from) {
    throw new Error(
      `webhook ${id} has not come further than ${moment(lag.since)}; what follows is sent anyway, nothing was changed`,
    )
  }
}

/** How many events of its kinds the log has behind this place. */
async function countAfter(store: Store, cursor: string, { kinds }: Webhook): Promise<number> {
  let count = 0
  for (let place = cursor; ; ) {
    const found = await store.eventsAfter(place, EVENTS_A_READ)
    if (typeof found === 'string') {
      throw new Error(
        'the log has been pruned since then; choose a later time, or have the receiver read the list again',
      )
    }
    for (const event of found.events) {
      const kind = kindOf(event)
      if (kind === 'relist' || (kind !== undefined && kinds.includes(kind))) count++
    }
    if (found.events.length < EVENTS_A_READ) return count
    place = found.cursor
  }
}

async function requireWebhook(store: Store, id: bigint): Promise<WebhookState> {
  const found = await store.findWebhook(id)
  if (found === undefined) throw new Error(`there is no webhook ${id}; petstore webhooks list shows all`)
  return found
}

async function change(store: Store, command: CreateWebhook | UpdateWebhook | MoveWebhook): Promise<Webhook> {
  const [outcome] = await store.changeStock([command])
  switch (outcome.type) {
    case 'done':
      return outcome.webhook
    case 'too_many_webhooks':
      throw new Error(`the store has ${outcome.max} webhooks, which is the maximum; remove one first`)
    case 'unknown_webhook':
      throw new Error('the webhook was removed in the meantime')
  }
}

function kindsText({ kinds }: Webhook): string {
  return kinds.length === WEBHOOK_KINDS.length ? 'all' : kinds.join()
}

/** With its times in ISO 8601, and without its secrets. */
function forMachines({ webhook, lag }: WebhookState) {
  const iso = (time: number | undefined) => (time === undefined ? null : new Date(time).toISOString())
  const { id, url, kinds, paused, createdAt, progress } = webhook
  const { failure, off } = progress
  return {
    ...{ id, url, kinds, paused, state: conditionOf(webhook), createdAt: iso(createdAt) },
    behind: { events: lag.events, since: iso(lag.since) },
    ...{ failingSince: iso(failure?.since), retryAt: iso(failure?.retryAt) },
    ...{ offAt: iso(off?.at), offReason: off?.reason ?? null },
  }
}
