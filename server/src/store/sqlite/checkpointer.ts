import { workerAddress } from '../workers.ts'

/** Changed rows between two checkpoints. Each row changes a few pages of 2 KiB, so the log stays below about 100 MiB. */
const CHANGES_BETWEEN = 32_000
/** With fewer changes left, the last step takes milliseconds, and writes wait for it. */
const FEW_CHANGES = 2_000
const MAX_STEPS = 5

/**
 * Copies the write-ahead log into the database, in a worker with its own connection, so that the event loop does not
 * wait for the disk. SQLite restarts the log at its beginning once all of it is copied. Continuous writes would prevent
 * that, so they wait during the last step.
 */
export class Checkpointer {
  readonly #path: string
  readonly #changesBetween: number
  #worker: Worker | undefined
  #changes = 0
  #isRunning = false
  #running: Promise<void> = Promise.resolve()
  #lastStep: Promise<void> | undefined

  constructor(path: string, changesBetween = CHANGES_BETWEEN) {
    this.#path = path
    this.#changesBetween = changesBetween
  }

  /** Writes wait for this promise; undefined if they need not wait. */
  get pause(): Promise<void> | undefined {
    return this.#lastStep
  }

  /** To be called after each commit, with the number of changed rows. */
  add(changes: number): void {
    this.#changes += changes
    if (this.#changes < this.#changesBetween || this.#isRunning) return
    this.#isRunning = true
    this.#running = this.#run().finally(() => {
      this.#isRunning = false
    })
  }

  async close(): Promise<void> {
    await this.#running
    if (this.#worker === undefined) return
    await this.#ask(undefined)
    this.#worker.terminate()
  }

  /** A failed checkpoint, such as on a full disk, loses nothing. The next one comes after as many changes. */
  async #run(): Promise<void> {
    for (let step = 0; step < MAX_STEPS; step++) {
      this.#changes = 0
      await this.#ask(this.#path)
      if (this.#changes < FEW_CHANGES) break
    }
    this.#changes = 0
    this.#lastStep = this.#ask(this.#path)
    await this.#lastStep
    this.#lastStep = undefined
  }

  /** Makes the worker checkpoint the database at `path`, or close it if there is no path. */
  #ask(path: string | undefined): Promise<void> {
    this.#worker ??= new Worker(workerAddress('store/sqlite/checkpoint-worker.ts'), { ref: false })
    const worker = this.#worker
    return new Promise((resolve) => {
      worker.onmessage = () => resolve()
      worker.onerror = () => resolve()
      worker.postMessage(path)
    })
  }
}
