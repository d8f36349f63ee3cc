import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const SERVER_CORE = '0'
export const LOAD_CORE = '1'
export const BOTH_CORES = '0,1'
const READY_WITHIN_MS = 60_000
const STOP_WITHIN_MS = 3_000
const COMMAND_WITHIN_MS = 180_000

export interface ServerProcess {
  readonly url: string
  /** SIGSTOP, while another target is measured. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

const running = new Set<{ kill(signal: NodeJS.Signals): void }>()

/** SIGKILL also ends paused processes. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** Pins a command to cores. The kernel kills it when this process ends. */
export function pinned(cores: string): string[] {
  return ['setpriv', '--pdeathsig', 'KILL', 'taskset', '-c', cores]
}

export interface ServerOptions {
  readonly port: number
  /** The folder of its log. */
  readonly folder: string
  readonly readyPath: string
  readonly environment?: Readonly<Record<string, string>>
  readonly cores: string
}

/** Starts a server and waits until it is ready. */
export async function startServer(
  name: string,
  command: readonly string[],
  options: ServerOptions,
): Promise<ServerProcess> {
  const log = join(options.folder, `${name}.log`)
  const started = performance.now()
  const child = Bun.spawn([...pinned(options.cores), ...command], {
    cwd: import.meta.dir,
    env: { ...environment(), ...options.environment },
    stdin: 'ignore',
    stdout: Bun.file(log),
    stderr: Bun.file(`${log}.err`),
  })
  running.add(child)
  const url = `http://127.0.0.1:${options.port}`
  while (!(await isReady(url + options.readyPath))) {
    const isLate = performance.now() - started > READY_WITHIN_MS
    if (child.exitCode === null && !isLate) {
      await Bun.sleep(5)
      continue
    }
    child.kill('SIGKILL')
    const reason = isLate ? `not ready within ${READY_WITHIN_MS / 1000} s` : `exited with ${child.exitCode}`
    throw new Error(`${name} ${reason}: ${readFileSync(`${log}.err`, 'utf8').slice(-2_000)}`)
  }
  return {
    url,
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    stop: async () => {
      child.kill('SIGCONT')
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS)
      await child.exited
      clearTimeout(killer)
      running.delete(child)
    },
  }
}

/** Any response but 503. */
async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { keepalive: false, signal: AbortSignal.timeout(READY_WITHIN_MS) })
    await response.body?.cancel()
    return response.status !== 503
  } catch {
    return false
  }
}

/** Starts the instances one after the other: the first one may have to create tables. */
export async function startInstances(
  name: string,
  count: number,
  start: (name: string) => Promise<ServerProcess>,
): Promise<ServerProcess[]> {
  const instances: ServerProcess[] = []
  while (instances.length < count) instances.push(await start(`${name}-${instances.length + 1}`))
  return instances
}

/** Runs a command and returns its standard output. */
export async function run(
  command: readonly string[],
  cwd: string,
  withinMs = COMMAND_WITHIN_MS,
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd,
    env: environment(),
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: withinMs,
    killSignal: 'SIGKILL',
  })
  running.add(child)
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  running.delete(child)
  if (exitCode === 0) return output
  throw new Error(`${command.join(' ')} exited with ${exitCode}: ${(errors || output).slice(-2_000)}`)
}

/** `petstore` is run by the `bun` of node_modules. */
function environment(): Record<string, string | undefined> {
  const tools = join(import.meta.dir, '..', 'node_modules', '.bin')
  return { ...Bun.env, PATH: `${tools}:${Bun.env.PATH ?? ''}` }
}
