import type { Command, CommanderError } from 'commander'
import { openStore, type RunningService, startService } from '../../compose.ts'
import {
  type Config,
  flagOf,
  readConfig,
  SETTING_NAMES,
  SETTINGS,
  SettingError,
  type SettingName,
} from '../../config.ts'
import { DEMO_SECRETS, prepareDemo } from '../../demo.ts'
import { banner } from '../banner.ts'

const DEMO_DATABASE = 'sqlite:data/demo.db'

type Flags = Partial<Record<SettingName, string>> & { demo?: true }

export function addServeCommand(program: Command): void {
  const command = program
    .command('serve')
    .description('Start the service. Each setting is a flag or an environment variable; the flag wins.')
    .option('--demo', `a demo store with one fixed key for each plan, in ${DEMO_DATABASE}`)
    .exitOverride(unknownSettingIsNoUsage)
    .action(serve)
  for (const name of SETTING_NAMES) {
    const { variable, fallback, help } = SETTINGS[name]
    command.option(`${flagOf(name)} <value>`, `${help} (${variable}, default ${fallback})`)
  }
}

/** A setting that does not exist is refused like one that has a wrong value, with exit code 1. */
function unknownSettingIsNoUsage(error: CommanderError): never {
  if (error.code !== 'commander.unknownOption') throw error
  throw new SettingError(`${error.message.replace(/^error: /, '')}; petstore serve --help lists all settings`)
}

async function serve(flags: Flags): Promise<void> {
  const demo = flags.demo === true
  const config = readConfig(demo ? { databaseUrl: DEMO_DATABASE, ...flags } : flags)
  const store = openStore(config.databaseUrl)
  let service: RunningService
  try {
    if (demo) await prepareDemo(store, Date.now())
    service = await startService(config, store, {
      demoSecrets: new Set(demo ? Object.values(DEMO_SECRETS) : []),
    })
  } catch (error) {
    await store.close()
    throw error
  }
  console.log(banner(addressOf(config, service), config.databaseUrl, demo))
  stopOnSignal(service)
}

function addressOf({ host }: Config, { port }: RunningService): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

function stopOnSignal(service: RunningService): void {
  const stop = () => {
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(`petstore: could not stop cleanly: ${String(error)}`)
        process.exit(1)
      },
    )
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}
