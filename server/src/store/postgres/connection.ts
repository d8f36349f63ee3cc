import { SQL } from 'bun'
import { SECOND } from '../../core/values/clock.ts'
import type { Durability, SqlDatabase, SqlValue, Statement } from '../sql.ts'
import { type Host, optionsFrom, type PostgresSettings, readAddress } from './connection-options.ts'
import { DIALECT, toParameter } from './dialect.ts'
import {
  AnswerTimeout,
  hasState,
  isConnectionLost,
  isDuplicateKey,
  isOurFault,
  isReadOnly,
  Overloaded,
  TOO_MANY_CONNECTIONS,
  toServiceError,
  unavailable,
  unusableHosts,
  withTimeout,
} from './failures.ts'
import {
  checkAcceptsWrites,
  PostgresLongSession,
  runAll,
  transact,
  transactInTwoRoundTrips,
} from './session.ts'
import { type Session, SessionPool } from './session-pool.ts'

/** If the database does not answer a probe within this time, it counts as unavailable. */
const PROBE_GRACE_MS = 300
/** Added to the server's statement timeout, so that ours applies only if the server's answer does not arrive. */
const TIMEOUT_MARGIN_MS = 2 * SECOND
/** How long a caller waits while no session becomes free for any caller. */
const MAX_STALL_MS = 2 * SECOND
/** A live process sends its next statement much sooner, even on a busy machine. */
const MAX_PAUSE_MS = 5 * SECOND
const CLOSED = new Error('the store is closed')

type AcquireOptions = { readonly isUrgent?: boolean }
type Explain = (database: Pick<SqlDatabase, 'rows'>) => Promise<unknown>

/**
 * The session pool of the PostgreSQL host that accepts writes. While no host does, callers are refused at once, and probes
 * find out when the host is back or which other host has been promoted.
 */
export class Connection implements SqlDatabase {
  readonly dialect = DIALECT
  readonly #addresses: readonly Host[]
  readonly #hosts: readonly SQL.PostgresOrMySQLOptions[]
  readonly #mayBeReadOnly: boolean
  readonly #explain: Explain
  readonly #statementMs: number
  readonly #timeoutMs: number
  readonly #connectMs: number
  #check: (session: Session) => Promise<unknown> = checkAcceptsWrites
  #pool: SessionPool
  #problem: unknown
  /** Why no host accepted writes, if a read-only one is used instead. */
  #readOnlyReason: unknown
  #isUnavailable = false
  #isProbing = false
  #isClosed = false
  #lossCount = 0

  /**
   * Starts with the first host; `connect` finds the host that accepts writes. `explain` returns the reason if the database
   * refuses a statement because of its own state.
   */
  constructor(url: string, settings: PostgresSettings, explain: Explain = async () => undefined) {
    this.#explain = explain
    this.#addresses = readAddress(url).hosts
    this.#hosts = optionsFrom(url, settings)
    this.#mayBeReadOnly = settings.mayBeReadOnly === true
    this.#connectMs = settings.connectTimeoutSeconds * SECOND
    this.#statementMs = settings.statementTimeoutSeconds * SECOND
    this.#timeoutMs = this.#statementMs + TIMEOUT_MARGIN_MS
    const [first] = this.#hosts
    if (first === undefined) throw new Error('DATABASE_URL does not name a host')
    this.#pool = this.#newPool(first)
  }

  /** Finds the host that accepts writes. If there is none and the settings allow it, uses a read-only one. */
  async connect(): Promise<void> {
    try {
      this.#use(await this.#findHost())
    } catch (error) {
      if (!this.#mayBeReadOnly || !isReadOnly(error)) throw error
      this.#readOnlyReason = error
      this.#check = async () => {}
      this.#use(await this.#findHost())
    }
  }

  /** Changes when a connection was lost: the server may have crashed. */
  get lossCount(): number {
    return this.#lossCount
  }

  /** The maximum number of sessions. */
  get poolSize(): number {
    return this.#pool.options.max ?? 1
  }

  /**
   * Runs statements on one session, each as its own transaction. The timeout starts when the session is available: waiting
   * for a session has its own timeout and says nothing about the database.
   */
  async run<T>(work: (session: Session) => Promise<T>, options: AcquireOptions = {}): Promise<T> {
    this.#requireAvailable()
    return this.guard(() => this.#onSession(this.#pool, work, options))
  }

  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.run((sql) => sql.unsafe<Row[]>(text, values.map(toParameter)))
  }

  commit(statements: readonly Statement[], durability: Durability = 'durable'): Promise<number[]> {
    return this.run((session) => transact(session, durability, () => runAll(session, statements)))
  }

  /** Runs statements in one transaction, which is on disk when the promise resolves. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.run((session) => transact(session, 'durable', work))
  }

  /** A transaction of two round trips. Without `maxLockWaitMs`, it waits for locks until the statement timeout. */
  readThenWrite<Found>(
    durability: Durability,
    read: (session: Session) => Promise<Found>,
    write: (session: Session, found: Found) => Promise<unknown> | undefined,
    maxLockWaitMs?: number,
  ): Promise<void> {
    return this.run((session) => transactInTwoRoundTrips(session, durability, read, write, maxLockWaitMs))
  }

  /** Throws while no host accepts writes. */
  requireWritable(): void {
    this.#requireAvailable()
    if (this.#readOnlyReason !== undefined) throw unavailable(this.#readOnlyReason)
  }

  async longSession(options: AcquireOptions = {}): Promise<PostgresLongSession> {
    this.#requireAvailable()
    const pool = this.#pool
    const session = await this.guard(() => pool.acquire(options))
    const close = async () => {
      const isSound = await session`ROLLBACK`.then(
        () => true,
        () => false,
      )
      pool.release(session, { isSound })
    }
    return new PostgresLongSession({ session, close, guard: (work) => this.guard(work), maxPauseMs: 0 })
  }

  /**
   * A session outside the pool. Closing it ends the connection, with its settings and temporary tables. If this process is
   * suspended while it writes, the server rolls back before other callers that wait for its locks time out.
   */
  async separateSession(): Promise<PostgresLongSession> {
    const pool = new SQL({ ...this.#pool.options, max: 1 })
    const close = () => pool.close({ timeout: 0 })
    const session = await this.guard(() => withTimeout(pool.reserve(), this.#timeoutMs)).catch(
      (error: unknown) => {
        close().catch(() => {})
        throw error
      },
    )
    const maxPauseMs = Math.min(MAX_PAUSE_MS, this.#statementMs / 2)
    return new PostgresLongSession({ session, close, guard: (work) => this.guard(work), maxPauseMs })
  }

  /** Runs work on a session and turns its errors into errors for callers. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    const pool = this.#pool
    try {
      return await work()
    } catch (error) {
      // An abandoned pool says nothing about the current one, nor does a server that refuses one more connection.
      const isOneTooMany = hasState(error, TOO_MANY_CONNECTIONS) && pool.hasSessions
      if (isConnectionLost(error) && pool === this.#pool && !isOneTooMany) this.#startProbing(error)
      const explained = isOurFault(error) && !isDuplicateKey(error) ? await this.#explained(pool) : undefined
      throw explained === undefined ? toServiceError(error) : unavailable(explained)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.close(1, CLOSED)
  }

  /** Why the database refused a statement, if that is not the fault of this program. */
  async #explained(pool: SessionPool): Promise<unknown> {
    const rows = <Row>(text: string, ...values: readonly SqlValue[]) =>
      this.#onSession(pool, (session) => session.unsafe<Row[]>(text, values.map(toParameter)))
    return this.#explain({ rows }).catch(() => undefined)
  }

  #requireAvailable(): void {
    if (this.#isClosed) throw unavailable(CLOSED)
    if (this.#isUnavailable) throw unavailable(this.#problem)
  }

  #startProbing(problem: unknown): void {
    if (this.#isProbing || this.#isClosed) return
    this.#problem = problem
    this.#isProbing = true
    void this.#probe().finally(() => {
      this.#isProbing = false
    })
  }

  /**
   * Ends when a host that accepts writes answers. The current pool is probed first: one lost connection of many is no reason
   * to refuse callers or to abandon the others.
   */
  async #probe(): Promise<void> {
    const pool = this.#pool
    let mayKeep = !isReadOnly(this.#problem)
    this.#isUnavailable = !mayKeep
    if (!mayKeep) abandon(pool, this.#problem)
    else if (this.#problem instanceof AnswerTimeout) pool.closeIdle()
    const graceTimer = setTimeout(() => {
      this.#isUnavailable = true
      pool.refuseWaiting(this.#problem)
    }, PROBE_GRACE_MS)
    const found = await retryUntilSuccess({
      attempt: () => {
        if (!mayKeep) return this.#findHost()
        mayKeep = false
        return this.#reached(pool)
      },
      onFailure: (error) => {
        this.#isUnavailable = true
        this.#problem = error
      },
      discard: (late) => abandon(late, CLOSED),
      isCancelled: () => this.#isClosed,
    })
    clearTimeout(graceTimer)
    if (found === undefined) return
    this.#use(found)
    this.#isUnavailable = false
  }

  /** Probes all hosts at once. Returns the pool of the first that accepts writes; throws the problems of all if none does. */
  async #findHost(): Promise<SessionPool> {
    const pools = this.#hosts.map((options) => this.#newPool(options))
    let found: SessionPool | undefined
    try {
      found = await Promise.any(pools.map((pool) => this.#reached(pool)))
      return found
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error
      throw await unusableHosts(this.#addresses, error.errors, this.#connectMs)
    } finally {
      for (const pool of pools) if (pool !== found) abandon(pool, CLOSED)
    }
  }

  async #reached(pool: SessionPool): Promise<SessionPool> {
    try {
      await withTimeout(
        this.#onSession(pool, (session) => session`SELECT 1`, { isUrgent: true }),
        this.#connectMs,
      )
      return pool
    } catch (error) {
      // All sessions are in use, so the server is available. A statement that hangs has its own timeout.
      if (error instanceof Overloaded) return pool
      abandon(pool, error)
      throw error
    }
  }

  async #onSession<T>(
    pool: SessionPool,
    work: (session: Session) => Promise<T>,
    options: AcquireOptions = {},
  ): Promise<T> {
    const session = await pool.acquire(options)
    let isSound = false
    try {
      const result = await withTimeout(work(session), this.#timeoutMs)
      isSound = true
      return result
    } catch (error) {
      // The server may have been replaced by another one without closing the connection.
      if (error instanceof AnswerTimeout && pool === this.#pool) this.#lossCount++
      throw error
    } finally {
      pool.release(session, { isSound })
    }
  }

  #use(pool: SessionPool): void {
    if (pool === this.#pool) return
    abandon(this.#pool, this.#problem ?? CLOSED)
    this.#pool = pool
    this.#lossCount++
  }

  #newPool(options: SQL.PostgresOrMySQLOptions): SessionPool {
    const pool = new SessionPool({
      options,
      check: (session) => this.#check(session),
      onLoss: () => {
        if (pool === this.#pool) this.#lossCount++
      },
      maxStallMs: MAX_STALL_MS,
      maxWaitMs: this.#statementMs,
      maxOpenMs: this.#timeoutMs,
    })
    return pool
  }
}

/** Closes the pool at once and rejects its waiting callers, so that hanging connections are not reused. */
function abandon(pool: SessionPool, reason: unknown): void {
  pool.close(0, reason).catch(() => {})
}

interface Attempts<T> {
  readonly attempt: () => Promise<T>
  readonly onFailure: (error: unknown) => void
  /** Called with the result of an attempt that succeeds after another has. */
  readonly discard: (late: T) => void
  readonly isCancelled: () => boolean
}

/** The pause between attempts. */
const RETRY_AFTER_MS = 100
/** After this time the next attempt starts, because the server may never answer the first. */
const ATTEMPT_TIMEOUT_MS = 400

/** Returns the result of the first attempt that succeeds, or `undefined` if it is cancelled. The pauses do not grow. */
export async function retryUntilSuccess<T>(attempts: Attempts<T>): Promise<T | undefined> {
  const { attempt, onFailure, discard, isCancelled } = attempts
  const found = Promise.withResolvers<void>()
  let first: { readonly result: T } | undefined
  const succeeded = (result: T) => {
    if (first !== undefined || isCancelled()) return discard(result)
    first = { result }
    found.resolve()
  }
  // A failure after the first success says nothing about the host in use.
  const failed = (error: unknown) => {
    if (first === undefined) onFailure(error)
  }
  while (first === undefined && !isCancelled()) {
    const answered = attempt().then(succeeded, failed)
    await Promise.race([answered, found.promise, Bun.sleep(ATTEMPT_TIMEOUT_MS)])
    if (first === undefined) await Promise.race([found.promise, Bun.sleep(RETRY_AFTER_MS)])
  }
  return first?.result
}
