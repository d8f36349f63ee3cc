import { PLANS, type Plan } from '../core/keys/api-key.ts'
import type { OrderTotals } from '../core/orders/order-store.ts'
import type { CommitObserver } from '../core/stock/group-commit.ts'
import { VERSION } from '../core/values/version.ts'
import type { DeliveryObserver } from '../core/webhooks/delivery-observer.ts'
import { isServed } from '../core/webhooks/webhook.ts'
import type { WebhookState } from '../core/webhooks/webhook-store.ts'
import {
  type FinishedRequest,
  LIMIT_REASONS,
  type LimitReason,
  type RequestObserver,
} from '../http/finished-request.ts'
import { family, gauge, Histogram, histogramFamily, increment } from './exposition.ts'

/** What is looked up when somebody asks, instead of being counted along the way. */
export interface Gauges {
  /** Active keys; `undefined` while the database does not answer. */
  readonly keys: Readonly<Record<Plan, number>> | undefined
  readonly inventoryEntries: number | undefined
  readonly openOrders: { readonly orders: number; readonly units: number } | undefined
  readonly orderTotals: OrderTotals
  readonly webhooks: readonly WebhookState[]
  readonly now: number
  readonly load: { readonly connections: number; readonly requests: number }
  readonly residentBytes: number
  /** Files and connections, and how many there may be; `undefined` where the system does not tell. */
  readonly openFiles: number | undefined
  readonly maxFiles: number | undefined
}

/** Of one operation: resolved once, so that a request costs an array access and no label is ever built. */
interface OperationSeries {
  /** By status. */
  readonly requests: Float64Array
  readonly seconds: Histogram
}

/** One past the largest status there is. */
const STATUS_COUNT = 600

/** From an answer out of memory to one that waits for a locked database. */
const REQUEST_SECONDS = [
  0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
]
const COMMIT_SECONDS = [0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5]
const DELIVERY_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
const BATCH_SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

/** Everything that is counted while the service runs. */
export class Metrics implements RequestObserver, CommitObserver, DeliveryObserver {
  readonly #operations = new Map<string, OperationSeries>()
  readonly #limited: Record<LimitReason, number> = { rate_limit_exceeded: 0, key_banned: 0, anonymous: 0 }
  #bans = 0
  readonly #deliveries = { delivered: 0, failed: 0 }
  readonly #deliverySeconds = new Histogram(DELIVERY_SECONDS)
  #turnedOff = 0
  readonly #batchSizes = new Histogram(BATCH_SIZES)
  readonly #commitSeconds = new Histogram(COMMIT_SECONDS)

  requestFinished({ operation, status, durationMs, limited }: FinishedRequest): void {
    const { requests, seconds } = this.#operations.get(operation) ?? this.#add(operation)
    increment(requests, status)
    seconds.observe(durationMs / 1_000)
    if (limited === undefined) return
    this.#limited[limited.reason]++
    if (limited.beginsBan) this.#bans++
  }

  commitFinished(updates: number, durationMs: number): void {
    this.#batchSizes.observe(updates)
    this.#commitSeconds.observe(durationMs / 1_000)
  }

  deliveryFinished(isDelivered: boolean, durationMs: number): void {
    this.#deliveries[isDelivered ? 'delivered' : 'failed']++
    this.#deliverySeconds.observe(durationMs / 1_000)
  }

  webhookTurnedOff(): void {
    this.#turnedOff++
  }

  render(gauges: Gauges): string {
    const { keys, inventoryEntries, openOrders, orderTotals, webhooks, load } = gauges
    const { residentBytes, openFiles, maxFiles } = gauges
    const startedAt = performance.timeOrigin / 1_000
    const operations = [...this.#operations].sort(([one], [other]) => (one < other ? -1 : 1))
    return [
      family(
        'petstore_requests_total',
        'counter',
        'Requests answered, by operation and status.',
        operations.flatMap(([operation, { requests }]) =>
          [...requests.entries()]
            .filter(([, count]) => count > 0)
            .map(([status, count]) => [{ operation, status: String(status) }, count] as const),
        ),
      ),
      histogramFamily(
        'petstore_request_duration_seconds',
        'Time from the arrival of a request until its answer is handed to the network, by operation.',
        operations.map(([operation, { seconds }]) => [{ operation }, seconds]),
      ),
      histogramFamily('petstore_commit_batch_size', 'Updates in one commit.', [[{}, this.#batchSizes]]),
      histogramFamily('petstore_commit_duration_seconds', 'Time until a commit of updates is on disk.', [
        [{}, this.#commitSeconds],
      ]),
      family(
        'petstore_rate_limited_total',
        'counter',
        'Requests answered with 429: the limit of a key, a banned key, or an address without a valid key.',
        LIMIT_REASONS.map((reason) => [{ reason }, this.#limited[reason]]),
      ),
      family('petstore_bans_total', 'counter', 'Bans that began.', [[{}, this.#bans]]),
      family(
        'petstore_keys',
        'gauge',
        'Active keys, by plan.',
        keys === undefined ? [] : PLANS.map((plan) => [{ plan }, keys[plan]]),
      ),
      gauge('petstore_inventory_entries', 'Entries in the inventory.', inventoryEntries),
      gauge('petstore_orders_open', 'Orders that are open.', openOrders?.orders),
      gauge('petstore_reserved_units', 'What open orders reserve, in units of stock.', openOrders?.units),
      family('petstore_orders_refused_total', 'counter', 'Orders refused for lack of stock.', [
        [{}, orderTotals.refused],
      ]),
      family('petstore_orders_expired_total', 'counter', 'Holds that expired, ended by this process.', [
        [{}, orderTotals.expired],
      ]),
      family(
        'petstore_webhook_deliveries_total',
        'counter',
        'Attempts to deliver to webhooks by this process, by result.',
        (['delivered', 'failed'] as const).map((result) => [{ result }, this.#deliveries[result]]),
      ),
      histogramFamily('petstore_webhook_delivery_duration_seconds', 'Time of an attempt to deliver.', [
        [{}, this.#deliverySeconds],
      ]),
      family('petstore_webhooks_turned_off_total', 'counter', 'Webhooks turned off by this process.', [
        [{}, this.#turnedOff],
      ]),
      family(
        'petstore_webhook_behind_events',
        'gauge',
        'What happened since the place of a webhook.',
        webhooks.map(({ webhook, lag }) => [{ webhook: String(webhook.id) }, lag.events]),
      ),
      family(
        'petstore_webhook_behind_seconds',
        'gauge',
        'How long ago the first of that happened.',
        webhooks.map(({ webhook, lag }) => [
          { webhook: String(webhook.id) },
          lag.since === undefined ? 0 : Math.max(0, (gauges.now - lag.since) / 1_000),
        ]),
      ),
      family(
        'petstore_webhook_on',
        'gauge',
        '1 where a webhook is served, 0 where it is paused or was turned off.',
        webhooks.map(({ webhook }) => [{ webhook: String(webhook.id) }, isServed(webhook) ? 1 : 0]),
      ),
      gauge('petstore_open_connections', 'Connections of callers, idle ones included.', load.connections),
      gauge('petstore_open_requests', 'Requests being answered at this moment.', load.requests),
      family('petstore_build_info', 'gauge', 'Always 1; the labels tell what is running.', [
        [{ version: VERSION, bun: Bun.version }, 1],
      ]),
      gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', residentBytes),
      gauge('process_open_fds', 'Open files and connections, idle connections included.', openFiles),
      gauge('process_max_fds', 'How many files and connections the process may have open.', maxFiles),
      gauge('process_start_time_seconds', 'Start time of the process in Unix seconds.', startedAt),
    ].join('')
  }

  #add(operation: string): OperationSeries {
    const series = { requests: new Float64Array(STATUS_COUNT), seconds: new Histogram(REQUEST_SECONDS) }
    this.#operations.set(operation, series)
    return series
  }
}
