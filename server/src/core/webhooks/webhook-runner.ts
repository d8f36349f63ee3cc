import { petIdOf, type StockEvent } from '../stock/stock-event.ts'
import { type Clock, DAY } from '../values/clock.ts'
import {
  type DeliverySlots,
  EVENTS_PER_READ,
  MAX_PARALLEL_PER_WEBHOOK,
  type SharedLog,
} from './shared-delivery.ts'
import {
  type DeliveryFailure,
  receivesEvent,
  secretsAt,
  type Webhook,
  type WebhookProgress,
} from './webhook.ts'
import {
  attemptOf,
  type DeliveryAttempt,
  type DeliveryObserver,
  type DeliveryStore,
  MAX_KEPT_ATTEMPTS,
  type Message,
  type SendResult,
  type WebhookSender,
} from './webhook-store.ts'

/**
 * The maximum number of unfinished deliveries of a webhook in memory. After a crash, they may be sent again, and so may all
 * finished deliveries after the oldest unfinished one.
 */
const MAX_WINDOW = 512
/** Longer Retry-After times are shortened to this. */
const MAX_RETRY_AFTER_MS = DAY
/** A webhook whose delivery has failed for this long is turned off. */
const GIVE_UP_AFTER_MS = 3 * DAY
/** The fraction by which a delay varies at random, to spread the retries of receivers that failed together. */
const RETRY_JITTER = 0.1
/** The receiver counts as down when one full set of parallel requests has failed. */
const FAILURES_UNTIL_DOWN = MAX_PARALLEL_PER_WEBHOOK
const GONE = 410

/** The delay after this many attempts; the last delay repeats. `random` is between 0 and 1. */
export function retryDelay(attempts: number, delaysMs: readonly number[], random: number): number {
  const delay = delaysMs[Math.min(attempts, delaysMs.length) - 1]
  if (delay === undefined) throw new Error(`no retry delay is configured for attempt ${attempts}`)
  return Math.round(delay * (1 + RETRY_JITTER * (2 * random - 1)))
}

export interface PendingDelivery {
  readonly event: StockEvent
  readonly cursorBefore: string
  readonly message: Message
  attempts: number
  failingSince: number | undefined
  retryAt: number
}

/** The deliveries that were read from the log and are not finished. Deliveries of one pet are sent one after the other. */
export class DeliveryWindow {
  /** In the order of the log. */
  readonly #all = new Set<PendingDelivery>()
  readonly #byPet = new Map<bigint | undefined, PendingDelivery[]>()
  readonly #ready: PendingDelivery[] = []
  readonly #postponed = new Set<PendingDelivery>()

  get size(): number {
    return this.#all.size
  }

  /** The oldest unfinished delivery: everything before it was delivered. */
  get head(): PendingDelivery | undefined {
    return this.#all.values().next().value
  }

  add(delivery: PendingDelivery): void {
    this.#all.add(delivery)
    const pet = petIdOf(delivery.event)
    const queue = this.#byPet.get(pet)
    if (queue !== undefined) {
      queue.push(delivery)
      return
    }
    this.#byPet.set(pet, [delivery])
    if (delivery.attempts === 0) this.#ready.push(delivery)
    else this.#postponed.add(delivery)
  }

  takeReady(): PendingDelivery | undefined {
    return this.#ready.shift()
  }

  takeHead(): PendingDelivery | undefined {
    const { head } = this
    const index = head === undefined ? -1 : this.#ready.indexOf(head)
    return index === -1 ? undefined : this.#ready.splice(index, 1)[0]
  }

  finish(delivery: PendingDelivery): void {
    this.#all.delete(delivery)
    const pet = petIdOf(delivery.event)
    const queue = this.#byPet.get(pet)
    queue?.shift()
    const next = queue?.[0]
    if (next === undefined) this.#byPet.delete(pet)
    else this.#ready.push(next)
  }

  /** Holds back a failed or unsent delivery until its retry is due. */
  postpone(delivery: PendingDelivery): void {
    this.#postponed.add(delivery)
  }

  /** Makes postponed deliveries ready if their retry is due. Without `now`, makes all of them ready. */
  retry(now = Number.POSITIVE_INFINITY): void {
    for (const delivery of this.#postponed) {
      if (delivery.retryAt > now) continue
      this.#postponed.delete(delivery)
      this.#ready.push(delivery)
    }
  }
}

export interface RunnerDependencies {
  readonly store: Pick<DeliveryStore, 'latestEventCursor' | 'saveProgress'>
  readonly log: SharedLog
  readonly slots: DeliverySlots
  readonly sender: WebhookSender
  readonly messageOf: (event: StockEvent, at: number) => Message
  readonly retryDelaysMs: readonly number[]
  readonly clock: Clock
  readonly observers: readonly DeliveryObserver[]
  /** Whether the webhook is unchanged since the runner was started. Checked before each attempt. */
  readonly isCurrent: () => Promise<boolean>
  /** Nothing is sent without a lease, because another process may have taken over the webhook. */
  readonly hasLease: () => boolean
}

type LoggedEvent = Pick<PendingDelivery, 'event' | 'cursorBefore'>

/**
 * Delivers the events of the log to one webhook, in parallel, but those of one pet in order. A failed delivery delays only
 * the later deliveries of its pet, until the window is full. While the receiver is down, only the oldest delivery
 * is retried.
 */
export class WebhookRunner {
  readonly webhook: Webhook
  readonly #dependencies: RunnerDependencies
  readonly #window = new DeliveryWindow()
  /** Events that were read from the log and are not in the window yet. */
  readonly #backlog: LoggedEvent[] = []
  /** The cursor up to which the log has been read. */
  #cursor: string
  /** When the pending relist was created; `undefined` if none is pending. */
  #relistAt: number | undefined
  /** The saved failure of the oldest delivery. The first delivery that this runner adds continues from it. */
  #inheritedFailure: DeliveryFailure | undefined
  #off: WebhookProgress['off']
  #unsavedAttempts: DeliveryAttempt[] = []
  #requestCount = 0
  #failuresInARow = 0
  /** Nothing is sent before this time, because the receiver sent Retry-After. */
  #pausedUntil = 0
  #lastTickAt = 0
  #isFillingWindow = false
  /** Why the store could not be read. Nothing is sent until the next tick, which reports this. */
  #readFailure: unknown
  #isAtEnd = false
  #isStopping = false
  #hasUnsavedProgress = false
  #saving: Promise<void> | undefined
  #whenIdle: (() => void) | undefined

  constructor(webhook: Webhook, dependencies: RunnerDependencies) {
    this.webhook = webhook
    this.#dependencies = dependencies
    const { cursor, relistAt, failure } = webhook.progress
    this.#cursor = cursor
    this.#inheritedFailure = failure
    // Treats the receiver as down, so that only the oldest delivery is retried.
    if (failure !== undefined) this.#failuresInARow = FAILURES_UNTIL_DOWN
    if (relistAt !== undefined) this.#addRelist(cursor, relistAt)
  }

  /** Continues if the log has grown. `end` is the cursor at its end. */
  wake(end: string): void {
    if (this.#isAtEnd && end === this.#cursor) return
    this.#isAtEnd = false
    this.#proceed()
  }

  /** Starts due retries and saves the progress. Called at a short interval. */
  async tick(): Promise<void> {
    const readFailure = this.#readFailure
    this.#readFailure = undefined
    const now = this.#dependencies.clock()
    if (now < this.#lastTickAt) {
      // The clock was set back, so it is unknown when retries are due.
      this.#pausedUntil = 0
      this.#window.retry()
    } else if (!this.#isDown || (this.#window.head?.retryAt ?? now) <= now) {
      this.#window.retry(now)
    }
    this.#lastTickAt = now
    this.#proceed()
    await this.#save()
    if (readFailure !== undefined) throw readFailure
  }

  /** Starts no more requests, waits for the current requests, and saves the progress. */
  async stop(): Promise<void> {
    this.#isStopping = true
    if (this.#requestCount > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve
      })
    }
    await this.#saving?.catch(() => {})
    await this.#save()
  }

  get #isDown(): boolean {
    return this.#failuresInARow >= FAILURES_UNTIL_DOWN
  }

  get #canSend(): boolean {
    const isBlocked = this.#isStopping || this.#off !== undefined || this.#readFailure !== undefined
    return !isBlocked && this.#dependencies.hasLease()
  }

  #proceed(): void {
    this.#dispatch()
    const hasMore = this.#backlog.length > 0 || !this.#isAtEnd
    if (hasMore && this.#canSend && !this.#isFillingWindow && this.#window.size < MAX_WINDOW / 2) {
      void this.#fillWindow()
    }
  }

  readonly #dispatch = (): void => {
    const { slots, clock } = this.#dependencies
    const now = clock()
    while (
      now >= this.#pausedUntil &&
      this.#canSend &&
      slots.hasRoomOrCallLater(this.#requestCount, this.#dispatch)
    ) {
      const delivery = this.#isDown ? this.#window.takeHead() : this.#window.takeReady()
      if (delivery === undefined) return
      this.#requestCount++
      slots.take()
      void this.#deliver(delivery)
    }
  }

  async #fillWindow(): Promise<void> {
    this.#isFillingWindow = true
    try {
      while (this.#canSend && this.#window.size < MAX_WINDOW) {
        if (this.#backlog.length === 0 && !(await this.#read())) break
        this.#moveBacklogIntoWindow()
        // Either the next event is a relist, which must wait until the window is empty, or a relist in the window holds
        // back all later events.
        if (this.#backlog.length > 0 && this.#window.size < MAX_WINDOW) break
      }
    } catch (error) {
      this.#readFailure = error
    }
    this.#isFillingWindow = false
    this.#dispatch()
  }

  /** Reads the next events of the log into the backlog. False if there are none. */
  async #read(): Promise<boolean> {
    const read = await this.#dependencies.log.eventsAfter(this.#cursor)
    if (typeof read === 'string') {
      // The log cannot be read from this cursor, usually because it was pruned. The deliveries in the window are
      // finished before the relist.
      if (this.#window.size > 0) return false
      this.#cursor = await this.#dependencies.store.latestEventCursor()
      this.#addRelist(this.#cursor, this.#dependencies.clock())
      return true
    }
    let cursorBefore = this.#cursor
    for (const event of read.events) {
      if (receivesEvent(this.webhook, event)) this.#backlog.push({ event, cursorBefore })
      cursorBefore = event.cursor
    }
    if (read.cursor !== this.#cursor) this.#hasUnsavedProgress = true
    this.#cursor = read.cursor
    this.#isAtEnd = read.events.length < EVENTS_PER_READ
    return read.events.length > 0
  }

  #moveBacklogIntoWindow(): void {
    while (this.#window.size < MAX_WINDOW) {
      const next = this.#backlog[0]
      if (next === undefined || this.#relistAt !== undefined) return
      const isRelist = next.event.kind === 'relist'
      if (isRelist && this.#window.size > 0) return
      this.#backlog.shift()
      if (isRelist) this.#addRelist(next.event.cursor, this.#dependencies.clock())
      else this.#add(next)
    }
  }

  /** A relist replaces everything up to the cursor. */
  #addRelist(cursor: string, at: number): void {
    this.#relistAt = at
    this.#hasUnsavedProgress = true
    this.#add({ event: { kind: 'relist', cursor }, cursorBefore: cursor })
  }

  #add({ event, cursorBefore }: LoggedEvent): void {
    const { messageOf, clock } = this.#dependencies
    const failure = this.#inheritedFailure
    this.#inheritedFailure = undefined
    this.#window.add({
      event,
      cursorBefore,
      message: messageOf(event, this.#relistAt ?? clock()),
      attempts: failure?.attempts ?? 0,
      failingSince: failure?.since,
      retryAt: Math.min(failure?.retryAt ?? 0, clock() + MAX_RETRY_AFTER_MS),
    })
  }

  async #deliver(delivery: PendingDelivery): Promise<void> {
    await this.#stopIfOutdated()
    if (this.#canSend) {
      await this.#attempt(delivery)
    } else {
      this.#window.postpone(delivery)
      this.#releaseSlot()
    }
    if (this.#requestCount === 0) this.#whenIdle?.()
    this.#proceed()
  }

  /** Once a change of the webhook is acknowledged, no attempt may start with the previous version. */
  async #stopIfOutdated(): Promise<void> {
    try {
      if (!(await this.#dependencies.isCurrent())) this.#isStopping = true
    } catch (error) {
      this.#readFailure = error
    }
  }

  async #attempt(delivery: PendingDelivery): Promise<void> {
    const { sender, clock, observers } = this.#dependencies
    const at = clock()
    const result = await sender.send(this.webhook.url, secretsAt(this.webhook, at), delivery.message)
    delivery.attempts++
    this.#releaseSlot()
    this.#hasUnsavedProgress = true
    this.#unsavedAttempts.push(attemptOf(delivery.message, delivery.attempts, at, result))
    if (this.#unsavedAttempts.length > 2 * MAX_KEPT_ATTEMPTS) {
      this.#unsavedAttempts = this.#unsavedAttempts.slice(-MAX_KEPT_ATTEMPTS)
    }
    const isDelivered = result.error === undefined
    for (const observer of observers) observer.attemptFinished?.(isDelivered, result.durationMs)
    if (isDelivered) this.#finish(delivery)
    else this.#fail(delivery, at, result)
  }

  #releaseSlot(): void {
    this.#requestCount--
    this.#dependencies.slots.free()
  }

  #finish(delivery: PendingDelivery): void {
    const wasDown = this.#isDown
    this.#failuresInARow = 0
    if (delivery.event.kind === 'relist') this.#relistAt = undefined
    this.#window.finish(delivery)
    if (wasDown) this.#window.retry()
  }

  #fail(delivery: PendingDelivery, at: number, { status, error = '', retryAfterMs }: SendResult): void {
    this.#failuresInARow++
    delivery.failingSince ??= at
    this.#window.postpone(delivery)
    const now = this.#dependencies.clock()
    if (status === GONE) {
      this.#turnOff('the receiver answered 410 Gone')
    } else if (now - delivery.failingSince >= GIVE_UP_AFTER_MS) {
      const since = new Date(delivery.failingSince).toISOString()
      this.#turnOff(`a delivery has failed since ${since}; the last attempt failed: ${error}`)
    } else if (retryAfterMs !== undefined) {
      delivery.retryAt = now + Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)
      this.#pausedUntil = Math.max(this.#pausedUntil, delivery.retryAt)
    } else {
      delivery.retryAt = now + retryDelay(delivery.attempts, this.#dependencies.retryDelaysMs, Math.random())
    }
  }

  #turnOff(reason: string): void {
    if (this.#off !== undefined) return
    this.#off = { at: this.#dependencies.clock(), reason }
    for (const observer of this.#dependencies.observers) observer.webhookTurnedOff?.(this.webhook, reason)
  }

  get #progress(): WebhookProgress {
    const { head } = this.#window
    return {
      cursor: head?.cursorBefore ?? this.#backlog[0]?.cursorBefore ?? this.#cursor,
      ...(this.#relistAt === undefined ? {} : { relistAt: this.#relistAt }),
      ...(head?.failingSince === undefined
        ? {}
        : { failure: { since: head.failingSince, attempts: head.attempts, retryAt: head.retryAt } }),
      ...(this.#off === undefined ? {} : { off: this.#off }),
    }
  }

  async #save(): Promise<void> {
    if (this.#saving !== undefined || !this.#hasUnsavedProgress) return
    this.#hasUnsavedProgress = false
    const attempts = this.#unsavedAttempts.slice(-MAX_KEPT_ATTEMPTS)
    this.#unsavedAttempts = []
    this.#saving = this.#dependencies.store.saveProgress(this.webhook, this.#progress, attempts).then(
      (isSaved) => {
        // The webhook was changed, or another process has leased it.
        if (!isSaved) this.#isStopping = true
      },
      (error: unknown) => {
        this.#hasUnsavedProgress = true
        this.#unsavedAttempts = [...attempts, ...this.#unsavedAttempts]
        throw error
      },
    )
    try {
      await this.#saving
    } finally {
      this.#saving = undefined
    }
  }
}
