import { type ReservedSQL, SQL } from 'bun'
import { SECOND } from '../../core/values/clock.ts'
import { isReadOnly, Overloaded, withTimeout } from './failures.ts'

/** One connection to the server. */
export type Session = ReservedSQL

interface PoolParts {
  readonly options: SQL.PostgresOrMySQLOptions
  /** Called when an open connection is lost, before the caller that uses it gets the error. */
  readonly onLoss: () => void
  /** Checks each new connection. If it throws, the connection is not used. */
  readonly check: (session: Session) => Promise<unknown>
  /** The longest time that a caller waits. It waits less if no session becomes free for anyone, see MAX_STALL_MS. */
  readonly maxWaitMs: number
  /** How long opening and checking a connection may take. */
  readonly openTimeoutMs: number
}

interface Waiter {
  readonly since: number
  readonly resolve: (session: Session) => void
  readonly reject: (reason: unknown) => void
}

/** If no session becomes free for any caller within this time, waiting callers are rejected. */
const MAX_STALL_MS = 2 * SECOND
/** The pause after a failed attempt to open a connection. It applies only while other connections are open. */
const REOPEN_AFTER_MS = 100

/**
 * The connections of one process to one server, opened on demand. The connection that was used last is used next, because
 * its server process has warm plans and caches. See docs/decisions/postgres.md.
 */
export class SessionPool {
  readonly options: SQL.PostgresOrMySQLOptions
  readonly #parts: PoolParts
  readonly #max: number
  readonly #opening = new Set<SQL>()
  /** Each session has a separate Bun pool, so that a failure of one session does not affect the others. */
  readonly #open = new Map<Session, SQL>()
  #idle: Session[] = []
  #waiters: Waiter[] = []
  #openingPausedUntil = 0
  #lastHandOverAt = 0
  #closeReason: unknown

  constructor(parts: PoolParts) {
    this.options = parts.options
    this.#parts = parts
    this.#max = parts.options.max ?? 1
  }

  /** Whether at least one connection is open. */
  get hasSessions(): boolean {
    return this.#open.size > 0
  }

  /** Throws `Overloaded` if all sessions stay in use for too long. An urgent caller goes to the front of the queue. */
  async acquire({ isUrgent = false }: { readonly isUrgent?: boolean } = {}): Promise<Session> {
    const session = this.#idle.pop()
    if (session !== undefined) return session
    if (this.#closeReason !== undefined) throw this.#closeReason
    const { promise, resolve, reject } = Promise.withResolvers<Session>()
    const waiter = { since: performance.now(), resolve, reject }
    if (isUrgent) this.#waiters.unshift(waiter)
    else this.#waiters.push(waiter)
    const timer = setInterval(() => this.#rejectIfLate(waiter), MAX_STALL_MS)
    this.#openForWaiters()
    try {
      return await promise
    } finally {
      clearInterval(timer)
    }
  }

  /** Returns a session to the pool. If the session is not reusable, closes it instead. */
  release(session: Session, { isReusable }: { readonly isReusable: boolean }): void {
    if (isReusable && this.#closeReason === undefined && this.#open.has(session)) this.#handOver(session)
    else {
      this.#end(session)
      this.#openForWaiters()
    }
  }

  rejectWaiters(reason: unknown): void {
    for (const { reject } of this.#waiters.splice(0)) reject(reason)
  }

  /** After a session has hung, idle sessions may hang as well, so the next callers get new sessions. */
  closeIdle(): void {
    for (const session of this.#idle.splice(0)) this.#end(session)
  }

  /** Rejects a caller that has waited for too long. */
  #rejectIfLate(waiter: Waiter): void {
    // While no session is open, callers wait for the attempt to open a session, which has its own timeout.
    if (this.#open.size === 0) return
    const now = performance.now()
    const isStalled = now - this.#lastHandOverAt >= MAX_STALL_MS
    if (!isStalled && now - waiter.since < this.#parts.maxWaitMs) return
    this.#waiters = this.#waiters.filter((other) => other !== waiter)
    const seconds = ((now - waiter.since) / SECOND).toFixed(1)
    waiter.reject(new Overloaded(`no database session became free within ${seconds} s`))
  }

  /** Rejects waiting callers at once. Callers that use a session have until the timeout to finish. */
  async close(timeoutSeconds: number, reason: unknown): Promise<void> {
    this.#closeReason ??= reason
    this.rejectWaiters(reason)
    this.closeIdle()
    const remaining = [...this.#opening, ...this.#open.values()]
    await Promise.all(remaining.map((sql) => sql.close({ timeout: timeoutSeconds })))
  }

  #handOver(session: Session): void {
    this.#lastHandOverAt = performance.now()
    const next = this.#waiters.shift()
    if (next === undefined) this.#idle.push(session)
    else next.resolve(session)
  }

  #openForWaiters(): void {
    const isPaused = this.#open.size > 0 && performance.now() < this.#openingPausedUntil
    const isFull = this.#open.size + this.#opening.size >= this.#max
    if (!isPaused && !isFull && this.#opening.size < this.#waiters.length) void this.#openSession()
  }

  async #openSession(): Promise<void> {
    let session: Session | undefined
    // Bun also calls this for connections that never opened, and for connections that the pool has closed.
    const onclose = () => {
      if (session === undefined || !this.#open.delete(session)) return
      this.#idle = this.#idle.filter((other) => other !== session)
      this.#parts.onLoss()
    }
    const sql = new SQL({ ...this.options, max: 1, onclose })
    this.#opening.add(sql)
    try {
      const opened = await withTimeout(this.#openAndCheck(sql), this.#parts.openTimeoutMs)
      session = opened
      this.#open.set(opened, sql)
      this.release(opened, { isReusable: true })
    } catch (error) {
      sql.close({ timeout: 0 }).catch(() => {})
      this.#handleFailedOpening(error)
    } finally {
      this.#opening.delete(sql)
    }
  }

  async #openAndCheck(sql: SQL): Promise<Session> {
    const session = await sql.reserve()
    await this.#parts.check(session)
    return session
  }

  /**
   * If other sessions are open and the server is not read-only, callers keep waiting for one of them. Otherwise they
   * are rejected.
   */
  #handleFailedOpening(error: unknown): void {
    this.#openingPausedUntil = performance.now() + REOPEN_AFTER_MS
    if (this.#open.size === 0 || isReadOnly(error)) this.rejectWaiters(error)
  }

  #end(session: Session): void {
    const sql = this.#open.get(session)
    this.#open.delete(session)
    sql?.close({ timeout: 0 }).catch(() => {})
  }
}
