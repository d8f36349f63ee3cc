import type { CommitObserver } from '../stock/group-commit.ts'
import { DeliverySlots } from './delivery-slots.ts'
import { SharedLog } from './shared-log.ts'
import { isServed, type Webhook } from './webhook.ts'
import { type RunnerParts, WebhookRunner } from './webhook-runner.ts'
import type { DeliveryStore } from './webhook-store.ts'

/** Whoever crashes is taken over from after this and the pause between two looks. */
const LEASE_MS = 8_000
const LEASE_EVERY_MS = 1_000
/** How soon a change by another process is noticed, and how often what waits is looked at. */
const TICK_MS = 200
/** Changes that follow each other closely are read together. */
const WAKE_MS = 20

export type WorkerParts = Omit<RunnerParts, 'isOurs' | 'log' | 'slots' | 'store'> & {
  readonly store: DeliveryStore
  readonly onFailure: (error: unknown) => void
}

/** Delivers for all webhooks that this process has taken on. */
export class WebhookWorker implements CommitObserver {
  readonly #parts: WorkerParts
  readonly #shared: Pick<RunnerParts, 'log' | 'slots'>
  readonly #runners = new Map<bigint, WebhookRunner>()
  /** Those that are being stopped: nobody else of this process begins meanwhile. */
  readonly #stopping = new Map<bigint, Promise<void>>()
  #timers: ReturnType<typeof setInterval>[] = []
  /** Until when what we have is ours, by the monotonic clock. */
  #leasedUntil = 0
  #latest = ''
  #version: number | undefined
  #isLooking = false
  #isLeasing = false
  #isWoken = false
  #isFailing = false
  #isStopped = false

  constructor(parts: WorkerParts) {
    this.#parts = parts
    this.#shared = { log: new SharedLog(parts.store), slots: new DeliverySlots() }
  }

  start(): void {
    this.#timers = [
      setInterval(() => void this.#lease(), LEASE_EVERY_MS),
      setInterval(() => void this.#tick(), TICK_MS),
    ]
    void this.#lease()
  }

  commitFinished(): void {
    if (this.#runners.size === 0 || this.#isWoken) return
    this.#isWoken = true
    setTimeout(() => {
      this.#isWoken = false
      void this.#look()
    }, WAKE_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearInterval(timer)
    for (const id of [...this.#runners.keys()]) this.#end(id)
    await Promise.all(this.#stopping.values())
    await this.#parts.store.releaseWebhooks()
  }

  async #lease(): Promise<void> {
    if (this.#isLeasing || this.#isStopped) return
    this.#isLeasing = true
    await this.#guarded(async () => {
      const asked = performance.now()
      const ours = (await this.#parts.store.leaseWebhooks(LEASE_MS)).filter(isServed)
      // A lease that has half of its time left was not made longer.
      this.#leasedUntil = asked + LEASE_MS / 2
      if (this.#isStopped) return
      const revisions = new Map(ours.map(({ id, revision }) => [id, revision]))
      for (const [id, { webhook }] of this.#runners) {
        if (revisions.get(id) !== webhook.revision) this.#end(id)
      }
      for (const webhook of ours) {
        if (this.#runners.has(webhook.id) || this.#stopping.has(webhook.id)) continue
        this.#begin(webhook)
      }
    })
    this.#isLeasing = false
  }

  #begin(webhook: Webhook): void {
    const isOurs = () => performance.now() < this.#leasedUntil
    const runner = new WebhookRunner(webhook, { ...this.#parts, ...this.#shared, isOurs })
    this.#runners.set(webhook.id, runner)
    runner.wake(this.#latest)
  }

  #end(id: bigint): void {
    const runner = this.#runners.get(id)
    if (runner === undefined) return
    this.#runners.delete(id)
    const stopped = runner
      .stop()
      .catch(this.#parts.onFailure)
      .finally(() => this.#stopping.delete(id))
    this.#stopping.set(id, stopped)
  }

  async #tick(): Promise<void> {
    if (this.#runners.size === 0) return
    await this.#look()
    await this.#guarded(async () => {
      await Promise.all(Array.from(this.#runners.values(), (runner) => runner.tick()))
    })
  }

  /** Asks whether there is more in the log, once for all who wait for that. */
  async #look(): Promise<void> {
    const { store } = this.#parts
    const version = store.version()
    if (this.#isLooking) return
    this.#isLooking = true
    await this.#guarded(async () => {
      // Also where nobody waits: what happens gets its place in the log by being asked for.
      if (version === undefined || version !== this.#version) this.#latest = await store.latestEventCursor()
      this.#version = version
      for (const runner of this.#runners.values()) runner.wake(this.#latest)
    })
    this.#isLooking = false
  }

  /** Nothing is lost by a failure: all of it comes again. */
  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) this.#parts.onFailure(error)
      this.#isFailing = true
    }
  }
}
