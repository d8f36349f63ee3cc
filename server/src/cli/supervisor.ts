import type { Config } from '../service/config.ts'

/** What a process tells the one that started it, once it listens. */
export const READY = 'ready'

/** A process that dies again and again is started ever later, up to this. */
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 10_000
/** One that has run for so long had a good start. */
const SETTLED_MS = 10_000

/** Told of what becomes of the processes. */
interface SupervisorLog {
  warn(message: string, fields: Readonly<Record<string, string | number>>): void
}

interface Worker {
  readonly process: Bun.Subprocess
  readonly ready: Promise<void>
  readonly startedAt: number
}

/**
 * Serves from several processes on one port: the kernel spreads the connections (SO_REUSEPORT). One that dies is
 * started again.
 */
export class Supervisor {
  readonly #argumentsOf: (index: number) => readonly string[]
  readonly #logger: SupervisorLog
  readonly #workers: Worker[] = []
  #isStopping = false

  constructor(logger: SupervisorLog, argumentsOf: (index: number) => readonly string[]) {
    this.#logger = logger
    this.#argumentsOf = argumentsOf
  }

  /**
   * Starts them all, and tells when all of them listen. Resolves to the exit code once `stop` was called and all
   * have ended; rejects where one does not get as far as listening.
   */
  async run(count: number, onListening: () => void): Promise<number> {
    for (let index = 0; index < count; index++) this.#workers[index] = this.#spawn(index)
    try {
      await Promise.all(this.#workers.map(({ ready }) => ready))
    } catch (error) {
      this.stop()
      await Promise.all(this.#workers.map((worker) => worker.process.exited))
      throw error
    }
    onListening()
    const codes = await Promise.all(this.#workers.map((worker, index) => this.#keepAlive(worker, index)))
    return Math.max(...codes)
  }

  stop(): void {
    this.#isStopping = true
    this.signal('SIGTERM')
  }

  /** To all of them. */
  signal(signal: 'SIGTERM' | 'SIGHUP'): void {
    for (const worker of this.#workers) worker.process.kill(signal)
  }

  #spawn(index: number): Worker {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const child = Bun.spawn([...program(), ...this.#argumentsOf(index)], {
      stdio: ['ignore', 'inherit', 'inherit'],
      ipc: (message) => {
        if (message === READY) resolve()
      },
      onExit: () => reject(new Error('a process ended before it listened')),
    })
    promise.catch(() => {})
    return { process: child, ready: promise, startedAt: performance.now() }
  }

  /** Resolves to the exit code of the last one, once all are to stop. */
  async #keepAlive(first: Worker, index: number): Promise<number> {
    let worker = first
    let pause = FIRST_PAUSE_MS
    for (;;) {
      const { process: child, startedAt } = worker
      const code = await child.exited
      // One that had not begun to listen for signals is ended by ours, with nothing to be finished.
      if (this.#isStopping) return child.signalCode === 'SIGTERM' ? 0 : code
      pause = performance.now() - startedAt > SETTLED_MS ? FIRST_PAUSE_MS : Math.min(pause * 2, MAX_PAUSE_MS)
      this.#logger.warn('a process ended; it is started again', {
        ...{ process: index + 1, pid: child.pid, ended: child.signalCode ?? code },
      })
      await Bun.sleep(pause)
      if (this.#isStopping) continue
      worker = this.#spawn(index)
      this.#workers[index] = worker
    }
  }
}

/** How this very program is started: as one executable, or by Bun from its sources. */
function program(): string[] {
  const isExecutable = /^(\/\$bunfs\/|[A-Z]:[\\/]~BUN)/.test(Bun.main)
  return isExecutable ? [process.execPath] : [process.execPath, Bun.main]
}

/** A port that all processes can share; where any free one will do, it is chosen once. */
export function sharedPort({ host, port }: Pick<Config, 'host' | 'port'>): number {
  if (port !== 0) return port
  const listener = Bun.listen({ hostname: host, port: 0, socket: { data: () => {} } })
  const chosen = listener.port
  listener.stop(true)
  return chosen
}
