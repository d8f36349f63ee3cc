import type { Config } from '../service/config.ts'

/** What a process tells the one that started it, once it listens. */
export const READY = 'ready'

/** A process that dies again and again is started ever later, up to this. */
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 10_000
/** One that has run for so long had a good start. */
const SETTLED_MS = 10_000

interface Worker {
  readonly process: Bun.Subprocess
  readonly ready: Promise<void>
  readonly startedAt: number
}

/**
 * Serves from several processes on one port: the kernel spreads the connections (SO_REUSEPORT). One that dies is
 * started again. Resolves to the exit code after a signal, once all have stopped; rejects where the first start fails.
 */
export class Supervisor {
  readonly #argumentsOf: (index: number) => readonly string[]
  readonly #workers: Worker[] = []
  #isStopping = false
  #exitCode = 0
  readonly #stopped = Promise.withResolvers<number>()

  constructor(argumentsOf: (index: number) => readonly string[]) {
    this.#argumentsOf = argumentsOf
  }

  /** Starts them all, and resolves when all of them listen. */
  async start(count: number): Promise<void> {
    for (let index = 0; index < count; index++) this.#workers[index] = this.#spawn(index)
    try {
      await Promise.all(this.#workers.map(({ ready }) => ready))
    } catch (error) {
      this.stop()
      await Promise.all(this.#workers.map((worker) => worker.process.exited))
      throw error
    }
    for (const index of this.#workers.keys()) void this.#watch(index)
  }

  /** Resolves once `stop` was called and everything has ended. */
  get stopped(): Promise<number> {
    return this.#stopped.promise
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

  async #watch(index: number): Promise<void> {
    let pause = FIRST_PAUSE_MS
    for (;;) {
      const worker = this.#workers[index]
      if (worker === undefined) return
      const { process: child, startedAt } = worker
      const code = await child.exited
      if (this.#isStopping) {
        // One that had not begun to listen for signals is ended by ours, with nothing to be finished.
        if (child.signalCode !== 'SIGTERM') this.#exitCode = Math.max(this.#exitCode, code)
        if (this.#workers.every((one) => one.process.exitCode !== null || one.process.signalCode !== null)) {
          this.#stopped.resolve(this.#exitCode)
        }
        return
      }
      pause = performance.now() - startedAt > SETTLED_MS ? FIRST_PAUSE_MS : Math.min(pause * 2, MAX_PAUSE_MS)
      console.error(
        `petstore: process ${index + 1} (pid ${child.pid}) ended (${child.signalCode ?? code}); starting it again`,
      )
      await Bun.sleep(pause)
      if (!this.#isStopping) this.#workers[index] = this.#spawn(index)
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
