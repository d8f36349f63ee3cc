const DATE_STEP_MS = 1_000

/**
 * The time on the service's clock, as the `Date` headers of its answers tell it. Each tells whole seconds, and was
 * written between the request and its answer: what all of them leave open is less than a second.
 */
export class ServerClock {
  /** How far the service's clock is ahead of this machine's, at least and at most, in milliseconds. */
  #least = Number.NEGATIVE_INFINITY
  #most = Number.POSITIVE_INFINITY

  /** In milliseconds since 1970; this machine's own time until the service has told. */
  readonly now = (): number => {
    const ahead = (this.#least + this.#most) / 2
    return Date.now() + (Number.isFinite(ahead) ? ahead : 0)
  }

  /** Takes the header `Date` of an answer, and when its request went out by this machine's clock. */
  note(date: string | null, sentAt: number, receivedAt = Date.now()): void {
    const told = date === null ? Number.NaN : Date.parse(date)
    if (Number.isNaN(told)) return
    const [least, most] = [told - receivedAt, told + DATE_STEP_MS - sentAt]
    const agrees = least <= this.#most && most >= this.#least
    // Where one of the clocks was set, only the latest answer counts.
    this.#least = agrees ? Math.max(this.#least, least) : least
    this.#most = agrees ? Math.min(this.#most, most) : most
  }
}
