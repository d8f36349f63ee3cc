import { type Handler, type Listener, type ListenOptions, listen, readTls, type Tls } from '@petstore/wire'
import { KeyManager } from '../core/keys/key-manager.ts'
import { KeyRing } from '../core/keys/key-ring.ts'
import { PerKeyQueue } from '../core/limits/per-key-queue.ts'
import { AddressWindows, ANONYMOUS_PER_MINUTE } from '../core/limits/rate-windows.ts'
import { EventHub } from '../core/stock/event-hub.ts'
import { GroupCommit } from '../core/stock/group-commit.ts'
import { LiveView } from '../core/stock/view/live-view.ts'
import { type Clock, SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import type { WebhookSender } from '../core/webhooks/webhook-store.ts'
import { WebhookWorker } from '../core/webhooks/webhook-worker.ts'
import type { Lookup } from '../delivery/addresses.ts'
import { HttpSender } from '../delivery/http-sender.ts'
import { messageOf } from '../delivery/message.ts'
import { createApp } from '../http/app.ts'
import { BodyTurns } from '../http/body-turns.ts'
import { buildContract } from '../http/contract.ts'
import { EventStreams } from '../http/event-streams.ts'
import { loadWebPages, type WebFile } from '../http/public-pages.ts'
import type { Store } from '../store/store.ts'
import { Logger, type LogOutput } from '../telemetry/logger.ts'
import { createScrapeApp, Metrics } from '../telemetry/metrics.ts'
import { type Config, environmentOf, serviceAddress } from './config.ts'
import { backgroundJobs } from './jobs.ts'
import { Scheduler } from './scheduler.ts'

/** With fewer pets, the search index loads quickly enough at the first search. */
const MIN_PETS_TO_PREPARE_SEARCH = 10_000
const PING_CACHED_MS = 1_000
const PING_FAILURE_CACHED_MS = 100
/** Behind a proxy, one address has the connections of all callers. */
const MAX_CONNECTIONS_PER_PROXY = 10_000
/**
 * How long a stopping service behind a proxy keeps serving while `/readyz` answers 503: a load balancer that checks it once
 * a second has seen that.
 */
const STOP_DELAY_MS = 2 * SECOND
/** As long as a request may take to arrive. The delay and this grace fit into the 30 s of the service managers in deploy/. */
const STOP_GRACE_MS = 10 * SECOND

export interface RunningService {
  readonly port: number
  /** `undefined` if metrics are off. */
  readonly metricsPort: number | undefined
  readonly logger: Logger
  /** Finishes the requests in progress, saves the limits, and closes the store. */
  stop(): Promise<void>
}

type ConnectionLimits = Pick<
  ListenOptions,
  'firstByteTimeoutSeconds' | 'keepAliveSeconds' | 'requestTimeoutSeconds' | 'maxConnectionsPerAddress'
>

export interface ServiceOptions {
  /** For tests, instead of the store's clock. */
  readonly clock?: Clock
  readonly demoSecrets?: ReadonlySet<string>
  /** Standard output by default. */
  readonly logOutput?: LogOutput
  /** Resolves the host names of webhooks. The system's resolver by default. */
  readonly lookup?: Lookup
  // Ports and constants that tests replace.
  readonly listen?: typeof listen
  readonly webhookSender?: WebhookSender
  readonly anonymousPerMinute?: number
  readonly heartbeatMs?: number
  readonly retryDelaysMs?: readonly number[]
  readonly stopDelayMs?: number
  readonly stopGraceMs?: number
  readonly connectionLimits?: ConnectionLimits
  /** The file descriptor of a socket that already listens on the configured port. */
  readonly passedSocket?: number | undefined
}

/** Takes over the store: closes it when the service stops, or if it cannot start. */
export async function startService(
  config: Config,
  store: Store,
  options: ServiceOptions = {},
): Promise<RunningService> {
  const { clock = store.clock } = options
  // Log lines have the time of this machine, not of the store, so that they can be compared with logs of other programs.
  const logger = new Logger(config, options.logOutput, options.clock)
  // Stops the parts in reverse order, even if some of them fail to stop.
  await using starting = new AsyncDisposableStack()
  const failures: unknown[] = []
  const onStop = (name: string, stop: () => unknown) =>
    starting.defer(async () => {
      try {
        await stop()
      } catch (error) {
        logger.failure(name, error)
        failures.push(error)
      }
    })
  let isStopping = false
  onStop('log', async () => {
    if (isStopping) logger.info('stopped')
    await logger.flush()
  })
  onStop('store', () => store.close())
  for (const warning of await store.findWrongSettings()) logger.warn(warning)

  const metrics = new Metrics()
  const services = await openServices(config, store, { clock, logger, metrics, options })
  const { limits, commits, view, streams, deliveries } = services
  const checkStore = cachedPing(() => store.ping())
  const app = createApp({
    ...callerRules(config, clock, services.keyRing, options),
    services,
    webPages: await readWebPages(),
    contract: () => buildContract({ ...baseAddresses(config, listener.port), sunset: config.petSunset }),
    checkReady: async () => {
      if (isStopping) throw new ServiceError('service_unavailable', 'the service is stopping')
      await checkStore()
      return backupWarnings(store)
    },
    bodyTurns: new BodyTurns(),
    sunset: config.petSunset,
    observers: [metrics, logger],
  })
  const tls = await readConfiguredTls(config)
  const load = () => listener.load()
  const metricsListener = listenForMetrics(config, createScrapeApp({ metrics, store, clock, load }))
  onStop('metrics', () => metricsListener?.stop(0))
  onStop('limits', () => limits.save())

  /** All parts share one grace period, because a service manager kills a process that takes longer to stop. */
  let graceEndsAt = 0
  const remainingGraceMs = () => Math.max(0, graceEndsAt - performance.now())
  const scheduler = new Scheduler(
    backgroundJobs({ store, limits, commits, clock, retentionDays: config.customerRetentionDays }),
    ({ name }, error) => logger.failure(name, error),
    ({ name }) => logger.info('recovered', { source: name }),
  )
  scheduler.start()
  onStop('background jobs', () => Promise.race([scheduler.stop(), Bun.sleep(remainingGraceMs())]))
  const listener = listenForRequests(config, tls, options, app)
  deliveries.start()
  onStop('requests and deliveries', () => {
    const graceMs = remainingGraceMs()
    return Promise.all([listener.stop(graceMs), Promise.race([deliveries.stop(), Bun.sleep(graceMs)])])
  })
  onStop('event streams', () => streams.close())
  // A failure is ignored here: a search that needs the index waits for this load or starts another, and reports its failure.
  if (view.count >= MIN_PETS_TO_PREPARE_SEARCH) store.prepareSearch().catch(() => {})

  const running = starting.move()
  return {
    port: listener.port,
    metricsPort: metricsListener?.port,
    logger,
    stop: async () => {
      isStopping = true
      logger.info('stopping')
      await Bun.sleep(options.stopDelayMs ?? (config.trustProxy > 0 ? STOP_DELAY_MS : 0))
      graceEndsAt = performance.now() + (options.stopGraceMs ?? STOP_GRACE_MS)
      await running.disposeAsync()
      if (failures.length > 0) throw failures[0]
    },
  }
}

interface ServiceParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
  readonly options: ServiceOptions
}

/** Reads the keys and the stock, and connects what the operations use. Starts nothing that must be stopped. */
async function openServices(config: Config, store: Store, { clock, logger, metrics, options }: ServiceParts) {
  const { lookup, heartbeatMs, retryDelaysMs } = options
  const allowsPrivate = config.webhookPrivateAddresses === 'on'
  const limits = await store.openLimits(clock)
  const keyRing = await KeyRing.open(store, clock)
  const view = await LiveView.open(store)
  // Loading a large stock leaves garbage that would stay in memory for a long time.
  Bun.gc(true)
  const hub = new EventHub(store, (error) => logger.failure('event-hub', error))
  const webhookSender = options.webhookSender ?? new HttpSender({ allowsPrivate, clock, lookup })
  const deliveries = new WebhookWorker({
    store,
    sender: webhookSender,
    messageOf,
    clock,
    observers: [metrics, logger],
    retryDelaysMs,
    onFailure: (error) => logger.failure('webhooks', error),
  })
  return {
    store,
    clock,
    keyRing,
    view,
    commits: new GroupCommit({ store, limits, observers: [metrics, hub, deliveries] }),
    streams: new EventStreams({ hub, keyRing, clock, heartbeatMs }),
    limits,
    keys: new KeyManager({ store, keyRing, clock, environment: environmentOf(config) }),
    longReads: new PerKeyQueue(),
    webhookSender,
    deliveries,
    testedWebhooks: new Set<bigint>(),
    timeZone: config.timeZone,
  }
}

/** Who may call, from where, and how often without a key. */
function callerRules(
  config: Config,
  clock: Clock,
  keyRing: KeyRing,
  { demoSecrets = new Set(), anonymousPerMinute: perMinute = ANONYMOUS_PER_MINUTE }: ServiceOptions,
) {
  return {
    access: {
      keyRing,
      demoSecrets,
      addresses: new AddressWindows(perMinute, clock),
      pageAddresses: new AddressWindows(PAGE_FILES_PER_ANONYMOUS_REQUEST * perMinute, clock),
    },
    trustedProxies: config.trustProxy,
    isTls: config.tlsCert !== undefined || config.baseUrl?.startsWith('https:') === true,
    corsOrigins: config.corsOrigins,
  }
}

/**
 * A device that opens the staff page for the first time loads up to 40 files, and all devices of a shop may share an address:
 * with the default, 75 of them may do so in the same minute.
 */
const PAGE_FILES_PER_ANONYMOUS_REQUEST = 10

/**
 * The base addresses in the contract. The production address defaults to the listening address, not to the Host header,
 * because callers can forge that header.
 */
function baseAddresses(config: Config, port: number) {
  const { baseUrl, stagingBaseUrl } = config
  const isProduction = environmentOf(config) === 'production'
  return {
    baseUrl: baseUrl ?? (isProduction ? `${serviceAddress(config, port)}/v1` : undefined),
    stagingBaseUrl,
  }
}

/** Read once per process, so that all pages come from the same build. */
let cachedPages: ReturnType<typeof loadWebPages> | undefined

function readWebPages(): ReturnType<typeof loadWebPages> {
  cachedPages ??= builtWebFiles().then(loadWebPages)
  return cachedPages
}

/** The staff page and the API docs, built by web/build.ts. The executable embeds them. */
async function builtWebFiles(): Promise<readonly WebFile[]> {
  const { FILES } = await import('../../../web/dist/pages.ts').catch((error: unknown) => {
    throw new Error('the staff page is not built; run "npm run build:web"', { cause: error })
  })
  return FILES.map(({ forms: { identity, br, gzip }, ...file }) => ({
    ...file,
    forms: {
      identity: Bun.file(identity),
      ...(br === undefined ? {} : { br: Bun.file(br) }),
      ...(gzip === undefined ? {} : { gzip: Bun.file(gzip) }),
    },
  }))
}

/** A copy that takes a second is normal while a large snapshot is copied. */
const LATE_BACKUP_MS = 5 * SECOND

/** A service whose backup fails goes on, because its callers need it. */
function backupWarnings({ backup }: Store): string[] {
  if (backup === undefined || backup.ageMs < LATE_BACKUP_MS) return []
  const seconds = Math.floor(backup.ageMs / SECOND)
  return [`the backup is ${seconds} s behind; the log of the service has the reason`]
}

/** Caches the result for one second; a failure for 100 ms. */
function cachedPing(ping: () => Promise<void>): () => Promise<void> {
  let cachedUntil = Number.NEGATIVE_INFINITY
  let result = Promise.resolve()
  return () => {
    if (performance.now() >= cachedUntil) {
      cachedUntil = performance.now() + PING_CACHED_MS
      result = ping()
      result.catch(() => {
        cachedUntil = performance.now() + PING_FAILURE_CACHED_MS
      })
    }
    return result
  }
}

async function readConfiguredTls({ tlsCert, tlsKey }: Config): Promise<Tls | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined
  return readTls(tlsCert, tlsKey, { cert: '--tls-cert', key: '--tls-key' })
}

function listenForMetrics(config: Config, app: Handler): Listener | undefined {
  if (config.metricsPort === 'off') return undefined
  return listen(app, {
    host: config.metricsHost,
    port: config.metricsPort,
    flags: { host: '--metrics-host', port: '--metrics-port' },
  })
}

function listenForRequests(
  config: Config,
  tls: Tls | undefined,
  { passedSocket, connectionLimits, listen: listenFor = listen }: ServiceOptions,
  app: Handler,
): Listener {
  return listenFor(app, {
    host: config.host,
    port: config.port,
    flags: { host: '--host', port: '--port' },
    ...(passedSocket === undefined ? {} : { fd: passedSocket }),
    ...(config.trustProxy > 0 ? { maxConnectionsPerAddress: MAX_CONNECTIONS_PER_PROXY } : {}),
    ...connectionLimits,
    ...(tls === undefined ? {} : { tls }),
  })
}
