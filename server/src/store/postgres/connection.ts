import { SQL } from 'bun'
import { SECOND } from '../../core/values/clock.ts'
import { ServiceError } from '../../core/values/errors.ts'
import type { Durability, LongSessionOptions, SqlDatabase, SqlValue, Statement } from '../sql.ts'
import { type Host, hostOptions, type PostgresSettings, readAddress } from './connection-options.ts'
import { DIALECT, toParameter } from './dialect.ts'
import {
  AnswerTimeout,
  commitLostError,
  hasState,
  isConnectionLost,
  isDuplicateKey,
  isProgramError,
  isReadOnly,
  isUnusableConnection,
  type NewerTablesError,
  Overloaded,
  TOO_MANY_CONNECTIONS,
  toServiceError,
  unavailableError,
  unusableHostsError,
  withTimeout,
} from './failures.ts'
import { findNewerTablesError } from './migrations.ts'
import { checkAcceptsWrites, NO_MAX_PAUSE, PostgresLongSession, runAll } from './session.ts'
import { type Session, SessionPool } from './session-pool.ts'

/** If a probe gets no answer within this time, the database counts as unavailable, and callers are refused. */
const PROBE_GRACE_MS = 300
/** Added to the server's statement timeout, so that this process stops waiting only if the server does not answer at all. */
const TIMEOUT_MARGIN_MS = 2 * SECOND
/**
 * If a writing transaction in a session of `openSeparateSession` sends no statement for this long, or for half the statement
 * timeout if that is shorter, the server rolls it back. Only a suspended process pauses that long.
 */
const MAX_PAUSE_MS = 5 * SECOND
/** How long callers that use a session may take to finish when the store is closed. */
const CLOSE_TIMEOUT_SECONDS = 1
const CLOSED = new Error('the store is closed')
const POOL_DISCARDED = new Error('another session pool is used now')

interface AcquireOptions {
  readonly isUrgent?: boolean
}

interface TransactionTimeouts {
  /** For each lock. By default, a statement waits until the statement timeout. */
  readonly maxLockWaitMs?: number
  /** How long the server waits for the second round trip before it rolls back. */
  readonly maxPauseMs?: number
}

/**
 * The session pool of the PostgreSQL host that accepts writes. While there is no such host, callers are refused at once, and
 * probes find out when the host is back or which other host has been promoted.
 */
export class Connection implements SqlDatabase {
  readonly dialect = DIALECT
  /** The maximum number of sessions. */
  readonly poolSize: number
  readonly #hosts: readonly Host[]
  readonly #hostOptions: readonly SQL.PostgresOrMySQLOptions[]
  readonly #acceptsReadOnly: boolean
  readonly statementTimeoutMs: number
  readonly #answerTimeoutMs: number
  readonly #connectTimeoutMs: number
  #checkSession: (session: Session) => Promise<unknown> = checkAcceptsWrites
  #pool: SessionPool
  #problem: unknown
  /** Why no host accepts writes, if a read-only host is used instead. */
  #readOnlyReason: unknown
  #isUnavailable = false
  #isProbing = false
  #isClosed = false
  #lossCount = 0

  /** Starts with the first host. `connect` finds the host that accepts writes. */
  constructor(url: string, settings: PostgresSettings) {
    this.poolSize = settings.poolSize
    this.#hosts = readAddress(url).hosts
    this.#hostOptions = hostOptions(url, settings)
    this.#acceptsReadOnly = settings.mayBeReadOnly === true
    this.#connectTimeoutMs = settings.connectTimeoutSeconds * SECOND
    this.statementTimeoutMs = settings.statementTimeoutSeconds * SECOND
    this.#answerTimeoutMs = this.statementTimeoutMs + TIMEOUT_MARGIN_MS
    const [first] = this.#hostOptions
    if (first === undefined) throw new Error('DATABASE_URL does not name a host')
    this.#pool = this.#newPool(first)
  }

  /** Finds the host that accepts writes. If there is none and the settings allow it, uses a read-only host. */
  async connect(): Promise<void> {
    try {
      this.#switchTo(await this.#findUsablePool())
    } catch (error) {
      if (!this.#acceptsReadOnly || !isReadOnly(error)) throw error
      this.#readOnlyReason = error
      this.#checkSession = async () => {}
      this.#switchTo(await this.#findUsablePool())
    }
  }

  /** The number of lost connections. With each loss, the server may have crashed or been replaced. */
  get lossCount(): number {
    return this.#lossCount
  }

  /**
   * Runs `work` on one session. Unless `work` begins a transaction, each statement is a transaction of its own. The timeout
   * includes the wait for a session, which has a timeout of its own, because a full pool does not mean that the database is
   * unavailable.
   */
  async run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.#requireAvailable()
    return this.withServiceErrors(() => this.#withSession(this.#pool, work))
  }

  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.run((sql) => sql.unsafe<Row[]>(text, values.map(toParameter)))
  }

  commit(statements: readonly Statement[], durability: Durability = 'durable'): Promise<number[]> {
    return this.readThenWrite(
      durability,
      // The statements are passed as `read`, because `readThenWrite` returns the result of `read`. If `runAll` cannot convert a
      // value, it throws synchronously; `async` makes this a rejection.
      async (session) => runAll(session, statements),
      () => undefined,
    )
  }

  /**
   * Runs a transaction in two round trips: BEGIN with the statements of `read`, then the statements of `write` with COMMIT.
   * Returns the result of `read`. If the connection is lost after COMMIT was sent, the error says that the outcome is unknown.
   */
  readThenWrite<Found>(
    durability: Durability,
    read: (session: Session) => Promise<Found>,
    write: (session: Session, found: Found) => Promise<unknown> | undefined,
    timeouts: TransactionTimeouts = {},
  ): Promise<Found> {
    const flushMode = durability === 'durable' ? '' : '; SET LOCAL synchronous_commit = off'
    const settings = [
      ['lock_timeout', timeouts.maxLockWaitMs],
      ['idle_in_transaction_session_timeout', timeouts.maxPauseMs],
    ].flatMap(([name, ms]) => (ms === undefined ? [] : `; SET LOCAL ${name} = ${ms}`))
    let isCommitSent = false
    const outcome = this.run(async (session) => {
      try {
        const begun = session.unsafe(`BEGIN${flushMode}${settings.join('')}`).execute()
        const [, found] = await Promise.all([begun, read(session)])
        isCommitSent = true
        // Waits for both, because COMMIT alone does not show a failure: it also succeeds if it rolls back a failed transaction.
        await Promise.all([write(session, found), session`COMMIT`.execute()])
        return found
      } catch (error) {
        await session`ROLLBACK`.catch(() => {})
        throw error
      }
    })
    return outcome.catch((error: unknown) => {
      const cause = error instanceof ServiceError ? error.cause : error
      throw isCommitSent && isConnectionLost(cause) ? commitLostError(cause) : error
    })
  }

  /** Throws while no host accepts writes. */
  requireWritable(): void {
    this.#requireAvailable()
    if (this.#readOnlyReason !== undefined) throw unavailableError(this.#readOnlyReason)
  }

  async openLongSession(options: AcquireOptions & LongSessionOptions = {}): Promise<PostgresLongSession> {
    this.#requireAvailable()
    const pool = this.#pool
    const session = await this.withServiceErrors(() => pool.acquire(options))
    const close = async (hasHung: boolean) => {
      const rollback = () => withTimeout(session`ROLLBACK`, this.#answerTimeoutMs)
      const isReusable = !hasHung && (await rollback().then(Boolean, () => false))
      pool.release(session, { isReusable })
    }
    return this.#toLongSession(session, close, NO_MAX_PAUSE, options)
  }

  /**
   * Opens a session outside the pool. Closing it ends the connection, with its settings and temporary tables. If this process
   * is suspended in a transaction, the server soon rolls the transaction back, so that callers waiting for its locks do not
   * time out.
   */
  async openSeparateSession(): Promise<PostgresLongSession> {
    const sql = new SQL({ ...this.#pool.options, max: 1 })
    const close = () => sql.close({ timeout: 0 })
    const session = await this.withServiceErrors(() =>
      withTimeout(sql.reserve(), this.#answerTimeoutMs),
    ).catch((error: unknown) => {
      close().catch(() => {})
      throw error
    })
    return this.#toLongSession(session, close, Math.min(MAX_PAUSE_MS, this.statementTimeoutMs / 2))
  }

  #toLongSession(
    session: Session,
    close: (hasHung: boolean) => Promise<void>,
    maxPauseMs: number,
    { hasStatementTimeout = false }: LongSessionOptions = {},
  ): PostgresLongSession {
    let hung: AnswerTimeout | undefined
    const run = async <T>(work: (session: Session) => Promise<T>) => {
      if (hung !== undefined) throw hung
      try {
        return await (hasStatementTimeout ? withTimeout(work(session), this.#answerTimeoutMs) : work(session))
      } catch (error) {
        if (error instanceof AnswerTimeout) {
          hung = error
          this.#lossCount++
        }
        throw error
      }
    }
    return new PostgresLongSession({
      withSession: (work) => this.withServiceErrors(() => run(work)),
      close: () => close(hung !== undefined),
      maxPauseMs,
      hasStatementTimeout,
    })
  }

  /**
   * Runs `work` and converts its errors to ServiceErrors, except bugs. If a connection was lost, starts to probe the
   * database.
   */
  async withServiceErrors<T>(work: () => Promise<T>): Promise<T> {
    const pool = this.#pool
    try {
      return await work()
    } catch (error) {
      // The server is available if it has other sessions of this pool and only refuses an additional session.
      const refusesOnlyNewSession = hasState(error, TOO_MANY_CONNECTIONS) && pool.hasSessions
      const isCurrentPool = pool === this.#pool
      if (isUnusableConnection(error) && isCurrentPool && !refusesOnlyNewSession) this.#startProbing(error)
      const mayHaveNewerTables = isProgramError(error) && !isDuplicateKey(error)
      const newerTables = mayHaveNewerTables ? await this.#findNewerTablesError(pool) : undefined
      throw newerTables === undefined ? toServiceError(error) : unavailableError(newerTables)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.close(CLOSE_TIMEOUT_SECONDS, CLOSED)
  }

  /** The error to report if a newer program has migrated the tables; `undefined` if the failed statement itself is wrong. */
  #findNewerTablesError(pool: SessionPool): Promise<NewerTablesError | undefined> {
    const rows = <Row>(text: string, ...values: readonly SqlValue[]) =>
      this.#withSession(pool, (session) => session.unsafe<Row[]>(text, values.map(toParameter)))
    return findNewerTablesError({ rows }).catch(() => undefined)
  }

  #requireAvailable(): void {
    if (this.#isClosed) throw unavailableError(CLOSED)
    if (this.#isUnavailable) throw unavailableError(this.#problem)
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
   * Probes until a host that accepts writes answers. The current pool is probed first, because one lost connection is no
   * reason to refuse callers or to abandon the other connections.
   */
  async #probe(): Promise<void> {
    const pool = this.#pool
    let shouldProbeCurrentPool = !isReadOnly(this.#problem)
    this.#isUnavailable = !shouldProbeCurrentPool
    if (!shouldProbeCurrentPool) abandon(pool, this.#problem)
    else if (this.#problem instanceof AnswerTimeout) pool.closeIdle()
    const graceTimer = setTimeout(() => {
      this.#isUnavailable = true
      pool.rejectWaiters(this.#problem)
    }, PROBE_GRACE_MS)
    const usablePool = await retryUntilSuccess({
      attempt: () => {
        if (!shouldProbeCurrentPool) return this.#findUsablePool()
        shouldProbeCurrentPool = false
        return this.#probePool(pool)
      },
      onFailure: (error) => {
        this.#isUnavailable = true
        this.#problem = error
      },
      discard: (latePool) => abandon(latePool, POOL_DISCARDED),
      isCancelled: () => this.#isClosed,
    })
    clearTimeout(graceTimer)
    if (usablePool === undefined) return
    this.#switchTo(usablePool)
    this.#isUnavailable = false
  }

  /**
   * Probes all hosts at once and returns the pool of the first host that can be used. If there is none, throws an error that
   * lists the problem of each host.
   */
  async #findUsablePool(): Promise<SessionPool> {
    const pools = this.#hostOptions.map((options) => this.#newPool(options))
    let usablePool: SessionPool | undefined
    try {
      usablePool = await Promise.any(pools.map((pool) => this.#probePool(pool)))
      return usablePool
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error
      throw await unusableHostsError(this.#hosts, error.errors, this.#connectTimeoutMs)
    } finally {
      for (const pool of pools) if (pool !== usablePool) abandon(pool, POOL_DISCARDED)
    }
  }

  /** Returns the pool if the server answers. Otherwise abandons the pool and throws. */
  async #probePool(pool: SessionPool): Promise<SessionPool> {
    try {
      await withTimeout(
        this.#withSession(pool, (session) => session`SELECT 1`, { isUrgent: true }),
        this.#connectTimeoutMs,
      )
      return pool
    } catch (error) {
      // All sessions are in use, which is not an outage. If the server hangs, the statements of these sessions time out, and
      // that starts another probe.
      if (error instanceof Overloaded) return pool
      abandon(pool, error)
      throw error
    }
  }

  async #withSession<T>(
    pool: SessionPool,
    work: (session: Session) => Promise<T>,
    options: AcquireOptions = {},
  ): Promise<T> {
    const startedAt = performance.now()
    const session = await pool.acquire(options)
    const waitedMs = performance.now() - startedAt
    let isReusable = false
    try {
      const result = await withTimeout(work(session), this.#answerTimeoutMs - waitedMs)
      isReusable = true
      return result
    } catch (error) {
      if (!(error instanceof AnswerTimeout)) throw error
      // The server had less time than the statement timeout, so it need not have hung.
      if (waitedMs > TIMEOUT_MARGIN_MS) throw new Overloaded(error.message)
      // Another server may have replaced this server without closing the connection.
      if (pool === this.#pool) this.#lossCount++
      throw error
    } finally {
      pool.release(session, { isReusable })
    }
  }

  #switchTo(pool: SessionPool): void {
    if (pool === this.#pool) return
    abandon(this.#pool, this.#problem ?? POOL_DISCARDED)
    this.#pool = pool
    this.#lossCount++
  }

  #newPool(options: SQL.PostgresOrMySQLOptions): SessionPool {
    const pool = new SessionPool({
      options,
      check: (session) => this.#checkSession(session),
      onLoss: () => {
        if (pool === this.#pool) this.#lossCount++
      },
      maxWaitMs: this.statementTimeoutMs,
      openTimeoutMs: this.#answerTimeoutMs,
    })
    return pool
  }
}

/** Closes the pool without waiting, so that hanging connections are not reused, and rejects its waiting callers. */
function abandon(pool: SessionPool, reason: unknown): void {
  pool.close(0, reason).catch(() => {})
}

interface Attempts<T> {
  readonly attempt: () => Promise<T>
  readonly onFailure: (error: unknown) => void
  /**
   * Called with the result of an attempt that succeeds too late: after another attempt has succeeded, or after the
   * cancellation.
   */
  readonly discard: (lateResult: T) => void
  readonly isCancelled: () => boolean
}

/** The pause between attempts. It does not grow, so that callers are served soon after the database is back. */
const RETRY_AFTER_MS = 100
/** If an attempt has no result after this time, the next attempt starts while this attempt continues. */
const ATTEMPT_TIMEOUT_MS = 400

/** Returns the result of the first attempt that succeeds; `undefined` if `isCancelled` returns true first. */
export async function retryUntilSuccess<T>(attempts: Attempts<T>): Promise<T | undefined> {
  const { attempt, onFailure, discard, isCancelled } = attempts
  const succeeded = Promise.withResolvers<void>()
  let firstSuccess: { readonly result: T } | undefined
  const onSuccess = (result: T) => {
    if (firstSuccess !== undefined || isCancelled()) return discard(result)
    firstSuccess = { result }
    succeeded.resolve()
  }
  const onError = (error: unknown) => {
    // After the first success, a failed attempt no longer matters.
    if (firstSuccess === undefined) onFailure(error)
  }
  while (firstSuccess === undefined && !isCancelled()) {
    const finished = attempt().then(onSuccess, onError)
    await Promise.race([finished, succeeded.promise, Bun.sleep(ATTEMPT_TIMEOUT_MS)])
    if (firstSuccess === undefined) await Promise.race([succeeded.promise, Bun.sleep(RETRY_AFTER_MS)])
  }
  return firstSuccess?.result
}
