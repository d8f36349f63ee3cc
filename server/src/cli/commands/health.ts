import { WITHOUT_PROXY } from '../../delivery/http-sender.ts'
import { type Config, readConfig, serviceAddress } from '../../service/config.ts'
import { type PetstoreCommand, type SettingFlags, wholeNumberParser } from '../arguments.ts'

const RESPONSE_TIMEOUT_MS = 5_000
const RETRY_EVERY_MS = 200

/** For service managers such as systemd, and for containers without curl. */
export function addHealthCommand(program: PetstoreCommand): void {
  program
    .command('health')
    .description('Check whether the service on this machine is ready. If it is not, the exit code is 1.')
    .option('--wait <seconds>', 'retry for this long', wholeNumberParser('--wait'), 0)
    .settings('host', 'port')
    .action(checkHealth)
}

async function checkHealth({ wait, ...flags }: SettingFlags & { readonly wait: number }): Promise<void> {
  const config = readConfig(flags)
  const deadline = performance.now() + wait * 1_000
  for (;;) {
    const problem = await findProblem(config)
    if (problem === undefined) {
      console.log('ready')
      return
    }
    if (performance.now() >= deadline) throw new Error(`not ready: ${problem}`)
    await Bun.sleep(RETRY_EVERY_MS)
  }
}

async function findProblem(config: Config): Promise<string | undefined> {
  const address = serviceAddress(config, config.port)
  try {
    const response = await fetch(`${address}/readyz`, {
      ...WITHOUT_PROXY,
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
      // The certificate is for the public name of the machine, not for this address.
      tls: { rejectUnauthorized: false },
    })
    if (response.ok) return undefined
    return `${address}/readyz answered ${response.status}: ${await response.text()}`
  } catch (error) {
    const isTimeout = error instanceof Error && error.name === 'TimeoutError'
    return isTimeout
      ? `${address} did not answer within ${RESPONSE_TIMEOUT_MS / 1_000} s; see the log of the service`
      : `nothing answers at ${address}; start the service with petstore serve, or name its port with --port`
  }
}
