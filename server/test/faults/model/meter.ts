/** The expected rate-limit headers, and the rejection, if any. */
export interface Verdict {
  readonly limit: number
  readonly remaining: number
  /** In Unix seconds. */
  readonly reset: number
  readonly refusal?: { readonly code: 'rate_limit_exceeded' | 'key_banned'; readonly wait: number }
}

export interface Allowance {
  readonly perMinute: number
  readonly perDay: number
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 86_400 * SECOND
const SHORTEST_BAN = 5 * MINUTE
const LONGEST_BAN = 60 * MINUTE

const secondOf = (time: number) => time - (time % SECOND)

/** Begins at the second of its first request, and ends after its length. */
class Span {
  readonly #length: number
  #opened = 0
  served = 0
  refused = 0
  #firstRefusal: number | undefined

  constructor(length: number) {
    this.#length = length
  }

  get closes(): number {
    return this.#opened + this.#length
  }

  look(time: number): void {
    if (time < this.closes) return
    this.served = 0
    this.forgetRefusals()
  }

  serve(time: number): void {
    if (this.served === 0) this.#opened = secondOf(time)
    this.served += 1
  }

  /** Counts from a second after the first one, because only then the client knows of it. */
  refuse(time: number): void {
    this.#firstRefusal ??= time
    if (time >= this.#firstRefusal + SECOND) this.refused += 1
  }

  forgetRefusals(): void {
    this.refused = 0
    this.#firstRefusal = undefined
  }

  /** For a caller without a stored time: a clock that was set back restarts the span, with its count. */
  reopen(time: number): void {
    if (time < this.#opened) this.#opened = secondOf(time)
  }
}

/**
 * The limits of one key, by SPEC.md and the decisions on limits and clocks. It has its own time, which never
 * goes back: if the clock does, the key is ahead of it from then on, by whole seconds.
 */
export class KeyMeter {
  readonly #minute = new Span(MINUTE)
  readonly #day = new Span(DAY)
  readonly #allowance: Allowance
  #ahead = 0
  #latest = 0
  #ban: { readonly length: number; readonly ends: number } | undefined

  constructor(allowance: Allowance) {
    this.#allowance = allowance
  }

  /** The clock was seen to go back. */
  clockWentBack(by: number): void {
    if (by >= SECOND) this.#ahead += secondOf(by)
  }

  ask(now: number): Verdict {
    const time = this.#timeAt(now)
    const { perMinute, perDay } = this.#allowance
    this.#minute.look(time)
    this.#day.look(time)
    if (this.#ban !== undefined && time < this.#ban.ends) return this.#banned(time)
    const isMinuteFull = this.#minute.served >= perMinute
    const isDayFull = this.#day.served >= perDay
    if (isDayFull && !(isMinuteFull && this.#endsMinuteLater)) return this.#refuse(this.#day, perDay, time)
    if (isMinuteFull) return this.#refuse(this.#minute, perMinute, time)
    this.#minute.serve(time)
    this.#day.serve(time)
    const [inMinute, inDay] = [perMinute - this.#minute.served, perDay - this.#day.served]
    const isDayTighter = inDay === inMinute ? !this.#endsMinuteLater : inDay < inMinute
    return isDayTighter
      ? { limit: perDay, remaining: inDay, reset: this.#onTheClock(this.#day.closes) }
      : { limit: perMinute, remaining: inMinute, reset: this.#onTheClock(this.#minute.closes) }
  }

  /** Of two windows with equally many requests left, the one that ends later counts: it admits the next request. */
  get #endsMinuteLater(): boolean {
    return this.#minute.closes > this.#day.closes
  }

  #refuse(span: Span, limit: number, time: number): Verdict {
    span.refuse(time)
    if (span.refused < this.#allowance.perMinute) {
      const refusal = { code: 'rate_limit_exceeded', wait: waitFor(span.closes, time) } as const
      return { limit, remaining: 0, reset: this.#onTheClock(span.closes), refusal }
    }
    span.forgetRefusals()
    const isRemembered = this.#ban !== undefined && time < this.#ban.ends + DAY
    const length = isRemembered ? Math.min(2 * (this.#ban?.length ?? 0), LONGEST_BAN) : SHORTEST_BAN
    this.#ban = { length, ends: secondOf(time) + length }
    return this.#banned(time)
  }

  /** Nothing succeeds before the ban has ended, nor before an exhausted day has. */
  #banned(time: number): Verdict {
    const { perMinute, perDay } = this.#allowance
    const banEnds = this.#ban?.ends ?? time
    const isDayLonger = this.#day.served >= perDay && this.#day.closes > banEnds
    const ends = isDayLonger ? this.#day.closes : banEnds
    return {
      limit: isDayLonger ? perDay : perMinute,
      remaining: 0,
      reset: this.#onTheClock(ends),
      refusal: { code: 'key_banned', wait: waitFor(ends, time) },
    }
  }

  #timeAt(now: number): number {
    const behind = this.#latest - (now + this.#ahead)
    this.clockWentBack(behind)
    this.#latest = Math.max(this.#latest, now + this.#ahead)
    return this.#latest
  }

  #onTheClock(time: number): number {
    return (time - this.#ahead) / SECOND
  }
}

/** Requests without a valid key from one address: a minute window, and no ban. */
export class StrangerMeter {
  readonly #minute = new Span(MINUTE)
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Changes nothing. */
  isOver(now: number): boolean {
    return now < this.#minute.closes && this.#minute.served >= this.#limit
  }

  ask(now: number): Verdict {
    this.#minute.look(now)
    this.#minute.reopen(now)
    const isOver = this.isOver(now)
    if (!isOver) this.#minute.serve(now)
    return {
      limit: this.#limit,
      remaining: this.#limit - this.#minute.served,
      reset: this.#minute.closes / SECOND,
      ...(isOver
        ? { refusal: { code: 'rate_limit_exceeded', wait: waitFor(this.#minute.closes, now) } }
        : {}),
    }
  }
}

function waitFor(end: number, now: number): number {
  return Math.max(1, Math.ceil((end - now) / SECOND))
}
