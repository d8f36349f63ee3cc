import { randomFrom, type TortureSummary, type TortureTask } from '../../server/scripts/torture-task.ts'
import { serve } from '../../server/test/cli/running-petstore.ts'
import { stockUp } from '../../server/test/postgres/shop.ts'
import { freePort } from '../../server/test/support/free-port.ts'
import { until } from '../../server/test/support/until.ts'
import { WebhookReceiver } from '../../server/test/support/webhook-receiver.ts'
import {
  expectedEvents,
  type FeedProblems,
  feedOfStream,
  feedOfWebhook,
  hasLastChange,
  problemsOf,
  StreamFollower,
} from './cluster-followers.ts'
import { CLUSTER_PETS, ClusterLoad } from './cluster-load.ts'
import { missingPatroni, PatroniCluster } from './patroni-cluster.ts'

const SERVERS = 3
const ROUNDS = 20
const ROUNDS_IN_SHORT = 2
const UPDATES_BEFORE_EACH = 40
/** How long a killed server stays down after the failover. */
const AWAY_MS = 1_000
const DRAIN_MS = 120_000
const WEBHOOK_KINDS = ['stock.changed', 'order.created', 'order.completed', 'order.cancelled']

export interface ClusterReport {
  readonly changes: number
  readonly recoveriesMs: Readonly<Record<'switchovers' | 'failovers', readonly number[]>>
  readonly webhooks: FeedProblems
  readonly pausedWebhook: FeedProblems
  readonly streams: readonly FeedProblems[]
  readonly streamConnections: number
  readonly reusedOrderIds: number
  /** How often the API or the metric did not show the backlog of a webhook. */
  readonly missingBacklogs: number
  readonly violations: readonly string[]
}

export interface ClusterOptions {
  readonly seed: number
  readonly switchovers: number
  readonly failovers: number
  readonly say: (progress: string) => void
}

/** Two instances on a Patroni cluster with synchronous replication keep working through switchovers and failovers. */
export async function runCluster(options: ClusterOptions): Promise<ClusterReport> {
  const cluster = await PatroniCluster.start(SERVERS)
  const receiver = new WebhookReceiver()
  const pausedReceiver = new WebhookReceiver()
  const instances: Awaited<ReturnType<typeof serve>>[] = []
  try {
    const key = await stockUp(cluster.url, CLUSTER_PETS)
    const metricsPort = freePort()
    const env = { DATABASE_URL: cluster.url, LOG_REQUESTS: 'none', WEBHOOK_PRIVATE_ADDRESSES: 'on' }
    for (const port of [String(metricsPort), 'off']) {
      instances.push(await serve([], { cwd: '/', env: { ...env, METRICS_PORT: port } }))
    }
    const metrics = `http://127.0.0.1:${metricsPort}/metrics`
    const scene = { cluster, receiver, pausedReceiver, key, metrics }
    return await runRounds({ ...scene, addresses: instances.map(({ address }) => address) }, options)
  } finally {
    for (const { program } of instances) program.kill('SIGKILL')
    await Promise.all([receiver.stop(), pausedReceiver.stop()])
    await cluster.end()
  }
}

interface Scene {
  readonly cluster: PatroniCluster
  readonly addresses: readonly string[]
  readonly key: string
  readonly receiver: WebhookReceiver
  /** The receiver of the webhook that is paused while the cluster changes its primary. */
  readonly pausedReceiver: WebhookReceiver
  readonly metrics: string
}

async function runRounds(scene: Scene, options: ClusterOptions): Promise<ClusterReport> {
  const { cluster, addresses, key, receiver, pausedReceiver } = scene
  const load = new ClusterLoad({ addresses, key, random: randomFrom(options.seed) })
  const violations: string[] = []
  const addWebhook = async (url: string) =>
    String((await load.send('POST', '/webhooks', { url, kinds: WEBHOOK_KINDS })).body.id)
  const served = await addWebhook(receiver.url)
  const paused = await addWebhook(pausedReceiver.url)
  const pause = (isPaused: boolean) => load.send('PATCH', `/webhooks/${paused}`, { paused: isPaused })
  const streams = addresses.map((_, index) => new StreamFollower(rotated(addresses, index), key))
  for (const stream of streams) await stream.start()

  let missingBacklogs = 0
  let isOver = false
  const loading = load.run(() => isOver)
  // A failure of the load is reported at the end of the rounds.
  loading.catch(() => {})
  const recoveriesMs = { switchovers: [] as number[], failovers: [] as number[] }
  const round = async (kind: keyof typeof recoveriesMs, number: number) => {
    const wanted = load.acknowledgedUpdates + UPDATES_BEFORE_EACH
    await until(() => load.acknowledgedUpdates >= wanted)
    const restart = await changePrimary(cluster, kind)
    const changedAt = performance.now()
    await Promise.all(addresses.map((address) => until(() => load.update(address))))
    const recoveryMs = performance.now() - changedAt
    recoveriesMs[kind].push(recoveryMs)
    // One of the readers stays connected; the other one has to resume from before the change.
    streams[number % streams.length]?.reconnect()
    missingBacklogs += await countMissingBacklogs(load, scene.metrics, [served, paused])
    await Bun.sleep(AWAY_MS)
    restart()
    await cluster.untilWhole()
    options.say(
      `${number + 1} ${kind}, both instances took updates after ${Math.round(recoveryMs)} ms, ${load.acknowledgedUpdates} updates`,
    )
  }
  try {
    for (const kind of ['switchovers', 'failovers'] as const) {
      await pause(true)
      for (let number = 0; number < options[kind]; number++) await round(kind, number)
      await pause(false)
      // Changes continue, so a few events are always in flight.
      violations.push(...(await drain(load, paused, 20)))
    }
  } finally {
    isOver = true
  }
  await loading
  violations.push(...(await drain(load, served, 0)), ...(await drain(load, paused, 0)))
  await Promise.all(streams.map(untilLastChange))

  const expected = await expectedEvents(load, { address: addresses[0] ?? '', key })
  const webhooks = problemsOf('webhook', feedOfWebhook(receiver.all), expected)
  const pausedWebhook = problemsOf('paused webhook', feedOfWebhook(pausedReceiver.all), expected)
  for (const stream of streams) await stream.stop()
  const streamProblems = streams.map(({ events }, index) =>
    problemsOf(`stream ${index + 1}`, feedOfStream(events), expected),
  )
  if (missingBacklogs > 0) violations.push(`${missingBacklogs} times the backlog of a webhook was not shown`)
  if (load.reusedOrderIds > 0) violations.push(`${load.reusedOrderIds} order ids were given twice`)
  return {
    changes: load.acknowledgedUpdates + load.adjustments + load.orders.size,
    recoveriesMs,
    webhooks,
    pausedWebhook,
    streams: streamProblems,
    streamConnections: streams.reduce((sum, { connections }) => sum + connections, 0),
    reusedOrderIds: load.reusedOrderIds,
    missingBacklogs,
    violations: [
      ...violations,
      ...(await load.violations()),
      ...[webhooks, pausedWebhook, ...streamProblems].flatMap((problems) => problems.violations),
      ...streams.flatMap(({ surprises }) => surprises),
    ],
  }
}

/** Returns a function that restarts the killed server. */
async function changePrimary(
  cluster: PatroniCluster,
  kind: 'switchovers' | 'failovers',
): Promise<() => void> {
  if (kind === 'failovers') return (await cluster.failOver()).restart
  await cluster.switchOver()
  return () => {}
}

/** The backlog of a webhook is visible for as long as it exists, in the API and in its metric. */
async function countMissingBacklogs(
  load: ClusterLoad,
  metrics: string,
  webhookIds: readonly string[],
): Promise<number> {
  const text = await fetch(metrics).then((answer) => answer.text())
  let missing = 0
  for (const id of webhookIds) {
    const { body } = await load.send('GET', `/webhooks/${id}`)
    if (typeof body.behind?.events !== 'number') missing++
    if (!text.includes(`petstore_webhook_behind_events{webhook="${id}"}`)) missing++
  }
  return missing
}

/** Waits until at most this many events wait for delivery. */
async function drain(load: ClusterLoad, webhookId: string, mostWaiting: number): Promise<string[]> {
  const deadline = performance.now() + DRAIN_MS
  for (;;) {
    const { body } = await load.send('GET', `/webhooks/${webhookId}`)
    if (body.behind?.events <= mostWaiting) return []
    if (performance.now() > deadline) {
      return [`webhook ${webhookId} is ${body.behind?.events} events behind after ${DRAIN_MS / 1_000} s`]
    }
    await Bun.sleep(100)
  }
}

/** Waits for the event of the last change; if it is missing, the comparison finds it. */
async function untilLastChange(stream: StreamFollower): Promise<void> {
  const deadline = performance.now() + DRAIN_MS
  await until(() => performance.now() > deadline || hasLastChange(feedOfStream(stream.events)))
}

function rotated<T>(list: readonly T[], by: number): T[] {
  return [...list.slice(by), ...list.slice(0, by)]
}

function summaryOf(report: ClusterReport, options: ClusterOptions): TortureSummary {
  const { webhooks, pausedWebhook, streams } = report
  const feeds = [webhooks, pausedWebhook, ...streams]
  const sum = (list: readonly FeedProblems[], of: (problems: FeedProblems) => number) =>
    list.reduce((total, problems) => total + of(problems), 0)
  const lost = (list: readonly FeedProblems[]) =>
    `${sum(list, (one) => one.lost)} of ${sum(list, (one) => one.expected)}`
  const recovery = (sorted: readonly number[]) =>
    `median ${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)} ms, at most ${Math.round(sorted.at(-1) ?? 0)} ms`
  const ascending = (list: readonly number[]) => list.toSorted((a, b) => a - b)
  return {
    figures: [
      ['switchovers', String(options.switchovers)],
      ['failovers', String(options.failovers)],
      ['acknowledged changes', String(report.changes)],
      ['webhook events lost', lost([webhooks])],
      ['events of the paused webhook lost', lost([pausedWebhook])],
      [`events of ${streams.length} streams lost`, lost(streams)],
      ['relists', String(sum(feeds, (one) => one.relists))],
      ['webhook events delivered again', String(sum([webhooks, pausedWebhook], (one) => one.repeats))],
      ['stream connections', String(report.streamConnections)],
      ['reused order ids', String(report.reusedOrderIds)],
      ['backlogs of webhooks not shown', String(report.missingBacklogs)],
      [
        'both instances took updates after a switchover',
        recovery(ascending(report.recoveriesMs.switchovers)),
      ],
      ['after a failover', recovery(ascending(report.recoveriesMs.failovers))],
    ],
    violations: report.violations,
  }
}

export const patroniTask: TortureTask = {
  name: 'patroni',
  promise:
    'Through switchovers and failovers of a Patroni cluster with synchronous replication, no acknowledged change, webhook event or stream event is lost.',
  share: 4,
  run: async ({ seed, isFull, say }) => {
    const missing = await missingPatroni()
    if (missing !== undefined) {
      say(`skipped: ${missing}`)
      return { figures: [['skipped', 'Patroni cannot be installed here']], violations: [] }
    }
    const rounds = isFull ? ROUNDS : ROUNDS_IN_SHORT
    const options = { seed, switchovers: rounds, failovers: rounds, say }
    return summaryOf(await runCluster(options), options)
  },
}
