import type { CommitObserver } from '../stock/group-commit.ts'
import { DeliveryStarts, SharedLog } from './shared-delivery.ts'
import { isActive, type Webhook } from './webhook.ts'
import { type RunnerDependencies, WebhookRunner } from './webhook-runner.ts'
import type { DeliveryStore } from './webhook-store.ts'

/** If a process crashes, another process takes over its webhooks after this time. */
const LEASE_MS = 8_000
const LEASE_INTERVAL_MS = 250
/** A process sends nothing with records of webhooks that are older, because another process may have changed a webhook since. */
const MAX_RECORD_AGE_MS = 1_000
/** The interval at which the worker looks for changes by other processes and for due retries. */
const TICK_INTERVAL_MS = 200
/** Commits within this time share one read of the log. */
const WAKE_DELAY_MS = 20

type WorkerDependencies = Omit<RunnerDependencies, 'hasLease' | 'log' | 'starts' | 'store'> & {
  readonly store: DeliveryStore
  readonly onFailure: (error: unknown) => void
}

/** Delivers events to all webhooks that this process has leased. */
export class WebhookWorker implements CommitObserver {
  readonly #dependencies: WorkerDependencies
  readonly #log: SharedLog
  readonly #starts = new DeliveryStarts()
  readonly #runners = new Map<bigint, WebhookRunner>()
  /** While a runner stops, no other runner of this process delivers for its webhook. */
  readonly #stoppingRunners = new Map<bigint, Promise<void>>()
  #timers: readonly Timer[] = []
  /** Until when the records and the leases may be used: a time of `performance.now()`. */
  #validUntil = 0
  /** Incremented by each change of this process, so that records that were read before it are not used. */
  #changes = 0
  #latestCursor = ''
  #version: number | undefined
  #isCheckingLog = false
  #isRenewingLeases = false
  #isWakeScheduled = false
  #isFailing = false
  #isStopped = false

  constructor(dependencies: WorkerDependencies) {
    this.#dependencies = dependencies
    this.#log = new SharedLog(dependencies.store)
  }

  start(): void {
    this.#timers = [
      setInterval(() => void this.#renewLeases(), LEASE_INTERVAL_MS),
      setInterval(() => void this.#tick(), TICK_INTERVAL_MS),
    ]
    void this.#renewLeases()
  }

  commitFinished(): void {
    if (this.#runners.size === 0 || this.#isWakeScheduled) return
    this.#isWakeScheduled = true
    setTimeout(() => {
      this.#isWakeScheduled = false
      void this.#checkLog()
    }, WAKE_DELAY_MS)
  }

  /**
   * Resolves once no attempt can leave with the webhook as it was before a change, from any process. Called before a change is
   * answered.
   */
  async applyChange(id: bigint): Promise<void> {
    this.#changes++
    const runner = this.#runners.get(id)
    const mayBeServedElsewhere = this.#dependencies.store.sharesDeliveries && !(runner && this.#isValid())
    if (runner !== undefined) this.#abortRunner(id, runner)
    else void this.#renewLeases()
    if (mayBeServedElsewhere) await Bun.sleep(MAX_RECORD_AGE_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearInterval(timer)
    for (const [id, runner] of this.#runners) this.#stopRunner(id, runner)
    await Promise.all(this.#stoppingRunners.values())
    await this.#dependencies.store.releaseWebhooks()
  }

  async #renewLeases(): Promise<void> {
    if (this.#isRenewingLeases || this.#isStopped) return
    this.#isRenewingLeases = true
    await this.#runAndReport(async () => {
      const requestedAt = performance.now()
      const changes = this.#changes
      const leased = (await this.#dependencies.store.leaseWebhooks(LEASE_MS)).filter((webhook) =>
        isActive(webhook, this.#dependencies.clock()),
      )
      if (this.#isStopped || changes !== this.#changes) return
      // Leases end later: the store renews a lease when less than half of its time is left.
      this.#validUntil = requestedAt + MAX_RECORD_AGE_MS
      const revisions = new Map(leased.map(({ id, revision }) => [id, revision]))
      for (const [id, runner] of this.#runners) {
        if (revisions.get(id) !== runner.webhook.revision) this.#abortRunner(id, runner)
      }
      for (const webhook of leased) {
        if (this.#runners.has(webhook.id) || this.#stoppingRunners.has(webhook.id)) continue
        this.#startRunner(webhook)
      }
    })
    this.#isRenewingLeases = false
  }

  #startRunner(webhook: Webhook): void {
    const runner = new WebhookRunner(webhook, {
      ...this.#dependencies,
      log: this.#log,
      starts: this.#starts,
      // The key of the webhook may have expired since its record was read.
      hasLease: () => this.#isValid() && isActive(webhook, this.#dependencies.clock()),
    })
    this.#runners.set(webhook.id, runner)
    runner.wake(this.#latestCursor)
  }

  #isValid(): boolean {
    return performance.now() < this.#validUntil
  }

  #abortRunner(id: bigint, runner: WebhookRunner): void {
    runner.abort()
    this.#stopRunner(id, runner)
  }

  #stopRunner(id: bigint, runner: WebhookRunner): void {
    this.#runners.delete(id)
    const stopped = runner
      .stop()
      .catch(this.#dependencies.onFailure)
      .finally(() => {
        this.#stoppingRunners.delete(id)
        // Starts a runner for the changed webhook.
        void this.#renewLeases()
      })
    this.#stoppingRunners.set(id, stopped)
  }

  async #tick(): Promise<void> {
    if (this.#runners.size === 0) return
    await this.#checkLog()
    await this.#runAndReport(async () => {
      await Promise.all(Array.from(this.#runners.values(), (runner) => runner.tick()))
    })
  }

  /** Wakes all runners with the end of the log, which is read once for all of them. */
  async #checkLog(): Promise<void> {
    const { store } = this.#dependencies
    const version = store.version()
    if (this.#isCheckingLog) return
    this.#isCheckingLog = true
    await this.#runAndReport(async () => {
      // Read even if all runners are busy: on PostgreSQL, reading the cursor also assigns log positions to new rows.
      if (version === undefined || version !== this.#version) {
        this.#latestCursor = await store.latestEventCursor()
      }
      this.#version = version
      for (const runner of this.#runners.values()) runner.wake(this.#latestCursor)
    })
    this.#isCheckingLog = false
  }

  /** Reports a failure unless the work before it failed, too. Nothing is lost, because a timer repeats the work. */
  async #runAndReport(work: () => Promise<void>): Promise<void> {
    try {
      await work()
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) this.#dependencies.onFailure(error)
      this.#isFailing = true
    }
  }
}
