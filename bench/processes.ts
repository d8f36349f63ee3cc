import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

export const SERVER_CORE = '0'
export const LOAD_CORE = '1'
export const BOTH_CORES = '0,1'
const READY_WITHIN_MS = 60_000
const STOP_WITHIN_MS = 3_000
const COMMAND_WITHIN_MS = 180_000

export interface ServerProcess {
  readonly pid: number
  readonly url: string
  /** From the start of the process to its first answer. */
  readonly readyMs: number
  /** Takes it off the processor while another is measured. */
  pause(): void
  resume(): void
  stop(): Promise<void>
}

const running = new Set<{ kill(signal: NodeJS.Signals): void }>()

/** Ends whatever is left, also a paused one: SIGKILL needs no SIGCONT. */
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}

/** On these cores, and gone as soon as this process is, however that ends: no run leaves anything behind. */
export function pinned(cores: string): string[] {
  return ['setpriv', '--pdeathsig', 'KILL', 'taskset', '-c', cores]
}

export interface ServerOptions {
  readonly port: number
  /** For its log. */
  readonly folder: string
  readonly readyPath: string
  readonly environment?: Readonly<Record<string, string>>
  /** The one core of servers where nothing else is said. */
  readonly cores?: string
}

/** Starts a server pinned to its core, and waits for its first answer. */
export async function startServer(
  name: string,
  command: readonly string[],
  options: ServerOptions,
): Promise<ServerProcess> {
  const log = join(options.folder, `${name}.log`)
  const started = performance.now()
  const child = Bun.spawn([...pinned(options.cores ?? SERVER_CORE), ...command], {
    cwd: import.meta.dir,
    env: { ...environment(), ...options.environment },
    stdin: 'ignore',
    stdout: Bun.file(log),
    stderr: Bun.file(`${log}.err`),
  })
  running.add(child)
  const url = `http://127.0.0.1:${options.port}`
  while (!(await answers(url + options.readyPath))) {
    const late = performance.now() - started > READY_WITHIN_MS
    if (child.exitCode === null && !late) {
      await Bun.sleep(5)
      continue
    }
    child.kill('SIGKILL')
    const why = late ? `did not answer within ${READY_WITHIN_MS / 1000} s` : `ended with ${child.exitCode}`
    throw new Error(`${name} ${why}: ${readFileSync(`${log}.err`, 'utf8').slice(-2_000)}`)
  }
  return {
    pid: child.pid,
    url,
    readyMs: performance.now() - started,
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

/** Any answer will do, but the one that says "not yet". */
async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { keepalive: false, signal: AbortSignal.timeout(READY_WITHIN_MS) })
    await response.body?.cancel()
    return response.status !== 503
  } catch {
    return false
  }
}

/** A command under way. */
export interface Command {
  /** What it printed, once it has ended well. */
  readonly output: Promise<string>
  pause(): void
  resume(): void
}

export function begin(command: readonly string[], cwd: string, withinMs = COMMAND_WITHIN_MS): Command {
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
  const finish = async (): Promise<string> => {
    const [output, errors, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    running.delete(child)
    if (exitCode !== 0)
      throw new Error(`${command.join(' ')} ended with ${exitCode}: ${(errors || output).slice(-2_000)}`)
    return output
  }
  return {
    output: finish(),
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
  }
}

/** Runs a command to its end, and gives what it printed. */
export function run(command: readonly string[], cwd: string, withinMs?: number): Promise<string> {
  return begin(command, cwd, withinMs).output
}

/** The `petstore` command is run by the `bun` that npm installed beside it. */
function environment(): Record<string, string | undefined> {
  const tools = join(import.meta.dir, '..', 'node_modules', '.bin')
  return { ...Bun.env, PATH: `${tools}:${Bun.env.PATH ?? ''}` }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

/** Now and at its highest, in megabytes. */
export function memoryOf(pid: number): { nowMb: number; peakMb: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const megabytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) / 1024
  return { nowMb: megabytes('VmRSS'), peakMb: megabytes('VmHWM') }
}

/** What `memoryOf` gives as the highest counts from here on. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
