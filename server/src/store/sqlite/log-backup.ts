import type { ContinuousBackup } from '../store.ts'
import type { Reader } from '../workers.ts'

/** The continuous backup of a served file. The worker that checkpoints the write-ahead log does the work: see LogCopy. */
export class LogBackup implements ContinuousBackup {
  readonly #worker: Reader
  readonly #folder: string
  /** Every commit before this time is in the folder. */
  #copiedUpTo = performance.now()
  #runningCopy: Promise<void> | undefined
  #runningRestart: Promise<void> | undefined

  constructor(worker: Reader, folder: string) {
    this.#worker = worker
    this.#folder = folder
  }

  get ageMs(): number {
    return performance.now() - this.#copiedUpTo
  }

  copy(): Promise<void> {
    this.#runningCopy ??= this.#copy().finally(() => {
      this.#runningCopy = undefined
    })
    return this.#runningCopy
  }

  /** Copies the commits since the last copy, before the service ends. A failure has been reported before. */
  async copyLast(): Promise<void> {
    await this.#runningCopy?.catch(() => {})
    await this.copy().catch(() => {})
  }

  /** Must not be called during a copy. Writes must wait. */
  restartLog(): Promise<void> {
    // The disk may be full. Nothing is lost, and a later checkpoint restarts the log.
    this.#runningRestart = this.#worker.ask<void>({ type: 'log', step: 'restart' }).catch(() => {})
    return this.#runningRestart
  }

  async discard(): Promise<void> {
    await this.#worker.ask<void>({ type: 'log', step: 'discard' })
  }

  async #copy(): Promise<void> {
    await this.#runningRestart
    const startedAt = performance.now()
    try {
      const hasSnapshot = await this.#worker.ask<boolean>({ type: 'log', step: 'copy' })
      if (hasSnapshot) this.#copiedUpTo = startedAt
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(
        `cannot copy the database to ${this.#folder}: ${reason}; the service goes on without it`,
        {
          cause: error,
        },
      )
    }
  }
}
