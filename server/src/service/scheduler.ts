export interface Job {
  readonly name: string
  readonly intervalMs: number
  /** A run with several steps returns early if `signal` is aborted. */
  readonly run: (signal: AbortSignal) => Promise<void>
}

/** Runs background jobs at their intervals. Runs of one job never overlap. */
export class Scheduler {
  readonly #jobs: readonly Job[]
  readonly #onFailure: (job: Job, error: unknown) => void
  readonly #onRecovery: (job: Job) => void
  readonly #currentRuns = new Map<Job, Promise<void>>()
  readonly #failingJobs = new Set<Job>()
  readonly #stopController = new AbortController()
  #timers: readonly Timer[] = []

  /** `onFailure` is called for the first failure of a job, and `onRecovery` when the job succeeds again. */
  constructor(
    jobs: readonly Job[],
    onFailure: (job: Job, error: unknown) => void,
    onRecovery: (job: Job) => void = () => {},
  ) {
    this.#jobs = jobs
    this.#onFailure = onFailure
    this.#onRecovery = onRecovery
  }

  start(): void {
    this.#timers = this.#jobs.map((job) => setInterval(() => void this.run(job), job.intervalMs))
  }

  /** Runs a job now. If the job is already running, returns the current run. Never rejects. */
  run(job: Job): Promise<void> {
    const current = this.#currentRuns.get(job)
    if (current !== undefined) return current
    if (this.#stopController.signal.aborted) return Promise.resolve()
    const run = this.#runOnce(job).finally(() => this.#currentRuns.delete(job))
    this.#currentRuns.set(job, run)
    return run
  }

  /** Starts no more runs, and resolves when the current runs have ended. */
  async stop(): Promise<void> {
    this.#stopController.abort()
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.all(this.#currentRuns.values())
  }

  async #runOnce(job: Job): Promise<void> {
    try {
      await job.run(this.#stopController.signal)
      if (this.#failingJobs.delete(job)) this.#onRecovery(job)
    } catch (error) {
      if (!this.#failingJobs.has(job)) this.#onFailure(job, error)
      this.#failingJobs.add(job)
    }
  }
}
