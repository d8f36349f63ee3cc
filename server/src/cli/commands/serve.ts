import { type Command, type CommanderError, Option } from 'commander'
import { VERSION } from '../../core/values/version.ts'
import type { RunningService, ServiceOptions } from '../../service/compose.ts'
import { type Config, inDataFolder, readConfig, SETTING_NAMES, SettingError } from '../../service/config.ts'
import { DEMO_SECRETS, prepareDemo } from '../../service/demo.ts'
import { withoutPassword } from '../../store/database-url.ts'
import { canBeShared } from '../../store/open-store.ts'
import type { Store } from '../../store/store.ts'
import { Logger } from '../../telemetry/logger.ts'
import { addressesOf, banner, type Start } from '../banner.ts'
import { exposureText } from '../file-permissions.ts'
import { failureText } from '../output.ts'
import { passedSocket } from '../passed-socket.ts'
import { READY, Supervisor, sharedPort } from '../supervisor.ts'
import { isMissingFile, openConfigured, type SettingFlags, setting } from '../with-store.ts'

const DEMO_FILE = 'demo.db'

/** A Ctrl-C reaches us twice under `npm start`: from the terminal, and passed on by npm. */
const ECHO_MS = 100

interface Flags extends SettingFlags {
  readonly demo?: true
  readonly worker?: string
}

export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .description('Start the service. Each setting is a flag or an environment variable; the flag wins.')
    .option('--demo', `a demo store with one fixed key for each plan, in ${DEMO_FILE} of the data folder`)
    .addOption(new Option('--worker <index>', 'which of several processes this is').hideHelp())
    .exitOverride(unknownSettingIsNoUsage)
    .action(serve)
  for (const name of SETTING_NAMES) command.addOption(setting(name))
}

/** A setting that does not exist is refused like one that has a wrong value, with exit code 1. */
function unknownSettingIsNoUsage(error: CommanderError): never {
  if (error.code !== 'commander.unknownOption') throw error
  throw new SettingError(`${error.message.replace(/^error: /, '')}; petstore serve --help lists all settings`)
}

/** A database of its own, whatever DATABASE_URL says; and it starts whatever else runs on the machine. */
function readDemoConfig({ data, ...flags }: Flags): Config {
  if (data !== undefined && flags.databaseUrl !== undefined) return readConfig({ data, ...flags })
  const databaseUrl = inDataFolder(DEMO_FILE, data === undefined ? {} : { data })
  return readConfig({ databaseUrl, ...flags }, undefined, { metricsPort: 'off' })
}

async function serve(flags: Flags): Promise<void> {
  // A terminal that is closed does not end the service.
  process.on('SIGHUP', () => {})
  const demo = flags.demo === true
  const config = demo ? readDemoConfig(flags) : readConfig(flags)
  const passed = passedSocket()
  if (passed !== undefined && config.processes > 1) {
    throw new SettingError(
      'a socket that systemd passes is for one process: leave out --processes (PROCESSES)',
    )
  }
  if (flags.worker !== undefined) return serveAsWorker(config, Number(flags.worker), demo)
  const isNew = isMissingFile(config)
  const flushFailure = Promise.withResolvers<Error>()
  const store = await openConfigured(config, {
    tables: 'make',
    exclusive: true,
    onFlushFailure: flushFailure.resolve,
  })
  try {
    if (demo) await prepareDemo(store, store.clock())
    if (config.processes > 1 && canBeShared(config.databaseUrl)) {
      await store.close()
      return await serveFromMany(config, demo)
    }
  } catch (error) {
    await store.close()
    throw error
  }
  const exposure = exposureText(config.databaseUrl.replace(/^sqlite:/, ''))
  if (exposure !== undefined) console.error(`petstore: ${exposure.text}; ${exposure.advice}`)
  if (config.processes > 1) {
    console.error(
      'petstore: serving from one process: a SQLite file has one writer, and limits are counted in its memory; with DATABASE_URL=postgres://… any number of processes serve',
    )
  }
  const service = await start(config, store, demo, passed === undefined ? {} : { passedSocket: passed })
  process.on('SIGHUP', service.reloadTls)
  stopOnSignal(() => service.stop())
  void flushFailure.promise.then((error) => endAfterFlushFailure(service, error))
  announce(config, service, { demo, isNew })
}

/** Only a new start can find out what is on the disk. The supervisor of the process starts it again. */
async function endAfterFlushFailure(service: RunningService, error: Error): Promise<void> {
  service.logger.failure({ requestId: 'flush', error })
  console.error(
    `petstore: the disk failed to save changes, so the service ends; start it again once the disk works: ${error.message}`,
  )
  // Writes of the shutdown fail for the reason that was just reported.
  await service.stop().catch(() => {})
  process.exit(1)
}

async function start(
  config: Config,
  store: Store,
  demo: boolean,
  listening: Pick<ServiceOptions, 'sharesPort' | 'passedSocket'>,
): Promise<RunningService> {
  try {
    const demoSecrets = new Set(demo ? Object.values(DEMO_SECRETS) : [])
    // Only now: the other commands start faster without what serves requests.
    const { startService } = await import('../../service/compose.ts')
    return await startService(config, store, { demoSecrets, ...listening })
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Each process has metrics of its own, on the port next to that of the one before. */
function metricsPortOf({ metricsPort }: Config, index: number): number | 'off' {
  return metricsPort === 'off' || metricsPort === 0 ? metricsPort : metricsPort + index
}

async function serveFromMany(config: Config, demo: boolean): Promise<void> {
  const port = sharedPort(config)
  const given = process.argv.slice(2)
  const supervisor = new Supervisor(new Logger(config), (index) => [
    ...given,
    '--port',
    String(port),
    '--worker',
    String(index),
  ])
  process.on('SIGINT', () => supervisor.stop())
  process.on('SIGTERM', () => supervisor.stop())
  process.on('SIGHUP', () => supervisor.signal('SIGHUP'))
  const metricsPort = config.metricsPort === 'off' ? undefined : config.metricsPort
  const tell = () => {
    if (config.logFormat !== 'json')
      console.log(banner(config, { port, metricsPort }, { demo, isNew: false }))
  }
  process.exit(await supervisor.run(config.processes, tell))
}

async function serveAsWorker(config: Config, index: number, demo: boolean): Promise<void> {
  const store = await openConfigured(config, { tables: 'expect' })
  const service = await start({ ...config, metricsPort: metricsPortOf(config, index) }, store, demo, {
    sharesPort: true,
  })
  process.on('SIGHUP', service.reloadTls)
  const stop = stopOnSignal(() => service.stop())
  // Nobody is left who would stop us.
  process.on('disconnect', stop)
  if (config.logFormat === 'json') announce(config, service, { demo, isNew: false })
  process.send?.(READY)
}

/** For people, unless JSON is asked for in so many words: then every line is JSON. */
function announce(config: Config, service: RunningService, begun: Start): void {
  if (config.logFormat !== 'json') console.log(banner(config, service, begun))
  else {
    const database = withoutPassword(config.databaseUrl)
    service.logger.info('listening', { ...addressesOf(config, service), version: VERSION, database })
  }
}

/** The first signal lets the requests under way finish; a second one ends them. */
function stopOnSignal(end: () => Promise<void>): () => void {
  let stoppingSince: number | undefined
  const stop = () => {
    if (stoppingSince !== undefined) {
      if (performance.now() - stoppingSince > ECHO_MS) process.exit(1)
      return
    }
    stoppingSince = performance.now()
    end().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(`petstore: could not stop cleanly: ${failureText(error)}`)
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return stop
}
