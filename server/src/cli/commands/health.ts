import type { Command } from 'commander'
import { type Config, readConfig } from '../../service/config.ts'
import { wholeNumber } from '../arguments.ts'
import { addressesOf } from '../banner.ts'
import { type SettingFlags, setting } from '../with-store.ts'

interface Flags extends SettingFlags {
  readonly wait: number
}

const ANSWER_WITHIN_MS = 5_000
const TRY_EVERY_MS = 200

/** For supervisors and containers, which have no curl. */
export function addHealthCommand(program: Command): void {
  program
    .command('health')
    .description('Ask the service on this machine whether it is ready; exit code 1 if it is not.')
    .option('--wait <seconds>', 'ask again for so long, until it is', wholeNumber('--wait'), 0)
    .addOption(setting('host'))
    .addOption(setting('port'))
    .action(checkHealth)
}

async function checkHealth({ wait, ...flags }: Flags): Promise<void> {
  const config = readConfig(flags)
  const deadline = performance.now() + wait * 1_000
  for (;;) {
    const trouble = await troubleOf(config)
    if (trouble === undefined) {
      console.log('ready')
      return
    }
    if (performance.now() >= deadline) throw new Error(`not ready: ${trouble}`)
    await Bun.sleep(TRY_EVERY_MS)
  }
}

/** Why it is not ready; `undefined` where it is. */
async function troubleOf(config: Config): Promise<string | undefined> {
  const { address } = addressesOf(config, { port: config.port, metricsPort: undefined })
  try {
    const answer = await fetch(`${address}/readyz`, {
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      // Its certificate names the machine as others know it, not the address that this one asks.
      tls: { rejectUnauthorized: false },
    })
    return answer.ok ? undefined : `${address}/readyz answered ${answer.status}: ${await answer.text()}`
  } catch (error) {
    return `${address} does not answer: ${error instanceof Error ? error.message : String(error)}`
  }
}
