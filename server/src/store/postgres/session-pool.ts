import { type ReservedSQL, SQL } from 'bun'
import { inTime, isReadOnly, Overloaded } from './failures.ts'

/** What runs on one connection. */
export type Session = ReservedSQL

interface PoolParts {
  readonly options: SQL.PostgresOrMySQLOptions
  /** Called when a connection that was in use, or could have been, is lost; before whoever uses it is told. */
  readonly onLoss: () => void
  /** Asked of each connection before it is used for the first time; one that it throws for is used by nobody. */
  readonly check: (session: Session) => Promise<unknown>
  /** How long a caller waits for a session while none becomes free for anybody. */
  readonly maxStallMs: number
  /** How long a caller waits for a session at most, while others get theirs. */
  readonly maxWaitMs: number
  /** How long opening a connection may take, with its check. */
  readonly maxOpenMs: number
}

interface Waiter {
  readonly since: number
  readonly resolve: (session: Session) => void
  readonly reject: (reason: unknown) => void
}

/** Between one that the server did not give and the next attempt, while there are others. */
const AGAIN_AFTER_MS = 100

/**
 * The connections of one process to one server, opened when they are needed. The one that was used last is used next: its
 * server process has plans and pages at hand. See docs/decisions/2026-11-16-postgres-sessions.md.
 */
export class SessionPool {
  readonly options: SQL.PostgresOrMySQLOptions
  readonly #parts: PoolParts
  readonly #max: number
  readonly #opening = new Set<SQL>()
  /** Each is the only one of a pool of Bun's: what happens to it, or to an attempt to open one, concerns no other. */
  readonly #open = new Map<Session, SQL>()
  #idle: Session[] = []
  #waiting: Waiter[] = []
  #pausedUntil = 0
  #lastHandedOn = 0
  #closedFor: unknown

  constructor(parts: PoolParts) {
    this.options = parts.options
    this.#parts = parts
    this.#max = parts.options.max ?? 1
  }

  /** Whether at least one connection is open. */
  get hasSessions(): boolean {
    return this.#open.size > 0
  }

  /**
   * Fails with `Overloaded` when all sessions stay in use for too long. An urgent caller is served before all who wait.
   */
  async take({ isUrgent = false }: { readonly isUrgent?: boolean } = {}): Promise<Session> {
    const session = this.#idle.pop()
    if (session !== undefined) return session
    if (this.#closedFor !== undefined) throw this.#closedFor
    const { promise, resolve, reject } = Promise.withResolvers<Session>()
    const waiter = { since: performance.now(), resolve, reject }
    if (isUrgent) this.#waiting.unshift(waiter)
    else this.#waiting.push(waiter)
    const timer = setInterval(() => this.#shedIfLate(waiter), this.#parts.maxStallMs)
    this.#openForWaiting()
    try {
      return await promise
    } finally {
      clearInterval(timer)
    }
  }

  /** A session that is not sound is closed. */
  giveBack(session: Session, { isSound }: { readonly isSound: boolean }): void {
    if (isSound && this.#closedFor === undefined && this.#open.has(session)) this.#handOn(session)
    else {
      this.#end(session)
      this.#openForWaiting()
    }
  }

  refuseWaiting(reason: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(reason)
  }

  /** After a session has hung, the unused ones may hang as well: the next callers get new ones. */
  closeIdle(): void {
    for (const session of this.#idle.splice(0)) this.#end(session)
  }

  /** While no session is open, callers wait for the attempt to open one, which has a time limit of its own. */
  #shedIfLate(waiter: Waiter): void {
    if (this.#open.size === 0) return
    const now = performance.now()
    const isStalled = now - this.#lastHandedOn >= this.#parts.maxStallMs
    if (!isStalled && now - waiter.since < this.#parts.maxWaitMs) return
    this.#waiting = this.#waiting.filter((other) => other !== waiter)
    waiter.reject(new Overloaded(now - waiter.since))
  }

  /** Whoever waits for a connection is refused with the reason, and so is whoever uses one for longer than the time-out. */
  async close(timeoutSeconds: number, reason: unknown): Promise<void> {
    this.#closedFor ??= reason
    this.refuseWaiting(reason)
    this.closeIdle()
    const left = [...this.#opening, ...this.#open.values()]
    await Promise.all(left.map((sql) => sql.close({ timeout: timeoutSeconds })))
  }

  #handOn(session: Session): void {
    this.#lastHandedOn = performance.now()
    const next = this.#waiting.shift()
    if (next === undefined) this.#idle.push(session)
    else next.resolve(session)
  }

  #openForWaiting(): void {
    const isPaused = this.#open.size > 0 && performance.now() < this.#pausedUntil
    const isFull = this.#open.size + this.#opening.size >= this.#max
    if (!isPaused && !isFull && this.#opening.size < this.#waiting.length) void this.#openOne()
  }

  async #openOne(): Promise<void> {
    let session: Session | undefined
    // Bun calls it for what was never open as well, and for what was closed here.
    const onclose = () => {
      if (session === undefined || !this.#open.delete(session)) return
      this.#idle = this.#idle.filter((other) => other !== session)
      this.#parts.onLoss()
    }
    const sql = new SQL({ ...this.options, max: 1, onclose })
    this.#opening.add(sql)
    try {
      const opened = await inTime(this.#openChecked(sql), this.#parts.maxOpenMs)
      session = opened
      this.#open.set(opened, sql)
      this.giveBack(opened, { isSound: true })
    } catch (error) {
      sql.close({ timeout: 0 }).catch(() => {})
      this.#goOnWithout(error)
    } finally {
      this.#opening.delete(sql)
    }
  }

  async #openChecked(sql: SQL): Promise<Session> {
    const session = await sql.reserve()
    await this.#parts.check(session)
    return session
  }

  /** Where the server gives no more of them, those wait for the next that is given back who wanted another. */
  #goOnWithout(error: unknown): void {
    this.#pausedUntil = performance.now() + AGAIN_AFTER_MS
    if (this.#open.size === 0 || isReadOnly(error)) this.refuseWaiting(error)
  }

  #end(session: Session): void {
    const sql = this.#open.get(session)
    this.#open.delete(session)
    sql?.close({ timeout: 0 }).catch(() => {})
  }
}
