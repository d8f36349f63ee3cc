import type { Config } from '../service/config.ts'
import type { Logger } from '../telemetry/logger.ts'

/** The message that a worker sends to the supervisor when it listens. */
export const READY = 'ready'

/** The pause before a restart doubles each time, up to the maximum. */
const MIN_PAUSE_MS = 100
const MAX_PAUSE_MS = 10_000
/** If a worker has run for this long, the pause before its restart is the minimum again. */
const STABLE_AFTER_MS = 10_000

interface Worker {
  readonly process: Bun.Subprocess
  readonly ready: Promise<void>
  readonly startedAt: number
}

/** Runs several worker processes on one port (SO_REUSEPORT) and restarts those that end. */
export class Supervisor {
  readonly #argumentsOf: (index: number) => readonly string[]
  readonly #logger: Pick<Logger, 'warn'>
  readonly #workers: Worker[] = []
  #isStopping = false
  readonly #stopped = Promise.withResolvers<void>()
  constructor(logger: Pick<Logger, 'warn'>, argumentsOf: (index: number) => readonly string[]) {
    this.#logger = logger
    this.#argumentsOf = argumentsOf
  }

  /**
   * Resolves to the exit code when `stop` has ended all workers. Rejects if one of the first workers ends before it listens,
   * unless `stop` was called.
   */
  async run(count: number, onListening: () => void): Promise<number> {
    for (let index = 0; index < count; index++) this.#workers[index] = this.#spawn(index)
    try {
      await Promise.all(this.#workers.map(({ ready }) => ready))
      onListening()
    } catch (error) {
      if (!this.#isStopping) {
        this.stop()
        await Promise.all(this.#workers.map((worker) => worker.process.exited))
        throw error
      }
    }
    const exitCodes = await Promise.all(this.#workers.map((worker, index) => this.#keepAlive(worker, index)))
    return Math.max(...exitCodes)
  }

  stop(): void {
    this.#isStopping = true
    this.#stopped.resolve()
    for (const worker of this.#workers) worker.process.kill('SIGTERM')
  }

  #spawn(index: number): Worker {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const child = Bun.spawn([...programCommand(), ...this.#argumentsOf(index)], {
      stdio: ['ignore', 'inherit', 'inherit'],
      ipc: (message) => {
        if (message === READY) resolve()
      },
      onExit: () => reject(new Error('a worker process ended before it listened')),
    })
    // `run` awaits only the first workers, so the rejection of a restarted worker would be unhandled.
    promise.catch(() => {})
    return { process: child, ready: promise, startedAt: performance.now() }
  }

  /** Replaces a worker each time it ends. Resolves to the exit code of the last process after `stop`. */
  async #keepAlive(first: Worker, index: number): Promise<number> {
    let worker = first
    let pauseMs = MIN_PAUSE_MS
    for (;;) {
      const { process: child, startedAt } = worker
      const code = await child.exited
      // The SIGTERM of `stop` kills a worker that has no signal handler yet. It had no requests, so this is no failure.
      if (this.#isStopping) return child.signalCode === 'SIGTERM' ? 0 : code
      const wasStable = performance.now() - startedAt > STABLE_AFTER_MS
      if (wasStable) pauseMs = MIN_PAUSE_MS
      this.#logger.warn('a worker process ended; restarting it', {
        process: index + 1,
        pid: child.pid,
        ended: child.signalCode ?? code,
      })
      await Promise.race([Bun.sleep(pauseMs), this.#stopped.promise])
      // The log has the end of the process, so it is not a failure of the stop.
      if (this.#isStopping) return 0
      pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)
      worker = this.#spawn(index)
      this.#workers[index] = worker
    }
  }
}

/** The command that starts this program: the executable, or Bun with the sources. */
function programCommand(): string[] {
  const isExecutable = /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN)/.test(Bun.main)
  return isExecutable ? [process.execPath] : [process.execPath, Bun.main]
}

/** The port of all workers. If the setting is 0, chooses a free port. */
export function sharedPort({ host, port }: Pick<Config, 'host' | 'port'>): number {
  if (port !== 0) return port
  const listener = Bun.listen({ hostname: host, port: 0, socket: { data: () => {} } })
  const chosen = listener.port
  listener.stop(true)
  return chosen
}
