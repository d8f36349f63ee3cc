import type { CommitObserver } from '../stock/group-commit.ts'
import { shareRuns } from '../values/share-runs.ts'
import { DeliverySlots, SharedLog } from './shared-delivery.ts'
import { isActive, type Webhook } from './webhook.ts'
import { type RunnerDependencies, WebhookRunner } from './webhook-runner.ts'
import type { DeliveryStore } from './webhook-store.ts'

/** If a process crashes, another process takes over its webhooks after this time. */
const LEASE_MS = 8_000
const LEASE_INTERVAL_MS = 1_000
/** The interval at which the worker looks for changes by other processes and for due retries. */
const TICK_INTERVAL_MS = 200
/** Commits within this time share one read of the log. */
const WAKE_DELAY_MS = 20

type WorkerDependencies = Omit<RunnerDependencies, 'hasLease' | 'isCurrent' | 'log' | 'slots' | 'store'> & {
  readonly store: DeliveryStore
  readonly onFailure: (error: unknown) => void
}

/** Delivers events to all webhooks that this process has leased. */
export class WebhookWorker implements CommitObserver {
  readonly #dependencies: WorkerDependencies
  readonly #log: SharedLog
  readonly #readRevisions = shareRuns(() => this.#dependencies.store.webhookRevisions())
  readonly #slots = new DeliverySlots()
  readonly #runners = new Map<bigint, WebhookRunner>()
  /** While a runner stops, no other runner of this process delivers for its webhook. */
  readonly #stoppingRunners = new Map<bigint, Promise<void>>()
  #timers: readonly Timer[] = []
  /** A time of `performance.now()`. */
  #leasedUntil = 0
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
      const leased = (await this.#dependencies.store.leaseWebhooks(LEASE_MS)).filter(isActive)
      // The store renews a lease only when less than half of its time is left.
      this.#leasedUntil = requestedAt + LEASE_MS / 2
      if (this.#isStopped) return
      const revisions = new Map(leased.map(({ id, revision }) => [id, revision]))
      for (const [id, runner] of this.#runners) {
        if (revisions.get(id) !== runner.webhook.revision) this.#stopRunner(id, runner)
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
      slots: this.#slots,
      isCurrent: () => this.#isCurrent(webhook),
      hasLease: () => performance.now() < this.#leasedUntil,
    })
    this.#runners.set(webhook.id, runner)
    runner.wake(this.#latestCursor)
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

  async #isCurrent({ id, revision }: Webhook): Promise<boolean> {
    const revisions = await this.#readRevisions()
    const isCurrent = revisions.get(id) === revision
    if (!isCurrent) void this.#renewLeases()
    return isCurrent
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
