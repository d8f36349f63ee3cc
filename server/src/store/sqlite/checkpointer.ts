import { workerAddress } from '../workers.ts'

/**
 * The number of changed rows between two checkpoints. Each row changes a few pages of 2 KiB, so the log stays below about
 * 100 MiB.
 */
const CHANGES_BETWEEN_CHECKPOINTS = 32_000
/** Writes wait during the last step, which takes only milliseconds if fewer rows than this are left to copy. */
const MAX_CHANGES_OF_LAST_STEP = 2_000
const MAX_STEPS = 5

/**
 * Copies the write-ahead log into the database, in a worker with its own connection, so that the event loop does not
 * wait for the disk. When the whole log is copied, SQLite starts again at the beginning of the file. Continuous writes would
 * prevent this and make the log grow, so writes wait during the last step.
 */
export class Checkpointer {
  readonly #path: string
  readonly #changesBetween: number
  #worker: Worker | undefined
  #changes = 0
  #isRunning = false
  #running: Promise<void> = Promise.resolve()
  #lastStep: Promise<void> | undefined

  constructor(path: string, changesBetween = CHANGES_BETWEEN_CHECKPOINTS) {
    this.#path = path
    this.#changesBetween = changesBetween
  }

  /** Writes must wait for this promise; `undefined` if they need not wait. */
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
    await this.#sendToWorker(undefined)
    this.#worker.terminate()
  }

  /** If a checkpoint fails, for example because the disk is full, nothing is lost, and the next checkpoint copies the log. */
  async #run(): Promise<void> {
    for (let step = 0; step < MAX_STEPS; step++) {
      this.#changes = 0
      await this.#sendToWorker(this.#path)
      if (this.#changes < MAX_CHANGES_OF_LAST_STEP) break
    }
    this.#changes = 0
    this.#lastStep = this.#sendToWorker(this.#path)
    await this.#lastStep
    this.#lastStep = undefined
  }

  /** Makes the worker checkpoint the database at `path`, or close it if there is no path. */
  #sendToWorker(path: string | undefined): Promise<void> {
    this.#worker ??= new Worker(workerAddress('store/sqlite/checkpoint-worker.ts'), { ref: false })
    const worker = this.#worker
    return new Promise((resolve) => {
      worker.onmessage = () => resolve()
      worker.onerror = () => resolve()
      worker.postMessage(path)
    })
  }
}
