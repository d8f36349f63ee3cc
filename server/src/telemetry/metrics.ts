import { readdirSync, readFileSync } from 'node:fs'
import { type Handler, type HttpRequest, type HttpResponse, headerLines } from '@petstore/wire'
import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import { PLANS, type Plan } from '../core/keys/api-key.ts'
import type { KeyStore } from '../core/keys/key-store.ts'
import type { OrderStore, OrderTotals } from '../core/orders/order-store.ts'
import type { CommitObserver } from '../core/stock/group-commit.ts'
import type { Clock } from '../core/values/clock.ts'
import { VERSION } from '../core/values/version.ts'
import { isActive } from '../core/webhooks/webhook.ts'
import type { DeliveryObserver, WebhookStore, WebhookWithLag } from '../core/webhooks/webhook-store.ts'
import {
  type FinishedRequest,
  LIMIT_REASONS,
  type LimitReason,
  type RequestObserver,
} from '../http/request-context.ts'

/** Values that are read when the metrics are scraped. */
interface Gauges {
  /** This count and the next two are `undefined` while the database is unavailable. */
  readonly activeKeys: Readonly<Record<Plan, number>> | undefined
  readonly inventoryEntries: number | undefined
  readonly openOrders: { readonly orders: number; readonly units: number } | undefined
  readonly orderTotals: OrderTotals
  readonly webhooks: readonly WebhookWithLag[]
  /** `undefined` without a continuous backup. */
  readonly backupAgeMs: number | undefined
  readonly now: number
  readonly load: { readonly connections: number; readonly requests: number }
  readonly residentBytes: number
  /** Open files and connections; `undefined` on systems without /proc. */
  readonly openFiles: number | undefined
  readonly maxFiles: number | undefined
}

/** Counts observations in buckets by size. Prometheus expects cumulative counts, which are computed when they are written. */
class Histogram {
  /** The upper bounds of the buckets, ascending. A last bucket, +Inf, counts larger values. */
  readonly bounds: readonly number[]
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    let bucket = 0
    // Most observations are small, so a linear search is faster than a binary search.
    for (const bound of this.bounds) {
      if (value <= bound) break
      bucket++
    }
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1
    this.sum += value
  }
}

/** The counts of one operation. Labels are built when the metrics are scraped. */
interface OperationSeries {
  /** By status. */
  readonly requests: Map<number, number>
  readonly seconds: Histogram
}

/** Bucket bounds. The lowest fit replies from memory, the highest fit requests that wait for a locked database. */
const REQUEST_SECONDS = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
]
const COMMIT_SECONDS = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5]
const DELIVERY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

/** Counts the requests, commits and deliveries of this process, and renders all metrics. */
export class Metrics implements RequestObserver, CommitObserver, DeliveryObserver {
  readonly #operations = new Map<string, OperationSeries>()
  readonly #refusals: Record<LimitReason, number> = { rate_limit_exceeded: 0, key_banned: 0, anonymous: 0 }
  #bans = 0
  readonly #deliveries = { delivered: 0, failed: 0 }
  readonly #deliverySeconds = new Histogram(DELIVERY_SECONDS)
  #webhooksTurnedOff = 0
  readonly #batchSizes = new Histogram(BATCH_SIZES)
  readonly #commitSeconds = new Histogram(COMMIT_SECONDS)

  requestFinished({ operationName, status, durationMs, limitRefusal }: FinishedRequest): void {
    const { requests, seconds } = this.#operations.get(operationName) ?? this.#addOperation(operationName)
    requests.set(status, (requests.get(status) ?? 0) + 1)
    seconds.observe(durationMs / 1_000)
    if (limitRefusal === undefined) return
    this.#refusals[limitRefusal.reason]++
    if (limitRefusal.beginsBan) this.#bans++
  }

  commitFinished(commands: number, durationMs: number): void {
    this.#batchSizes.observe(commands)
    this.#commitSeconds.observe(durationMs / 1_000)
  }

  attemptFinished(isDelivered: boolean, durationMs: number): void {
    this.#deliveries[isDelivered ? 'delivered' : 'failed']++
    this.#deliverySeconds.observe(durationMs / 1_000)
  }

  webhookTurnedOff(): void {
    this.#webhooksTurnedOff++
  }

  render(gauges: Gauges): string {
    return [
      ...this.#requestFamilies(),
      ...this.#limitFamilies(),
      ...storeFamilies(gauges),
      ...this.#deliveryFamilies(),
      ...backlogFamilies(gauges),
      ...processFamilies(gauges),
    ].join('')
  }

  #requestFamilies(): string[] {
    const operations = [...this.#operations].sort(([one], [other]) => (one < other ? -1 : 1))
    return [
      counter(
        'petstore_requests_total',
        'Finished requests, by operation and status.',
        operations.flatMap(([operation, { requests }]) =>
          Array.from(requests, ([status, count]): Sample => [{ operation, status: String(status) }, count]),
        ),
      ),
      histogramFamily(
        'petstore_request_duration_seconds',
        'Time from the arrival of a request until its response is passed to the network, by operation.',
        operations.map(([operation, { seconds }]) => [{ operation }, seconds]),
      ),
      histogramFamily('petstore_commit_batch_size', 'Number of commands in one commit.', this.#batchSizes),
      histogramFamily(
        'petstore_commit_duration_seconds',
        'Time from the start of a commit until it is on disk.',
        this.#commitSeconds,
      ),
    ]
  }

  #limitFamilies(): string[] {
    return [
      counter(
        'petstore_rate_limited_total',
        'Requests rejected with 429, by reason: limit of the key, banned key, or limit of the address for requests without a valid key.',
        LIMIT_REASONS.map((reason) => [{ reason }, this.#refusals[reason]]),
      ),
      counter('petstore_bans_total', 'Bans of API keys.', this.#bans),
    ]
  }

  #deliveryFamilies(): string[] {
    return [
      counter(
        'petstore_webhook_deliveries_total',
        'Webhook delivery attempts by this process, by result.',
        Object.entries(this.#deliveries).map(([result, count]) => [{ result }, count]),
      ),
      histogramFamily(
        'petstore_webhook_delivery_duration_seconds',
        'Duration of a webhook delivery attempt.',
        this.#deliverySeconds,
      ),
      counter(
        'petstore_webhooks_turned_off_total',
        'Webhooks turned off by this process.',
        this.#webhooksTurnedOff,
      ),
    ]
  }

  #addOperation(operation: string): OperationSeries {
    const series = { requests: new Map<number, number>(), seconds: new Histogram(REQUEST_SECONDS) }
    this.#operations.set(operation, series)
    return series
  }
}

function storeFamilies(gauges: Gauges): string[] {
  const { activeKeys, inventoryEntries, openOrders, orderTotals, backupAgeMs } = gauges
  return [
    gauge(
      'petstore_keys',
      'Active keys, by plan.',
      activeKeys && PLANS.map((plan) => [{ plan }, activeKeys[plan]]),
    ),
    gauge('petstore_inventory_entries', 'Entries in the inventory.', inventoryEntries),
    gauge('petstore_orders_open', 'Open orders.', openOrders?.orders),
    gauge('petstore_reserved_units', 'Units of stock reserved by open orders.', openOrders?.units),
    counter(
      'petstore_orders_refused_total',
      'Orders rejected because too few units were available.',
      orderTotals.refused,
    ),
    counter('petstore_orders_expired_total', 'Expired holds released by this process.', orderTotals.expired),
    gauge(
      'petstore_backup_age_seconds',
      'Age of the continuous backup: how much would be lost with the disk.',
      backupAgeMs === undefined ? undefined : backupAgeMs / 1_000,
    ),
  ]
}

function backlogFamilies({ webhooks, now }: Gauges): string[] {
  const perWebhook = (measure: (state: WebhookWithLag) => number): Sample[] =>
    webhooks.map((state) => [{ webhook: String(state.webhook.id) }, measure(state)])
  return [
    gauge(
      'petstore_webhook_behind_events',
      'Events in the backlog of a webhook.',
      perWebhook(({ lag }) => lag.events),
    ),
    gauge(
      'petstore_webhook_behind_seconds',
      'Age of the oldest event in the backlog of a webhook.',
      perWebhook(({ lag: { since = now } }) => Math.max(0, (now - since) / 1_000)),
    ),
    gauge(
      'petstore_webhook_on',
      '1 if a webhook is active, 0 if it is paused or turned off.',
      perWebhook(({ webhook }) => (isActive(webhook, now) ? 1 : 0)),
    ),
  ]
}

function processFamilies({ load, residentBytes, openFiles, maxFiles }: Gauges): string[] {
  return [
    gauge(
      'petstore_open_connections',
      'Open client connections, including idle connections.',
      load.connections,
    ),
    gauge('petstore_open_requests', 'Requests in progress.', load.requests),
    gauge('petstore_build_info', 'Always 1; the labels contain the versions.', [
      [{ version: VERSION, bun: Bun.version }, 1],
    ]),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', residentBytes),
    gauge('process_open_fds', 'Open file descriptors, including connections.', openFiles),
    gauge('process_max_fds', 'Maximum number of open file descriptors.', maxFiles),
    gauge(
      'process_start_time_seconds',
      'Start time of the process in Unix seconds.',
      performance.timeOrigin / 1_000,
    ),
  ]
}

interface ScrapeParts {
  readonly metrics: Metrics
  readonly store: Pick<CatalogStore, 'countPets'> &
    Pick<KeyStore, 'countActiveKeys'> &
    Pick<OrderStore, 'countOpenOrders' | 'orderTotals'> &
    Pick<WebhookStore, 'listWebhooks'> & { readonly backup: { readonly ageMs: number } | undefined }
  readonly clock: Clock
  /** The load of the listener that serves the API; /metrics has its own listener. */
  readonly load: () => Gauges['load']
}

/** Serves /metrics. */
export function createScrapeApp({ metrics, store, clock, load }: ScrapeParts): Handler {
  // While the database is unavailable, the last known backlog is reported, so that alerts on the backlog do not clear.
  let lastWebhooks: readonly WebhookWithLag[] = []
  const scrape = async ({ method, path }: HttpRequest): Promise<HttpResponse> => {
    if (path !== '/metrics') return textResponse(404, 'the metrics are at /metrics\n')
    if (method !== 'GET' && method !== 'HEAD') {
      return textResponse(405, '/metrics allows GET and HEAD\n', { Allow: 'GET, HEAD' })
    }
    // If the database is unavailable, the metrics that do not need it are still reported.
    const [activeKeys, inventoryEntries, openOrders, webhooks] = await Promise.all([
      store.countActiveKeys(clock()).catch(() => undefined),
      store.countPets().catch(() => undefined),
      store.countOpenOrders().catch(() => undefined),
      store.listWebhooks().catch(() => lastWebhooks),
    ])
    lastWebhooks = webhooks
    const text = metrics.render({
      activeKeys,
      inventoryEntries,
      openOrders,
      orderTotals: store.orderTotals(),
      backupAgeMs: store.backup?.ageMs,
      webhooks,
      now: clock(),
      load: load(),
      residentBytes: process.memoryUsage.rss(),
      ...countFiles(),
    })
    return textResponse(200, text, { 'Content-Type': CONTENT_TYPE, 'Cache-Control': 'no-store' })
  }
  return { answer: scrape, refuse: ({ message }) => textResponse(400, `${message}\n`) }
}

function textResponse(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return { status, lines: headerLines({ 'Content-Type': 'text/plain; charset=utf-8', ...headers }), body }
}

function countFiles(): Pick<Gauges, 'openFiles' | 'maxFiles'> {
  try {
    const max = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return {
      // Reading the folder opens one more descriptor, which is not counted.
      openFiles: readdirSync('/proc/self/fd').length - 1,
      maxFiles: max === undefined ? undefined : Number(max),
    }
  } catch {
    return { openFiles: undefined, maxFiles: undefined }
  }
}

type Labels = Readonly<Record<string, string>>
type Sample = readonly [labels: Labels, value: number]

/** The version of Prometheus' text format that is written below. */
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** A number stands for a single sample without labels; `undefined` for no sample. */
type Samples = readonly Sample[] | number | undefined

function counter(name: string, help: string, samples: Samples): string {
  return metricFamily(name, 'counter', help, samples)
}

function gauge(name: string, help: string, samples: Samples): string {
  return metricFamily(name, 'gauge', help, samples)
}

/** A metric with its series, in Prometheus' text format. */
export function metricFamily(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  samples: Samples = [],
): string {
  const series: readonly Sample[] = typeof samples === 'number' ? [[{}, samples]] : samples
  const lines = series.map(([labels, value]) => sampleLine(name, labels, value))
  return heading(name, type, help) + lines.join('')
}

function histogramFamily(
  name: string,
  help: string,
  histograms: Histogram | readonly (readonly [labels: Labels, histogram: Histogram])[],
): string {
  const series = histograms instanceof Histogram ? [[{}, histograms] as const] : histograms
  const lines = series.map(([labels, histogram]) => histogramLines(name, labels, histogram))
  return heading(name, 'histogram', help) + lines.join('')
}

function histogramLines(name: string, labels: Labels, { bounds, counts, sum }: Histogram): string {
  let text = ''
  let total = 0
  for (const [index, count] of counts.entries()) {
    total += count
    const le = index < bounds.length ? String(bounds[index]) : '+Inf'
    text += sampleLine(`${name}_bucket`, { ...labels, le }, total)
  }
  return text + sampleLine(`${name}_sum`, labels, sum) + sampleLine(`${name}_count`, labels, total)
}

function heading(name: string, type: string, help: string): string {
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  return `# HELP ${name} ${escaped}\n# TYPE ${name} ${type}\n`
}

function sampleLine(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  const labelText = pairs.length === 0 ? '' : `{${pairs.join(',')}}`
  return `${name}${labelText} ${value}\n`
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
