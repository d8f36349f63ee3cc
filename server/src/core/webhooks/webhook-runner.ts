import { isEarlierCursor } from '../stock/log-cursor.ts'
import { petIdOf, type StockEvent } from '../stock/stock-event.ts'
import { type Clock, DAY, SECOND } from '../values/clock.ts'
import { DeliveryWindow, type PendingDelivery } from './delivery-window.ts'
import {
  type DeliveryStarts,
  EVENTS_PER_READ,
  MAX_PARALLEL_PER_WEBHOOK,
  type SharedLog,
} from './shared-delivery.ts'
import {
  type DeliveryFailure,
  GIVE_UP_DAYS,
  type HeldPet,
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
/** Keeps the record of a webhook small. While more pets are held, further pets are only probed. */
const MAX_HELD_PETS = 100
/** Longer Retry-After times are shortened to this. */
const MAX_RETRY_AFTER_MS = DAY
/** The fraction by which a delay varies at random, to spread the retries of receivers that failed together. */
const RETRY_JITTER = 0.1
/** The receiver counts as down when the first attempts of one full set of parallel requests have failed. */
const FAILURES_UNTIL_DOWN = MAX_PARALLEL_PER_WEBHOOK
const GONE = 410
const GIVE_UP_AFTER_MS = GIVE_UP_DAYS * DAY

/** Quick at first, for a receiver that restarts; every 3 hours at last, for one that its owner must repair. */
const RETRY_DELAYS_MS = [5, 30, 120, 600, 3_600, 10_800].map((seconds) => seconds * SECOND)

/** The delay after this many attempts; the last delay repeats. `random` is between 0 and 1. */
export function retryDelay(attempts: number, delaysMs: readonly number[], random: number): number {
  const delay = delaysMs[Math.min(attempts, delaysMs.length) - 1]
  if (delay === undefined) throw new Error(`no retry delay is configured for attempt ${attempts}`)
  return Math.round(delay * (1 + RETRY_JITTER * (2 * random - 1)))
}

/** A pet whose events wait, because the receiver refused one of them. */
interface Hold {
  readonly petId: bigint | undefined
  /** The next event of the pet is the first one after this cursor. */
  cursor: string
  /** The next event; undefined until it is read from the log. */
  delivery: PendingDelivery | undefined
  /** The saved failure of the next event, until it is read from the log. */
  savedFailure: DeliveryFailure | undefined
  /** Whether the next event is being sent or read. */
  isBusy: boolean
}

export interface RunnerDependencies {
  readonly store: Pick<DeliveryStore, 'latestEventCursor' | 'saveProgress'>
  readonly log: SharedLog
  readonly starts: DeliveryStarts
  readonly sender: WebhookSender
  readonly messageOf: (event: StockEvent, at: number) => Message
  /** For tests, instead of RETRY_DELAYS_MS. */
  readonly retryDelaysMs?: readonly number[] | undefined
  readonly clock: Clock
  readonly observers: readonly DeliveryObserver[]
  /** Nothing is sent without a lease, because another process may have changed or taken over the webhook. */
  readonly hasLease: () => boolean
}

type LoggedEvent = Pick<PendingDelivery, 'event' | 'cursorBefore'>

/**
 * Delivers the events of the log to one webhook, in parallel, but those of one pet in order. A refused event holds only its pet,
 * until it is accepted or parked; the later events of the pet are then read from the log again. While the receiver is down, one
 * request is sent at a time: a retry that is due, or a probe with the next event. Any success ends that.
 */
export class WebhookRunner {
  readonly webhook: Webhook
  readonly #dependencies: RunnerDependencies
  readonly #window = new DeliveryWindow()
  readonly #holds = new Map<bigint | undefined, Hold>()
  /** Events that were read from the log and are not in the window yet. */
  readonly #backlog: LoggedEvent[] = []
  /** The cursor up to which the log has been read. */
  #cursor: string
  /** When the pending relist was created; `undefined` if none is pending. */
  #relistAt: number | undefined
  /** Whether the log was pruned past the cursor of a held pet. */
  #mustRelist = false
  /** When the first attempt failed since the last success. */
  #failingSince: number | undefined
  #off: WebhookProgress['off']
  #unsavedAttempts: DeliveryAttempt[] = []
  readonly #requests = new Set<AbortController>()
  #newFailuresInARow = 0
  #probes = 0
  /** When the next event may be probed. */
  #probeAt = 0
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
    const { cursor, relistAt, failingSince, held } = webhook.progress
    this.#cursor = cursor
    this.#failingSince = failingSince
    for (const { petId, cursor: petCursor, failure } of held) {
      const hold = { petId, cursor: petCursor, delivery: undefined, savedFailure: failure, isBusy: false }
      this.#holds.set(petId, hold)
    }
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
      this.#retryAll()
    }
    this.#lastTickAt = now
    this.#proceed()
    await this.#save()
    if (readFailure !== undefined) throw readFailure
  }

  /** Makes sure that no more requests leave. Requests that were sent already may be repeated. */
  abort(): void {
    this.#isStopping = true
    for (const request of this.#requests) request.abort()
  }

  /** Starts no more requests, waits for the current requests, and saves the progress. */
  async stop(): Promise<void> {
    this.#isStopping = true
    if (this.#requests.size > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve
      })
    }
    await this.#saving?.catch(() => {})
    await this.#save()
  }

  get #isDown(): boolean {
    return this.#newFailuresInARow >= FAILURES_UNTIL_DOWN
  }

  /** Each failure in a row allows one request less, so that a receiver that is down gets only as many as prove it. */
  get #maxParallel(): number {
    return Math.max(1, MAX_PARALLEL_PER_WEBHOOK - this.#newFailuresInARow)
  }

  /** Whether further pets are only probed, because their events would probably fail. */
  get #isProbing(): boolean {
    return this.#isDown || this.#holds.size >= MAX_HELD_PETS
  }

  get #canSend(): boolean {
    const isBlocked = this.#isStopping || this.#off !== undefined || this.#readFailure !== undefined
    return !isBlocked && this.#dependencies.hasLease()
  }

  /** The cursor up to which events were added to the window, or left to the holds of their pets. */
  get #position(): string {
    return this.#backlog[0]?.cursorBefore ?? this.#cursor
  }

  #proceed(): void {
    this.#dispatch()
    if (!this.#canSend) return
    for (const hold of this.#holds.values()) {
      if (hold.delivery === undefined && !hold.isBusy) void this.#readNextOf(hold)
    }
    const hasMore = this.#backlog.length > 0 || !this.#isAtEnd
    if (hasMore && !this.#isFillingWindow && this.#window.size < MAX_WINDOW / 2) void this.#fillWindow()
  }

  readonly #dispatch = (): void => {
    const { starts, clock } = this.#dependencies
    const now = clock()
    while (now >= this.#pausedUntil && this.#canSend && this.#requests.size < this.#maxParallel) {
      const delivery = this.#takeNext(now)
      if (delivery === undefined) return
      if (!starts.take(this.#dispatch)) {
        this.#putBack(delivery)
        return
      }
      void this.#deliver(delivery)
    }
  }

  /** The retry that has been due for longest, or the next event of a pet that is not held. */
  #takeNext(now: number): PendingDelivery | undefined {
    let dueHold: Hold | undefined
    let dueAt = now
    for (const hold of this.#holds.values()) {
      const retryAt = hold.delivery?.failure?.retryAt ?? 0
      if (hold.isBusy || hold.delivery === undefined || retryAt > dueAt) continue
      dueHold = hold
      dueAt = retryAt
    }
    if (dueHold !== undefined) {
      dueHold.isBusy = true
      return dueHold.delivery
    }
    return this.#isProbing && now < this.#probeAt ? undefined : this.#window.takeReady()
  }

  #putBack(delivery: PendingDelivery): void {
    const hold = this.#holdOf(delivery)
    if (hold === undefined) this.#window.putBack(delivery)
    else hold.isBusy = false
  }

  #holdOf(delivery: PendingDelivery): Hold | undefined {
    const hold = this.#holds.get(petIdOf(delivery.event))
    return hold?.delivery === delivery ? hold : undefined
  }

  async #fillWindow(): Promise<void> {
    this.#isFillingWindow = true
    try {
      while (this.#canSend && this.#window.size < MAX_WINDOW) {
        if (this.#backlog.length === 0 && !(await this.#read())) break
        this.#moveBacklogIntoWindow()
        // Either the next event is a relist, which must wait until the window is empty, or a relist that is not delivered yet
        // holds back all later events.
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
    const read = this.#mustRelist ? 'relist_needed' : await this.#dependencies.log.eventsAfter(this.#cursor)
    if (typeof read === 'string') {
      // The log cannot be read from this cursor, usually because it was pruned. The deliveries that have started are finished
      // before the relist.
      if (this.#hasUnfinished) return false
      const cursor = await this.#dependencies.store.latestEventCursor()
      if (this.#hasUnfinished) return false
      this.#cursor = cursor
      this.#addRelist(cursor, this.#dependencies.clock())
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

  get #hasUnfinished(): boolean {
    return this.#window.size > 0 || this.#requests.size > 0
  }

  #moveBacklogIntoWindow(): void {
    while (this.#window.size < MAX_WINDOW) {
      const next = this.#backlog[0]
      if (next === undefined || this.#relistAt !== undefined) return
      const isRelist = next.event.kind === 'relist'
      if (isRelist && this.#hasUnfinished) return
      this.#backlog.shift()
      if (isRelist) this.#addRelist(next.event.cursor, this.#dependencies.clock())
      else if (!this.#holds.has(petIdOf(next.event))) this.#window.add(this.#pending(next))
    }
  }

  /** A relist replaces everything up to the cursor. */
  #addRelist(cursor: string, at: number): void {
    this.#relistAt = at
    this.#mustRelist = false
    this.#hasUnsavedProgress = true
    this.#holds.clear()
    this.#window.add(this.#pending({ event: { kind: 'relist', cursor }, cursorBefore: cursor }))
  }

  #pending({ event, cursorBefore }: LoggedEvent, failure?: DeliveryFailure): PendingDelivery {
    const { messageOf, clock } = this.#dependencies
    return { event, cursorBefore, message: messageOf(event, this.#relistAt ?? clock()), failure }
  }

  /** Finds the next event of a held pet. Without one, the pet is not held any more. */
  async #readNextOf(hold: Hold): Promise<void> {
    hold.isBusy = true
    try {
      while (hold.delivery === undefined && this.#canSend && this.#holds.get(hold.petId) === hold) {
        if (isEarlierCursor(hold.cursor, this.#position)) await this.#readPageOf(hold)
        else this.#holds.delete(hold.petId)
      }
    } catch (error) {
      this.#readFailure = error
    }
    hold.isBusy = false
    this.#hasUnsavedProgress = true
    this.#proceed()
  }

  async #readPageOf(hold: Hold): Promise<void> {
    const read = await this.#dependencies.log.eventsAfter(hold.cursor)
    if (typeof read === 'string') {
      this.#holds.delete(hold.petId)
      this.#mustRelist = true
      this.#isAtEnd = false
      return
    }
    const position = this.#position
    let cursorBefore = hold.cursor
    for (const event of read.events) {
      // The window gets the later events, once the pet is not held any more.
      if (isEarlierCursor(position, event.cursor)) break
      if (petIdOf(event) === hold.petId && receivesEvent(this.webhook, event)) {
        hold.cursor = cursorBefore
        hold.delivery = this.#pending({ event, cursorBefore }, hold.savedFailure)
        hold.savedFailure = undefined
        return
      }
      cursorBefore = event.cursor
    }
    hold.cursor = isEarlierCursor(read.cursor, position) && read.events.length > 0 ? read.cursor : position
  }

  async #deliver(delivery: PendingDelivery): Promise<void> {
    const { sender, clock, hasLease } = this.#dependencies
    const at = clock()
    const request = new AbortController()
    this.#requests.add(request)
    const permit = { signal: request.signal, isValid: () => !request.signal.aborted && hasLease() }
    const secrets = secretsAt(this.webhook, at)
    const result = await sender.send(this.webhook.url, secrets, delivery.message, permit)
    this.#requests.delete(request)
    if (result === undefined) this.#putBack(delivery)
    else this.#settle(delivery, at, result)
    if (this.#requests.size === 0) this.#whenIdle?.()
    this.#proceed()
  }

  #settle(delivery: PendingDelivery, at: number, result: SendResult): void {
    const isDelivered = result.error === undefined
    const attempts = (delivery.failure?.attempts ?? 0) + 1
    if (isDelivered) this.#succeed(delivery)
    else this.#fail(delivery, { at, attempts }, result)
    const isParked = !isDelivered && this.#mustPark(delivery)
    if (isDelivered || isParked) this.#advance(delivery)
    else this.#hold(delivery)
    this.#hasUnsavedProgress = true
    this.#unsavedAttempts.push(attemptOf(delivery.message, { attempt: attempts, at, isParked }, result))
    if (this.#unsavedAttempts.length > 2 * MAX_KEPT_ATTEMPTS) {
      this.#unsavedAttempts = latestAttempts(this.#unsavedAttempts)
    }
    for (const observer of this.#dependencies.observers) {
      observer.attemptFinished?.(isDelivered, result.durationMs)
    }
  }

  #succeed(delivery: PendingDelivery): void {
    const wasDown = this.#isDown
    this.#newFailuresInARow = 0
    this.#probes = 0
    this.#failingSince = undefined
    if (delivery.event.kind === 'relist') this.#relistAt = undefined
    if (wasDown) this.#retryAll()
  }

  #fail(
    delivery: PendingDelivery,
    { at, attempts }: { readonly at: number; readonly attempts: number },
    { status, error = '', retryAfterMs }: SendResult,
  ): void {
    const { clock, retryDelaysMs = RETRY_DELAYS_MS } = this.#dependencies
    const now = clock()
    const delayAfter = (failures: number) => retryDelay(failures, retryDelaysMs, Math.random())
    let retryAt = now + delayAfter(attempts)
    if (retryAfterMs !== undefined) {
      retryAt = now + Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)
      this.#pausedUntil = Math.max(this.#pausedUntil, retryAt)
    }
    if (delivery.failure === undefined) {
      this.#newFailuresInARow++
      if (this.#isProbing) this.#probeAt = now + delayAfter(++this.#probes)
    }
    delivery.failure = { since: delivery.failure?.since ?? at, attempts, retryAt }
    this.#failingSince ??= at
    if (status === GONE) this.#turnOff('the receiver answered 410 Gone')
    else if (now - this.#failingSince >= GIVE_UP_AFTER_MS) {
      const since = new Date(this.#failingSince).toISOString()
      this.#turnOff(`the receiver has accepted nothing since ${since}; the last attempt failed: ${error}`)
    }
  }

  /** A single event that is refused for too long must not hold its pet for ever. A relist cannot be skipped. */
  #mustPark({ event, failure }: PendingDelivery): boolean {
    if (failure === undefined || event.kind === 'relist' || this.#off !== undefined) return false
    return this.#dependencies.clock() - failure.since >= GIVE_UP_AFTER_MS
  }

  #hold(delivery: PendingDelivery): void {
    const hold = this.#holdOf(delivery)
    if (hold !== undefined) {
      hold.isBusy = false
      return
    }
    this.#window.removePetOf(delivery)
    const petId = petIdOf(delivery.event)
    const cursor = delivery.cursorBefore
    this.#holds.set(petId, { petId, cursor, delivery, savedFailure: undefined, isBusy: false })
  }

  /** Continues with the next event of the pet, after this one was delivered or parked. */
  #advance(delivery: PendingDelivery): void {
    const hold = this.#holdOf(delivery)
    if (hold === undefined) {
      this.#window.finish(delivery)
      return
    }
    hold.cursor = delivery.event.cursor
    hold.delivery = undefined
    hold.isBusy = false
  }

  #retryAll(): void {
    this.#probeAt = 0
    for (const { delivery } of this.#holds.values()) {
      if (delivery?.failure !== undefined) delivery.failure = { ...delivery.failure, retryAt: 0 }
    }
  }

  #turnOff(reason: string): void {
    if (this.#off !== undefined) return
    this.#off = { at: this.#dependencies.clock(), reason }
    for (const observer of this.#dependencies.observers) observer.webhookTurnedOff?.(this.webhook, reason)
  }

  get #progress(): WebhookProgress {
    const holds = [...this.#holds.values()]
    const failureOf = ({ delivery, savedFailure }: Hold) => delivery?.failure ?? savedFailure
    const held = holds
      .filter(({ delivery }) => delivery?.event.kind !== 'relist')
      .map((hold): HeldPet => {
        const failure = failureOf(hold)
        return { petId: hold.petId, cursor: hold.cursor, ...(failure === undefined ? {} : { failure }) }
      })
    const retryAt = Math.min(...holds.map((hold) => failureOf(hold)?.retryAt ?? Number.POSITIVE_INFINITY))
    return {
      cursor: this.#window.head?.cursorBefore ?? this.#position,
      held,
      ...(this.#relistAt === undefined ? {} : { relistAt: this.#relistAt }),
      ...(this.#failingSince === undefined ? {} : { failingSince: this.#failingSince }),
      ...(retryAt === Number.POSITIVE_INFINITY ? {} : { retryAt }),
      ...(this.#off === undefined ? {} : { off: this.#off }),
    }
  }

  async #save(): Promise<void> {
    if (this.#saving !== undefined || !this.#hasUnsavedProgress) return
    this.#hasUnsavedProgress = false
    const attempts = latestAttempts(this.#unsavedAttempts)
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

/** The attempts that the store would keep. Parked events stay listed for longer. */
function latestAttempts(attempts: readonly DeliveryAttempt[]): DeliveryAttempt[] {
  const first = attempts.length - MAX_KEPT_ATTEMPTS
  return attempts.filter(({ isParked }, index) => isParked === true || index >= first)
}
