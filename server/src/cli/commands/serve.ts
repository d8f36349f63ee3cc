import { type Command, type CommanderError, Option } from 'commander'
import { VERSION } from '../../core/values/version.ts'
import type { RunningService } from '../../service/compose.ts'
import { type Config, readConfig, SETTING_NAMES } from '../../service/config.ts'
import { DEMO_SECRETS, prepareDemo } from '../../service/demo.ts'
import { SettingError } from '../../service/setting-parsers.ts'
import { withoutPassword } from '../../store/database-url.ts'
import { canBeShared } from '../../store/open-store.ts'
import type { Store } from '../../store/store.ts'
import { addressesOf, banner } from '../banner.ts'
import { exposureText } from '../file-permissions.ts'
import { failureText } from '../output.ts'
import { READY, Supervisor, sharedPort } from '../supervisor.ts'
import { openConfigured, type SettingFlags, setting } from '../with-store.ts'

const DEMO_DATABASE = 'sqlite:data/demo.db'

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
    .option('--demo', `a demo store with one fixed key for each plan, in ${DEMO_DATABASE}`)
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

async function serve(flags: Flags): Promise<void> {
  // A terminal that is closed does not end the service.
  process.on('SIGHUP', () => {})
  const demo = flags.demo === true
  // The demo starts whatever else runs on the machine, a Prometheus on its own port 9090 included.
  const config = readConfig(
    demo ? { databaseUrl: DEMO_DATABASE, ...flags } : flags,
    undefined,
    demo ? { metricsPort: 'off' } : {},
  )
  if (flags.worker !== undefined) return serveAsWorker(config, Number(flags.worker), demo)
  const store = await openConfigured(config, { tables: 'make', exclusive: true })
  try {
    if (demo) await prepareDemo(store, Date.now())
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
  const service = await start(config, store, demo, false)
  process.on('SIGHUP', service.reloadTls)
  stopOnSignal(() => service.stop())
  announce(config, service, demo)
}

async function start(
  config: Config,
  store: Store,
  demo: boolean,
  sharesPort: boolean,
): Promise<RunningService> {
  try {
    const demoSecrets = new Set(demo ? Object.values(DEMO_SECRETS) : [])
    // Only now: the other commands start faster without what serves requests.
    const { startService } = await import('../../service/compose.ts')
    return await startService(config, store, { demoSecrets, sharesPort })
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
  const supervisor = new Supervisor((index) => [...given, '--port', String(port), '--worker', String(index)])
  process.on('SIGINT', () => supervisor.stop())
  process.on('SIGTERM', () => supervisor.stop())
  process.on('SIGHUP', () => supervisor.signal('SIGHUP'))
  const metricsPort = config.metricsPort === 'off' ? undefined : config.metricsPort
  const tell = () => {
    if (config.logFormat !== 'json') console.log(banner(config, { port, metricsPort }, demo))
  }
  process.exit(await supervisor.run(config.processes, tell))
}

async function serveAsWorker(config: Config, index: number, demo: boolean): Promise<void> {
  const store = await openConfigured(config, { tables: 'expect' })
  const service = await start({ ...config, metricsPort: metricsPortOf(config, index) }, store, demo, true)
  process.on('SIGHUP', service.reloadTls)
  const stop = stopOnSignal(() => service.stop())
  // Nobody is left who would stop us.
  process.on('disconnect', stop)
  if (config.logFormat === 'json') announce(config, service, demo)
  process.send?.(READY)
}

/** For people, unless JSON is asked for in so many words: then every line is JSON. */
function announce(config: Config, service: RunningService, demo: boolean): void {
  if (config.logFormat !== 'json') console.log(banner(config, service, demo))
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
