import { onAbort, type Time } from './waiting.ts'

/** A call that wants to send a request. It keeps its ticket when it retries, so later calls never overtake it. */
export interface Turn {
  readonly ticket: number
  /** By the clock: a call that could only be sent later is refused at once. */
  readonly deadline: number
  readonly signal?: AbortSignal | undefined
  /** The error of a call that is refused because the next request may only be sent at `opensAt`. */
  readonly tooLate: (opensAt: number) => Error
}

/** The rate-limit window as a response reported it; `resetAt` is by the client's clock. */
export interface WindowState {
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
}

/** The right to have one request in flight. Exactly one of the functions is called, once. */
export interface Slot {
  answered(state: WindowState | undefined): void
  failed(): void
}

interface QueueOptions {
  readonly time: Time
  readonly pace: boolean
  readonly concurrency: number
}

interface Waiter {
  readonly turn: Turn
  admit(slot: Slot): void
  refuse(error: unknown): void
}

const AFTER_NEXT_RESPONSE = Number.POSITIVE_INFINITY

/**
 * Every request of a client passes this queue, in the order of the calls. After a Retry-After it holds back all of
 * them. The number in flight is low enough that requests which exceed a limit do not cause a ban; with `pace`, it
 * never exceeds the remaining requests of the window.
 */
export class SendQueue {
  readonly #options: QueueOptions
  readonly #waiters = new Map<number, Waiter>()
  /** The tickets of all waiters, and of some that have left. */
  readonly #tickets = new MinHeap()
  /** No waiter has an earlier deadline. */
  #earliestDeadline = Number.POSITIVE_INFINITY
  #inFlight = 0
  #closedUntil = Number.NEGATIVE_INFINITY
  #window: (WindowState & { readonly serial: number }) | undefined
  #serial = 0
  #alarm: { readonly at: number; readonly stop: AbortController } | undefined

  constructor(options: QueueOptions) {
    this.#options = options
  }

  /** Resolves when the request may be sent; the caller must then send it at once. */
  enter(turn: Turn): Promise<Slot> {
    return new Promise((resolve, reject) => {
      const { ticket, signal, deadline } = turn
      if (signal?.aborted) return reject(signal.reason)
      const removeListener = onAbort(signal, () => {
        removeListener()
        this.#waiters.delete(ticket)
        reject(signal?.reason)
        this.#advance()
      })
      const waiter: Waiter = {
        turn,
        admit: (slot) => {
          removeListener()
          resolve(slot)
        },
        refuse: (error) => {
          removeListener()
          reject(error)
        },
      }
      this.#waiters.set(ticket, waiter)
      this.#tickets.push(ticket)
      this.#earliestDeadline = Math.min(this.#earliestDeadline, deadline)
      this.#advance()
    })
  }

  /** Sends nothing before `until`. Call it before the slot is released, or the next request is sent at once. */
  close(until: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, until)
  }

  #advance(): void {
    while (this.#waiters.size > 0) {
      const now = this.#options.time.clock()
      const opensAt = this.#opensAt(now)
      if (opensAt === AFTER_NEXT_RESPONSE) break
      if (opensAt > now) {
        this.#refuseDueBefore(opensAt)
        if (this.#waiters.size === 0) break
        this.#setAlarm(opensAt, now)
        return
      }
      const { turn, admit, refuse } = this.#takeFirst()
      if (turn.deadline < now) refuse(turn.tooLate(now))
      else admit(this.#openSlot())
    }
    this.#clearAlarm()
  }

  #opensAt(now: number): number {
    const { pace, concurrency } = this.#options
    if (now < this.#closedUntil) return this.#closedUntil
    const window = this.#window
    const most = window === undefined ? concurrency : Math.min(concurrency, Math.ceil(window.limit / 2))
    if (this.#inFlight >= most && this.#inFlight > 0) return AFTER_NEXT_RESPONSE
    if (!pace) return now
    // The state of a new window is unknown until one request has been answered.
    const free = window === undefined || now >= window.resetAt ? 1 : window.remaining
    if (this.#inFlight < free) return now
    return this.#inFlight > 0 || window === undefined ? AFTER_NEXT_RESPONSE : window.resetAt
  }

  #takeFirst(): Waiter {
    for (;;) {
      const ticket = this.#tickets.pop()
      const waiter = this.#waiters.get(ticket)
      if (waiter === undefined) continue
      this.#waiters.delete(ticket)
      return waiter
    }
  }

  #openSlot(): Slot {
    this.#inFlight++
    const sentAt = this.#serial
    return {
      answered: (state) => {
        this.#inFlight--
        if (state !== undefined) this.#update(state, sentAt)
        this.#advance()
      },
      failed: () => {
        this.#inFlight--
        // The service may have counted the request.
        const known = this.#window
        if (known !== undefined) this.#window = { ...known, remaining: Math.max(0, known.remaining - 1) }
        this.#advance()
      },
    }
  }

  /**
   * A response to a request that was sent before the latest response arrived may be older than that response. Of two
   * such responses, the one with fewer remaining requests counts.
   */
  #update(state: WindowState, sentAt: number): void {
    const known = this.#window
    const mayBeOlder = known !== undefined && sentAt < known.serial
    const isCurrent = known !== undefined && this.#options.time.clock() < known.resetAt
    if (mayBeOlder && isCurrent && known.remaining <= state.remaining) return
    this.#window = { ...state, serial: ++this.#serial }
  }

  #refuseDueBefore(opensAt: number): void {
    if (this.#earliestDeadline >= opensAt) return
    this.#earliestDeadline = Number.POSITIVE_INFINITY
    for (const [ticket, { turn, refuse }] of this.#waiters) {
      if (turn.deadline < opensAt) {
        this.#waiters.delete(ticket)
        refuse(turn.tooLate(opensAt))
      } else this.#earliestDeadline = Math.min(this.#earliestDeadline, turn.deadline)
    }
  }

  /** One timer for all waiters, and none without waiters: a timer would keep the program running. */
  #setAlarm(at: number, now: number): void {
    if (at === this.#alarm?.at) return
    this.#clearAlarm()
    const stop = new AbortController()
    this.#alarm = { at, stop }
    const ring = () => {
      if (stop.signal.aborted) return
      this.#alarm = undefined
      this.#advance()
    }
    this.#options.time.sleep(at - now, stop.signal).then(ring, ring)
  }

  #clearAlarm(): void {
    this.#alarm?.stop.abort()
    this.#alarm = undefined
  }
}

/** A binary heap: calls mostly arrive in order of their tickets, and retries come back with lower ones. */
class MinHeap {
  readonly #values: number[] = []

  push(value: number): void {
    const values = this.#values
    let at = values.push(value) - 1
    for (let parent = (at - 1) >> 1; at > 0 && this.#at(parent) > value; parent = (at - 1) >> 1) {
      values[at] = this.#at(parent)
      at = parent
    }
    values[at] = value
  }

  /** Throws if the heap is empty. */
  pop(): number {
    const values = this.#values
    const first = this.#at(0)
    const last = values.pop() ?? first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= values.length) break
      if (child + 1 < values.length && this.#at(child + 1) < this.#at(child)) child++
      if (this.#at(child) >= last) break
      values[at] = this.#at(child)
      at = child
    }
    if (values.length > 0) values[at] = last
    return first
  }

  #at(index: number): number {
    const value = this.#values[index]
    if (value === undefined) throw new Error(`the heap has no value at ${index}: a waiter has no ticket`)
    return value
  }
}
