import { type Time, unlessAborted } from './waiting.ts'

/** A call that wants to send a request. */
export interface Turn {
  /** By the clock: a call that could only be sent later is refused at once. */
  readonly deadline: number
  readonly signal?: AbortSignal | undefined
  /** The error of a call that is refused because the next request may only be sent at `opensAt`. */
  readonly tooLate: (opensAt: number) => Error
}

/**
 * Every request of a client passes this queue: a semaphore, and the time until which a Retry-After closes it. The number
 * in flight is low enough that requests which exceed a limit do not cause a ban.
 */
export class SendQueue {
  readonly #time: Time
  readonly #concurrency: number
  readonly #waiters = new Set<() => void>()
  #inFlight = 0
  #closedUntil = Number.NEGATIVE_INFINITY
  #limit = Number.POSITIVE_INFINITY

  constructor(time: Time, concurrency: number) {
    this.#time = time
    this.#concurrency = concurrency
  }

  /** Resolves when the request may be sent. The caller must then send it at once, and call `leave` once. */
  async enter({ deadline, signal, tooLate }: Turn): Promise<void> {
    try {
      for (;;) {
        signal?.throwIfAborted()
        const now = this.#time.clock()
        const opensAt = Math.max(now, this.#closedUntil)
        if (deadline < opensAt) throw tooLate(opensAt)
        if (opensAt > now) await this.#time.sleep(opensAt - now, signal)
        else if (this.#inFlight < this.#most) break
        else await this.#nextTurn(signal)
      }
    } catch (error) {
      // The call may have been woken for a place that it no longer takes.
      this.#wakeNext()
      throw error
    }
    this.#inFlight++
  }

  leave(): void {
    this.#inFlight--
    this.#wakeNext()
  }

  /** Sends nothing before `until`. Call it before `leave`, or the next request is sent at once. */
  close(until: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, until)
    // Those that cannot wait until then are refused now.
    while (this.#waiters.size > 0) this.#wakeNext()
  }

  /** Keeps the number of requests in flight at half of the limit of the key. */
  obey(limit: number): void {
    this.#limit = limit
  }

  get #most(): number {
    return Math.min(this.#concurrency, Math.ceil(this.#limit / 2))
  }

  async #nextTurn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiters.add(resolve)
    await unlessAborted(promise, signal).finally(() => this.#waiters.delete(resolve))
  }

  #wakeNext(): void {
    const [first] = this.#waiters
    if (first === undefined) return
    this.#waiters.delete(first)
    first()
  }
}
