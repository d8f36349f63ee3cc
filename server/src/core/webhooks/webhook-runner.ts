import type { StockEvent } from '../stock/stock-event.ts'
import type { Clock } from '../values/clock.ts'
import type { DeliveryObserver } from './delivery-observer.ts'
import { type DeliverySlots, MAX_AT_ONCE } from './delivery-slots.ts'
import { DeliveryWindow, Pending } from './delivery-window.ts'
import { GIVE_UP_AFTER_MS, pauseAfter } from './retry-schedule.ts'
import type { Message, SendResult, WebhookSender } from './sender.ts'
import { EVENTS_A_READ, type SharedLog } from './shared-log.ts'
import { kindOf, secretsAt, type Webhook, type WebhookProgress } from './webhook.ts'
import { attemptOf, type DeliveryAttempt, type DeliveryStore, MAX_KEPT_DELIVERIES } from './webhook-store.ts'

/** What is in memory of a webhook, and what a crash may have delivered again. */
const MAX_WINDOW = 512
/** How long a receiver may ask for with Retry-After. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1_000
const GONE = 410

export interface RunnerParts {
  readonly store: Pick<DeliveryStore, 'latestEventCursor' | 'saveProgress'>
  readonly log: SharedLog
  readonly slots: DeliverySlots
  readonly sender: WebhookSender
  readonly messageOf: (event: StockEvent, at: number) => Message
  readonly pausesMs: readonly number[]
  readonly clock: Clock
  readonly observers: readonly DeliveryObserver[]
  /** Whether the webhook is still ours: nothing is sent where it may be another's. */
  readonly isOurs: () => boolean
}

interface Wanted {
  readonly event: StockEvent
  readonly before: string
}

/**
 * Delivers for one webhook, from its place in the log on: several at once, those of one pet one after the other. What
 * fails waits, and with it what comes after it of the same pet; others go on as far as the window reaches. A receiver
 * that takes nothing any more is tried with the first of them alone.
 */
export class WebhookRunner {
  readonly webhook: Webhook
  readonly #parts: RunnerParts
  readonly #window = new DeliveryWindow()
  /** Read from the log, and not in the window yet. */
  readonly #next: Wanted[] = []
  /** Up to here the log has been read. */
  #cursor: string
  #relistAt: number | undefined
  /** How far the first had come before we took over. */
  #resumed: WebhookProgress['failure']
  #off: WebhookProgress['off']
  #attempts: DeliveryAttempt[] = []
  #sending = 0
  #failuresInARow = 0
  /** Until then the receiver wants to be left alone. */
  #heldUntil = 0
  #lastTick = 0
  #isFilling = false
  /** Why nothing could be read; it is tried again with the next tick. */
  #trouble: unknown
  #isAtEnd = false
  #isStopping = false
  #isChanged = false
  #saving: Promise<void> | undefined
  #whenIdle: (() => void) | undefined

  constructor(webhook: Webhook, parts: RunnerParts) {
    this.webhook = webhook
    this.#parts = parts
    const { cursor, relistAt, failure } = webhook.progress
    this.#cursor = cursor
    this.#resumed = failure
    if (failure !== undefined) this.#failuresInARow = MAX_AT_ONCE
    if (relistAt !== undefined) this.#tellRelist(cursor, relistAt)
  }

  /** The log ends here by now. */
  wake(end: string): void {
    if (this.#isAtEnd && end === this.#cursor) return
    this.#isAtEnd = false
    this.#goOn()
  }

  /** Looks at the clock; called every now and then. */
  async tick(): Promise<void> {
    const now = this.#parts.clock()
    if (now < this.#lastTick) {
      // The clock was set back: nobody knows for how long what waits has waited.
      this.#heldUntil = 0
      this.#window.retry()
    } else if (!this.#isDown || (this.#window.head?.retryAt ?? now) <= now) this.#window.retry(now)
    this.#lastTick = now
    this.#goOn()
    await this.#save()
    const trouble = this.#trouble
    this.#trouble = undefined
    if (trouble !== undefined) throw trouble
  }

  /** Sends nothing more, and writes down how far it came once what is under way is over. */
  async stop(): Promise<void> {
    this.#isStopping = true
    if (this.#sending > 0) {
      await new Promise<void>((resolve) => {
        this.#whenIdle = resolve
      })
    }
    await this.#saving?.catch(() => {})
    await this.#save()
  }

  get #isDown(): boolean {
    return this.#failuresInARow >= MAX_AT_ONCE
  }

  get #isOver(): boolean {
    return this.#isStopping || this.#off !== undefined || !this.#parts.isOurs()
  }

  #goOn(): void {
    this.#dispatch()
    const isMore = this.#next.length > 0 || !this.#isAtEnd
    if (isMore && !this.#isOver && !this.#isFilling && this.#window.size < MAX_WINDOW / 2) {
      void this.#fill()
    }
  }

  readonly #dispatch = (): void => {
    const { slots, clock } = this.#parts
    const now = clock()
    while (now >= this.#heldUntil && !this.#isOver && slots.hasRoom(this.#sending, this.#dispatch)) {
      const pending = this.#isDown ? this.#window.takeHead() : this.#window.take()
      if (pending === undefined) return
      this.#sending++
      slots.take()
      void this.#deliver(pending)
    }
  }

  async #fill(): Promise<void> {
    this.#isFilling = true
    try {
      while (!this.#isOver && this.#window.size < MAX_WINDOW) {
        if (this.#next.length === 0 && !(await this.#read())) break
        this.#takeNext()
        // What has to be alone waits until it is.
        if (this.#next.length > 0 && this.#window.size < MAX_WINDOW) break
      }
    } catch (error) {
      this.#trouble = error
    }
    this.#isFilling = false
    this.#dispatch()
  }

  /** Whether there was anything to read. */
  async #read(): Promise<boolean> {
    const found = await this.#parts.log.eventsAfter(this.#cursor)
    if (typeof found === 'string') {
      // The place is gone. What was read from before that is still delivered first.
      if (this.#window.size > 0) return false
      this.#cursor = await this.#parts.store.latestEventCursor()
      this.#tellRelist(this.#cursor, this.#parts.clock())
      return true
    }
    let before = this.#cursor
    for (const event of found.events) {
      const kind = kindOf(event)
      if (kind === 'relist' || (kind !== undefined && this.webhook.kinds.includes(kind)))
        this.#next.push({ event, before })
      before = event.cursor
    }
    if (found.cursor !== this.#cursor) this.#isChanged = true
    this.#cursor = found.cursor
    this.#isAtEnd = found.events.length < EVENTS_A_READ
    return found.events.length > 0
  }

  #takeNext(): void {
    while (this.#window.size < MAX_WINDOW) {
      const wanted = this.#next[0]
      if (wanted === undefined || this.#relistAt !== undefined) return
      if (wanted.event.kind === 'relist') {
        if (this.#window.size > 0) return
        this.#next.shift()
        this.#tellRelist(wanted.event.cursor, this.#parts.clock())
        return
      }
      this.#next.shift()
      this.#add(wanted)
    }
  }

  /** Everything up to the cursor is told by this alone. */
  #tellRelist(cursor: string, at: number): void {
    this.#relistAt = at
    this.#isChanged = true
    this.#add({ event: { kind: 'relist', cursor }, before: cursor })
  }

  #add({ event, before }: Wanted): void {
    const message = this.#parts.messageOf(event, this.#relistAt ?? this.#parts.clock())
    const pending = new Pending(event, before, message)
    if (this.#resumed !== undefined) {
      const { attempts, since, retryAt } = this.#resumed
      const latest = this.#parts.clock() + MAX_RETRY_AFTER_MS
      Object.assign(pending, { attempts, failingSince: since, retryAt: Math.min(retryAt, latest) })
      this.#resumed = undefined
    }
    this.#window.add(pending)
  }

  async #deliver(pending: Pending): Promise<void> {
    const { sender, clock, observers, slots } = this.#parts
    const at = clock()
    const result = await sender.send(this.webhook.url, secretsAt(this.webhook, at), pending.message)
    pending.attempts++
    this.#sending--
    slots.free()
    this.#isChanged = true
    this.#note(pending, at, result)
    const isDelivered = result.error === undefined
    for (const observer of observers) observer.deliveryFinished?.(isDelivered, result.durationMs)
    if (isDelivered) this.#delivered(pending)
    else this.#failed(pending, at, result)
    if (this.#sending === 0) this.#whenIdle?.()
    this.#goOn()
  }

  #delivered(pending: Pending): void {
    const wasDown = this.#isDown
    this.#failuresInARow = 0
    if (pending.event.kind === 'relist') this.#relistAt = undefined
    this.#window.delivered(pending)
    if (wasDown) this.#window.retry()
  }

  #failed(pending: Pending, at: number, { status, error = '', retryAfterMs }: SendResult): void {
    this.#failuresInARow++
    pending.failingSince ??= at
    this.#window.failed(pending)
    const now = this.#parts.clock()
    if (status === GONE) this.#turnOff('the receiver answered 410 Gone')
    else if (now - pending.failingSince >= GIVE_UP_AFTER_MS) {
      const since = new Date(pending.failingSince).toISOString()
      this.#turnOff(`nothing was taken since ${since}; the last attempt failed: ${error}`)
    } else if (retryAfterMs !== undefined) {
      pending.retryAt = now + Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)
      this.#heldUntil = Math.max(this.#heldUntil, pending.retryAt)
    } else pending.retryAt = now + pauseAfter(pending.attempts, this.#parts.pausesMs, Math.random())
  }

  #turnOff(reason: string): void {
    if (this.#off !== undefined) return
    this.#off = { at: this.#parts.clock(), reason }
    for (const observer of this.#parts.observers) observer.webhookTurnedOff?.(this.webhook, reason)
  }

  #note({ message, attempts }: Pending, at: number, result: SendResult): void {
    this.#attempts.push(attemptOf(message, attempts, at, result))
    if (this.#attempts.length > 2 * MAX_KEPT_DELIVERIES)
      this.#attempts = this.#attempts.slice(-MAX_KEPT_DELIVERIES)
  }

  get #progress(): WebhookProgress {
    const { head } = this.#window
    const failure = head?.failure
    return {
      cursor: head?.before ?? this.#next[0]?.before ?? this.#cursor,
      ...(this.#relistAt === undefined ? {} : { relistAt: this.#relistAt }),
      ...(failure === undefined ? {} : { failure }),
      ...(this.#off === undefined ? {} : { off: this.#off }),
    }
  }

  async #save(): Promise<void> {
    if (this.#saving !== undefined || !this.#isChanged) return
    this.#isChanged = false
    const attempts = this.#attempts.slice(-MAX_KEPT_DELIVERIES)
    this.#attempts = []
    this.#saving = this.#parts.store.saveProgress(this.webhook, this.#progress, attempts).then(
      (isOurs) => {
        // Somebody changed it, or serves it: what we know of it is over.
        if (!isOurs) this.#isStopping = true
      },
      (error: unknown) => {
        this.#isChanged = true
        this.#attempts = [...attempts, ...this.#attempts]
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
