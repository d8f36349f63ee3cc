import { type Handler, type Listener, listen, readTls, type Tls } from '@petstore/wire'
import { KeyRing } from '../core/keys/key-ring.ts'
import { KeyQueue } from '../core/limits/key-queue.ts'
import { AddressWindows } from '../core/limits/rate-windows.ts'
import { EventHub } from '../core/stock/event-hub.ts'
import { GroupCommit } from '../core/stock/group-commit.ts'
import { REMEMBERED_MS } from '../core/stock/idempotency.ts'
import { STORE_KEY_ID } from '../core/stock/stock-request.ts'
import { LiveView } from '../core/stock/view/live-view.ts'
import { type Clock, SECOND } from '../core/values/clock.ts'
import { ServiceError } from '../core/values/errors.ts'
import { WebhookWorker } from '../core/webhooks/webhook-worker.ts'
import type { Lookup } from '../delivery/addresses.ts'
import { HttpSender } from '../delivery/http-sender.ts'
import { messageOf, sampleMessage } from '../delivery/message.ts'
import { createApp } from '../http/app.ts'
import { buildContract } from '../http/contract.ts'
import { EventStreams } from '../http/event-streams.ts'
import { type WebFile, webPages } from '../http/public-pages.ts'
import type { Store } from '../store/store.ts'
import type { Sink } from '../telemetry/line-writer.ts'
import type { Logger } from '../telemetry/logger.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { createScrapeApp } from '../telemetry/scrape.ts'
import type { Config } from './config.ts'
import { openLogger } from './open-logger.ts'
import { reachableAddress } from './reachable-address.ts'

/** A killed process forgets at most this much of what was counted against limits, and nothing else. */
const SAVE_LIMITS_EVERY_MS = 50
/** So that a ban that an operator lifts ends within a second. */
const HEED_LIFTED_BANS_EVERY_MS = 500
/** Answers that were remembered for long enough go in small commits, between which updates get a turn. */
const FORGET_ANSWERS_EVERY_MS = 60_000
const FORGOTTEN_AT_ONCE = 500
const FORGETTING_PAUSE_MS = 5

/** A hold that is over reserves nothing from then on; that it has expired is written down and told within so long. */
const SWEEP_HOLDS_EVERY_MS = 1_000
/** Pets whose holds are ended in one commit; between these, orders get a turn. */
const SWEPT_AT_ONCE = 200
const SWEEPING_PAUSE_MS = 5

/** Loading fewer pets takes no longer than starting the worker that searches. */
const MIN_PETS_TO_PREPARE_SEARCH = 10_000
/** Also those that were replaced without a word. */
const READ_CERTIFICATES_EVERY_MS = 1_000
/** That the database is in trouble is told for so long without asking it again. */
const TROUBLE_KEPT_MS = 100
const MEBIBYTE = 1024 * 1024

export interface RunningService {
  readonly port: number
  /** `undefined` where metrics are off. */
  readonly metricsPort: number | undefined
  readonly logger: Logger
  /** Reads the certificate and its key anew; the old ones go on where these cannot be used. */
  reloadTls(): void
  /** Answers what is under way, saves, and closes the store. */
  stop(): Promise<void>
}

export interface ServiceOptions {
  /** For tests, instead of the store's clock. */
  readonly clock?: Clock
  readonly demoSecrets?: ReadonlySet<string>
  /** Standard output by default. */
  readonly logSink?: Sink
  /** Whether other processes serve on the same port. */
  readonly sharesPort?: boolean
  /** How names are looked up that webhooks are sent to; by the system where nothing is given. */
  readonly lookup?: Lookup
  /** How long a parallel burst may take to arrive. Tests without parallel requests set 0. */
  readonly burstMs?: number
  /** A socket that listens already, on the port of the settings. */
  readonly passedSocket?: number
}

/** Wires everything up and listens. The store is the caller's until this resolves, then the service's. */
export async function startService(
  config: Config,
  store: Store,
  options: ServiceOptions = {},
): Promise<RunningService> {
  const { clock = store.clock, demoSecrets = new Set(), logSink } = options
  // Lines are compared with those of other programs on this machine.
  const logger = openLogger(config, logSink, options.clock)
  const metrics = new Metrics()
  for (const text of await store.findWrongSettings()) logger.warn(text)
  let isStopping = false
  const limits = await store.openLimits(clock, options.burstMs)
  const keys = await KeyRing.open(store, clock)
  const hub = new EventHub(store, (error) => logger.failure({ requestId: 'event-hub', error }))
  const streams = new EventStreams({ hub, keys, clock, heartbeatMs: config.eventsHeartbeatSeconds * SECOND })
  const view = await LiveView.open(store)
  // What loading a large stock has left behind would stay for long.
  Bun.gc(true)
  const allowsPrivate = config.webhookPrivateAddresses === 'on'
  const sender = new HttpSender({ allowsPrivate, clock, lookup: options.lookup })
  const deliveries = new WebhookWorker({
    ...{ store, sender, messageOf, clock, observers: [metrics, logger] },
    pausesMs: config.webhookRetrySeconds.map((seconds) => seconds * SECOND),
    onFailure: (error) => logger.failure({ requestId: 'webhooks', error }),
  })
  const commits = new GroupCommit({ store, limits, observers: [metrics, hub, deliveries] })
  const ping = onceASecond(() => store.ping())
  const app = createApp({
    gate: {
      keys,
      limits,
      clock,
      demoSecrets,
      addresses: new AddressWindows(config.anonymousPerMinute, clock),
    },
    services: {
      store,
      clock,
      view,
      commits,
      streams,
      limits,
      longReads: new KeyQueue(),
      webhooks: { sender, sampleOf: sampleMessage },
    },
    webPages: await readWebPages(),
    contract: () => buildContract({ ...baseAddresses(config, listener.port), sunset: config.petSunset }),
    sunset: config.petSunset,
    trustedProxies: config.trustProxy,
    isTls: config.tlsCert !== undefined,
    corsOrigins: config.corsOrigins,
    checkReady: async () => {
      if (isStopping) throw new ServiceError('service_unavailable', 'the service is stopping')
      await ping()
    },
    observers: [metrics, logger],
  })
  let tls = await tlsOf(config)
  const [listener, scrapes] = await openListeners(config, tls, options, app, (load) =>
    createScrapeApp({ metrics, store, clock, load }),
  )
  deliveries.start()
  if (view.count >= MIN_PETS_TO_PREPARE_SEARCH) {
    // A search that comes meanwhile waits for it, and reports what goes wrong.
    store.prepareSearch().catch(() => {})
  }
  const every = (interval: number, name: string, work: () => Promise<void>) => {
    let isFailing = false
    const succeeded = () => {
      isFailing = false
    }
    // Told once and not each time, until it has worked again.
    const failed = (error: unknown) => {
      if (!isFailing) logger.failure({ requestId: name, error })
      isFailing = true
    }
    const run = () => void work().then(succeeded, failed)
    const timer = setInterval(run, interval)
    return { run, stop: () => clearInterval(timer) }
  }
  const saving = every(SAVE_LIMITS_EVERY_MS, 'limit-ledger', () => limits.save())
  const pardoning = every(HEED_LIFTED_BANS_EVERY_MS, 'limit-ledger', () => limits.applyLiftedBans())
  const certifying = every(READ_CERTIFICATES_EVERY_MS, 'certificate', async () => {
    const latest = await tlsOf(config)
    if (latest === undefined || (latest.cert === tls?.cert && latest.key === tls.key)) return
    listener.setTls(latest)
    tls = latest
    logger.info('new certificate in use')
  })
  const forgetting = every(FORGET_ANSWERS_EVERY_MS, 'idempotency', async () => {
    const before = clock() - REMEMBERED_MS
    while (!isStopping && (await store.forgetAnswers(before, FORGOTTEN_AT_ONCE)) === FORGOTTEN_AT_ONCE)
      await Bun.sleep(FORGETTING_PAUSE_MS)
  })

  const sweep = async () => {
    while (!isStopping) {
      const holdsOf = await store.petsWithHoldsOver(SWEPT_AT_ONCE)
      if (holdsOf.length === 0) return
      await commits.change({ holdsOf, keyId: STORE_KEY_ID, at: clock() }, () => {})
      await Bun.sleep(SWEEPING_PAUSE_MS)
    }
  }
  // One that takes longer than until the next goes on alone.
  let sweepUnderWay: Promise<void> | undefined
  const sweeping = every(SWEEP_HOLDS_EVERY_MS, 'holds', () => {
    sweepUnderWay ??= sweep().finally(() => {
      sweepUnderWay = undefined
    })
    return sweepUnderWay
  })

  return {
    port: listener.port,
    metricsPort: scrapes?.port,
    logger,
    reloadTls: certifying.run,
    stop: async () => {
      isStopping = true
      logger.info('stopping')
      await Bun.sleep(config.stopDelaySeconds * SECOND)
      streams.close()
      // One grace time for both: a supervisor has no patience for two.
      const grace = config.stopGraceSeconds * SECOND
      await Promise.all([listener.stop(grace), Promise.race([deliveries.stop(), Bun.sleep(grace)])])
      for (const task of [saving, pardoning, certifying, forgetting, sweeping]) task.stop()
      try {
        await limits.save()
      } finally {
        await store.close()
        await scrapes?.stop(0)
        logger.info('stopped')
        await logger.flush()
      }
    },
  }
}

/** As set; where that of this environment is not, it is where we listen. What callers call us is not asked: they may lie. */
function baseAddresses(config: Config, port: number) {
  const { baseUrl, stagingBaseUrl, environment, tlsCert, host } = config
  const own = `${reachableAddress(tlsCert === undefined ? 'http' : 'https', host, port)}/v1`
  return {
    baseUrl: baseUrl ?? (environment === 'production' ? own : undefined),
    stagingBaseUrl: stagingBaseUrl ?? (environment === 'staging' ? own : undefined),
  }
}

/** Read once for the whole process: a build that comes meanwhile is for the next one. */
let pagesOfProcess: ReturnType<typeof webPages> | undefined

function readWebPages(): ReturnType<typeof webPages> {
  pagesOfProcess ??= builtWebFiles().then(webPages)
  return pagesOfProcess
}

/** The staff page and the API docs, as web/build.ts made them; in the executable they are part of it. */
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

/**
 * Whoever asks how often: within a second, all get the same answer. One that tells of trouble is over sooner, so that those
 * who wait for its end hear of it.
 */
function onceASecond(ask: () => Promise<void>): () => Promise<void> {
  let asksAgainAt = Number.NEGATIVE_INFINITY
  let answer = Promise.resolve()
  return () => {
    if (performance.now() >= asksAgainAt) {
      asksAgainAt = performance.now() + SECOND
      answer = ask()
      answer.catch(() => {
        asksAgainAt = performance.now() + TROUBLE_KEPT_MS
      })
    }
    return answer
  }
}

async function tlsOf({ tlsCert, tlsKey }: Config): Promise<Tls | undefined> {
  if (tlsCert === undefined || tlsKey === undefined) return undefined
  return readTls(tlsCert, tlsKey, { cert: '--tls-cert', key: '--tls-key' })
}

/** Listens for callers and, where metrics are on, for those who scrape them. */
async function openListeners(
  config: Config,
  tls: Tls | undefined,
  { sharesPort = false, passedSocket }: ServiceOptions,
  app: Handler,
  scrapeApp: (load: Listener['load']) => Handler,
): Promise<[Listener, Listener | undefined]> {
  const { host, port, metricsHost, metricsPort } = config
  const { firstByteTimeoutSeconds, keepAliveSeconds, requestTimeoutSeconds } = config
  const listener = listen(app, {
    host,
    port,
    flags: { host: '--host', port: '--port' },
    isShared: sharesPort,
    ...(passedSocket === undefined ? {} : { fd: passedSocket }),
    firstByteTimeoutSeconds,
    keepAliveSeconds,
    requestTimeoutSeconds,
    maxConnectionsPerAddress: config.maxConnectionsPerAddress,
    maxUnsentBytes: config.maxUnsentMebibytes * MEBIBYTE,
    ...(tls === undefined ? {} : { tls }),
  })
  if (metricsPort === 'off') return [listener, undefined]
  try {
    const scrapes = listen(
      scrapeApp(() => listener.load()),
      { host: metricsHost, port: metricsPort, flags: { host: '--metrics-host', port: '--metrics-port' } },
    )
    return [listener, scrapes]
  } catch (error) {
    await listener.stop(0)
    throw error
  }
}
