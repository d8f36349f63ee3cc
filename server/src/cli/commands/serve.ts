import type { CommanderError } from 'commander'
import { PLANS } from '../../core/keys/api-key.ts'
import { VERSION } from '../../core/values/version.ts'
import type { RunningService } from '../../service/compose.ts'
import {
  type Config,
  isLoopback,
  reachableAddress,
  readConfig,
  SETTING_NAMES,
  SettingError,
  serviceAddress,
} from '../../service/config.ts'
import { DEMO_LIMITS, DEMO_SECRETS, prepareDemo } from '../../service/demo.ts'
import { withoutPassword } from '../../store/opening.ts'
import type { Store } from '../../store/store.ts'
import type { Logger } from '../../telemetry/logger.ts'
import type { PetstoreCommand, SettingFlags } from '../arguments.ts'
import { describeExposedFiles } from '../files.ts'
import { failureText, formatNumber, quoteForShell } from '../terminal.ts'
import { databaseName, isDatabaseFileMissing, openConfiguredStore } from '../with-store.ts'

const DEMO_FILE = 'data/demo.db'

/** Under `npm start`, Ctrl-C sends two signals: one from the terminal and one from npm. They count as one. */
const REPEATED_SIGNAL_MS = 100

interface Flags extends SettingFlags {
  readonly demo?: true
}

export function addServeCommand(program: PetstoreCommand): void {
  program
    .command('serve')
    .description(
      'Start the service. Each setting is a flag or an environment variable; the flag has precedence.',
    )
    .option('--demo', `use a demo store, ${DEMO_FILE}, with a fixed key for each plan`)
    .exitOverride(toSettingError)
    .action(serve)
    .settings(...SETTING_NAMES)
}

/** Makes an unknown setting fail with the same exit code as a setting with a wrong value. */
function toSettingError(error: CommanderError): never {
  if (error.code !== 'commander.unknownOption') throw error
  throw new SettingError(`${error.message.replace(/^error: /, '')}; petstore serve --help lists all settings`)
}

/** The demo ignores DATABASE_URL. By default it has no metrics port, because another service may be using that port. */
function readDemoConfig(flags: Flags): Config {
  const databaseUrl = `sqlite:${DEMO_FILE}`
  const config = readConfig({ databaseUrl, ...flags }, undefined, { metricsPort: 'off' })
  if (!isLoopback(config.host)) {
    throw new SettingError(
      `the demo has publicly known keys, so it listens only on this machine, not on ${config.host}: remove --host (HOST), or start without --demo`,
    )
  }
  return config
}

async function serve(flags: Flags): Promise<void> {
  const isDemo = flags.demo === true
  const config = isDemo ? readDemoConfig(flags) : readConfig(flags)
  const passedSocket = findPassedSocket()
  const isNew = isDatabaseFileMissing(config)
  const storeFlags = storeFlagsOf(flags)
  let facts: StoreFacts
  const flushFailure = Promise.withResolvers<Error>()
  let logger: Logger | undefined
  const store = await openConfiguredStore(config, {
    tables: 'migrate',
    exclusive: true,
    backupFolder: config.backupTo,
    minFreeBytes: config.minFreeDiskMebibytes * 1024 * 1024,
    onFlushFailure: flushFailure.resolve,
    onFileLost: (loss) => {
      if (logger === undefined) console.error(`petstore: ${loss.message}`)
      else logger.failure('database', loss)
    },
  })
  try {
    if (isDemo) await prepareDemo(store, store.clock())
    const hasKeys = (await store.listKeyPage(1, undefined)).length > 0
    facts = { isDemo, isNew, hasKeys, storeFlags }
  } catch (error) {
    await store.close()
    throw error
  }
  const exposure = describeExposedFiles(config.databaseUrl.replace(/^sqlite:/, ''))
  if (exposure !== undefined) console.error(`petstore: ${exposure.text}; ${exposure.advice}`)
  const service = await start(config, store, isDemo, passedSocket)
  logger = service.logger
  stopOnSignal(() => service.stop())
  void flushFailure.promise.then((error) => endAfterFlushFailure(service, error))
  // Without a terminal, every line of output is JSON.
  if (process.stdout.isTTY) console.log(banner(config, service, facts))
  else announceInLog(config, service)
}

/** The first file descriptor after standard input, output and error: sd_listen_fds(3). */
const PASSED_SOCKET_FD = 3

/** The file descriptor of the listening socket that systemd passes. During a restart, new connections wait in this socket. */
export function findPassedSocket(
  environment: Readonly<Record<string, string | undefined>> = Bun.env,
): number | undefined {
  const { LISTEN_PID, LISTEN_FDS } = environment
  if (LISTEN_FDS === undefined || LISTEN_PID !== String(process.pid)) return undefined
  if (LISTEN_FDS === '1') return PASSED_SOCKET_FD
  throw new Error(
    `systemd passes ${LISTEN_FDS} sockets, but the service needs one: keep a single ListenStream in its socket unit`,
  )
}

/** Ends the process, because only a new process can find out which data is on the disk. systemd restarts the service. */
async function endAfterFlushFailure(service: RunningService, error: Error): Promise<void> {
  service.logger.failure('flush', error)
  console.error(
    `petstore: the disk failed to save changes, so the service ends; start it again when the disk works: ${error.message}`,
  )
  // The shutdown writes too, and fails for the same reason.
  await service.stop().catch(() => {})
  process.exit(1)
}

async function start(
  config: Config,
  store: Store,
  isDemo: boolean,
  passedSocket: number | undefined,
): Promise<RunningService> {
  try {
    const demoSecrets = new Set(isDemo ? Object.values(DEMO_SECRETS) : [])
    // Imported here, so that the other commands start faster.
    const { startService } = await import('../../service/compose.ts')
    return await startService(config, store, { demoSecrets, passedSocket })
  } catch (error) {
    throw withNpmCommand(error)
  }
}

/** npm passes on only the flags after `--`. */
function withNpmCommand(error: unknown): unknown {
  const isNpmStart = Bun.env.npm_lifecycle_event === 'start'
  if (!isNpmStart || !(error instanceof Error) || !error.message.includes('--port')) return error
  return new Error(`${error.message}; under npm: npm start -- --port 8081`, { cause: error })
}

/** The first signal stops the service after its pending requests; a second signal ends the process at once. */
function stopOnSignal(stopService: () => Promise<void>): void {
  let stoppingSince: number | undefined
  const stop = () => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > REPEATED_SIGNAL_MS) process.exit(1)
      return
    }
    stoppingSince = performance.now()
    stopService().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(`petstore: could not stop cleanly: ${failureText(error)}`)
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  // Without a handler, closing the terminal would end the service.
  process.on('SIGHUP', () => {})
}

function metricsAddress(config: Config, { metricsPort }: RunningService): string | undefined {
  if (metricsPort === undefined) return undefined
  return `${reachableAddress('http', config.metricsHost, metricsPort)}/metrics`
}

interface StoreFacts {
  readonly isDemo: boolean
  readonly isNew: boolean
  readonly hasKeys: boolean
  readonly storeFlags: string
}

/** Flags with which another petstore command opens the same store. Empty for a PostgreSQL URL, which may contain a password. */
function storeFlagsOf({ databaseUrl }: Flags): string {
  return databaseUrl?.startsWith('sqlite:') ? ` --database-url ${quoteForShell(databaseUrl)}` : ''
}

function announceInLog(config: Config, service: RunningService): void {
  service.logger.info('listening', {
    address: serviceAddress(config, service.port),
    metrics: metricsAddress(config, service),
    version: VERSION,
    database: withoutPassword(config.databaseUrl),
  })
}

function banner(
  config: Config,
  service: RunningService,
  { isDemo, isNew, hasKeys, storeFlags }: StoreFacts,
): string {
  const address = serviceAddress(config, service.port)
  const metrics = metricsAddress(config, service)
  const lines = [
    '',
    `  Petstore Inventory is running${isDemo ? ' with the demo store' : ''}.`,
    '',
    `  Staff page  ${address}/`,
    `  API docs    ${address}/docs`,
    `  API         ${address}/v1`,
    `  Contract    ${address}/openapi.json`,
    ...(metrics === undefined ? [] : [`  Metrics     ${metrics}`]),
    `  Data        ${databaseName(config)}${isNew ? ' (new)' : ''}`,
    '',
  ]
  if (!isDemo && !hasKeys) {
    lines.push(
      '  Create the key of the owner, who adds everybody else on the staff page:',
      `  petstore keys create --name "Owner" --owner --plan business${storeFlags}`,
      '',
    )
  }
  if (!isDemo) return lines.join('\n')
  const row = (key: string, perMinute: string, perDay: string) =>
    `  ${key.padEnd(22)}${perMinute.padStart(10)}${perDay.padStart(16)}`
  lines.push(row('Key', 'a minute', 'a day'))
  for (const plan of PLANS) {
    const { perMinute, perDay } = DEMO_LIMITS[plan]
    lines.push(row(DEMO_SECRETS[plan], formatNumber(perMinute), formatNumber(perDay)))
  }
  lines.push(
    '',
    `  Sign in to the staff page with ${DEMO_SECRETS.enterprise}, or try the API:`,
    `  curl -H "Authorization: Bearer ${DEMO_SECRETS.free}" ${address}/v1/inventory`,
    '',
    '  Ctrl-C stops the service; the data is kept.',
    '',
  )
  return lines.join('\n')
}
