import { workerAddress } from '../worker-address.ts'

/**
 * Rows changed between two checkpoints. Each changes a few pages of 2 KiB at most, so that the write-ahead log stays
 * below 100 MiB or so; a page that changed often is copied once.
 */
const CHANGES_BETWEEN = 32_000
/** With fewer changes left than this, writes wait for the last step: it takes milliseconds. */
const FEW_CHANGES = 2_000
const MAX_STEPS = 5

/**
 * Copies the write-ahead log into the database, in a worker with a connection of its own, so that the event loop waits
 * neither for the copying nor for the disk. The log starts again at its beginning once all of it has been copied, and
 * writes that keep coming would prevent that: they wait during the last step.
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

  /** Writes wait for this; undefined if they need not. */
  get pause(): Promise<void> | undefined {
    return this.#lastStep
  }

  /** To be called after each commit, with the number of rows that it changed. */
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

  /** A checkpoint that fails, such as on a full disk, is tried again after as many changes. Nothing is lost by it. */
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

  /** Has the worker do a checkpoint of the database at `path`, or close without one. */
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
