const DATE_STEP_MS = 1_000

/**
 * Estimates the service's clock from the `Date` headers of its responses. Each has whole seconds and was written between
 * the request and the response. Together, the headers narrow the difference to less than a second.
 */
export class ServerClock {
  /** Bounds of the difference between the service's clock and this machine's, in milliseconds. */
  #least = Number.NEGATIVE_INFINITY
  #most = Number.POSITIVE_INFINITY

  /** In milliseconds since 1970; this machine's time until a response has arrived. */
  readonly now = (): number => {
    const ahead = (this.#least + this.#most) / 2
    return Date.now() + (Number.isFinite(ahead) ? ahead : 0)
  }

  /** When something happens on this device: by its own clock, unless that contradicts the service. */
  readonly timeOfAction = (): number => {
    const isRight = this.#least <= 0 && this.#most >= 0
    return isRight ? Date.now() : Math.floor(this.now())
  }

  /** Adds the header `Date` of a response. `sentAt` is the time of its request by this machine's clock. */
  note(date: string | null, sentAt: number, receivedAt = Date.now()): void {
    const time = date === null ? Number.NaN : Date.parse(date)
    if (Number.isNaN(time)) return
    const [least, most] = [time - receivedAt, time + DATE_STEP_MS - sentAt]
    const agrees = least <= this.#most && most >= this.#least
    // One of the clocks was set, so only the latest response counts.
    this.#least = agrees ? Math.max(this.#least, least) : least
    this.#most = agrees ? Math.min(this.#most, most) : most
  }
}
