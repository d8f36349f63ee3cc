import type { Time } from './waiting.ts'

/** One call's place in the queue. It keeps its ticket when it is sent again, so that nobody overtakes it. */
export interface Turn {
  readonly ticket: number
  /** By the clock: whoever could only be sent later than this is turned away at once. */
  readonly deadline: number
  readonly signal?: AbortSignal | undefined
  readonly tooLate: (opensAt: number) => Error
}

/** What an answer tells of the window, `resetAt` being by the clock here. */
export interface Standing {
  readonly limit: number
  readonly remaining: number
  readonly resetAt: number
}

/** For one request under way. Exactly one of the two is called, once. */
export interface Passage {
  answered(standing: Standing | undefined): void
  failed(): void
}

interface GateOptions {
  readonly time: Time
  readonly pace: boolean
  readonly concurrency: number
}

interface Waiter extends Turn {
  readonly admit: (passage: Passage) => void
  readonly refuse: (error: unknown) => void
}

const NOT_BEFORE_AN_ANSWER = Number.POSITIVE_INFINITY

/**
 * What every request of one client goes through, in the order of the calls. It is shut for all of them while
 * the service has told one of them to wait. So few are under way at a time that the ones which a limit catches
 * are far from enough for a ban; and where it paces, not more than the service has said are left.
 */
export class SendGate {
  readonly #options: GateOptions
  #queue: Waiter[] = []
  #underWay = 0
  #shutUntil = Number.NEGATIVE_INFINITY
  #standing: (Standing & { readonly serial: number }) | undefined
  #serial = 0
  #alarm: { readonly at: number; readonly stop: AbortController } | undefined

  constructor(options: GateOptions) {
    this.#options = options
  }

  /** Resolves when the request may be sent, which then has to be done at once. */
  enter(turn: Turn): Promise<Passage> {
    return new Promise((resolve, reject) => {
      const { signal } = turn
      if (signal?.aborted) return reject(signal.reason)
      const abort = () => {
        this.#queue = this.#queue.filter((other) => other !== waiter)
        reject(signal?.reason)
        this.#advance()
      }
      const leave = () => signal?.removeEventListener('abort', abort)
      const waiter: Waiter = {
        ...turn,
        admit: (passage) => {
          leave()
          resolve(passage)
        },
        refuse: (error) => {
          leave()
          reject(error)
        },
      }
      signal?.addEventListener('abort', abort, { once: true })
      const behind = this.#queue.findIndex((other) => other.ticket > turn.ticket)
      this.#queue.splice(behind === -1 ? this.#queue.length : behind, 0, waiter)
      this.#advance()
    })
  }

  /** Nothing is sent before `until`. Called before the passage is ended, or the next would slip through. */
  shut(until: number): void {
    this.#shutUntil = Math.max(this.#shutUntil, until)
  }

  #advance(): void {
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const now = this.#options.time.clock()
      const opensAt = this.#opensAt(now)
      if (opensAt === NOT_BEFORE_AN_ANSWER) break
      if (opensAt > now) {
        this.#turnAwayBefore(opensAt)
        if (this.#queue.length === 0) break
        this.#setAlarm(opensAt, now)
        return
      }
      this.#queue.shift()
      if (next.deadline < now) next.refuse(next.tooLate(now))
      else next.admit(this.#begin())
    }
    this.#clearAlarm()
  }

  #opensAt(now: number): number {
    const { pace, concurrency } = this.#options
    if (now < this.#shutUntil) return this.#shutUntil
    const standing = this.#standing
    const most = standing === undefined ? concurrency : Math.min(concurrency, Math.ceil(standing.limit / 2))
    if (this.#underWay >= most && this.#underWay > 0) return NOT_BEFORE_AN_ANSWER
    if (!pace) return now
    // Nothing is known of a window that has yet to begin: one request goes ahead and finds out.
    const free = standing === undefined || now >= standing.resetAt ? 1 : standing.remaining
    if (this.#underWay < free) return now
    return this.#underWay > 0 || standing === undefined ? NOT_BEFORE_AN_ANSWER : standing.resetAt
  }

  #begin(): Passage {
    this.#underWay++
    const sentAt = this.#serial
    return {
      answered: (standing) => {
        this.#underWay--
        if (standing !== undefined) this.#learn(standing, sentAt)
        this.#advance()
      },
      failed: () => {
        this.#underWay--
        // It may have been counted.
        const known = this.#standing
        if (known !== undefined) this.#standing = { ...known, remaining: Math.max(0, known.remaining - 1) }
        this.#advance()
      },
    }
  }

  /**
   * The answer to a request that was sent before the last answer came may be older than that one: of two such
   * the smaller rest counts. Any other is newer.
   */
  #learn(standing: Standing, sentAt: number): void {
    const known = this.#standing
    const mayBeOlder = known !== undefined && sentAt < known.serial
    const holds = known !== undefined && this.#options.time.clock() < known.resetAt
    if (mayBeOlder && holds && known.remaining <= standing.remaining) return
    this.#standing = { ...standing, serial: ++this.#serial }
  }

  #turnAwayBefore(opensAt: number): void {
    const late = this.#queue.filter((waiter) => waiter.deadline < opensAt)
    this.#queue = this.#queue.filter((waiter) => waiter.deadline >= opensAt)
    for (const waiter of late) waiter.refuse(waiter.tooLate(opensAt))
  }

  /** One timer for all that wait, and none where nobody does: it would keep a program from ending. */
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
