import { SQL } from 'bun'
import { SECOND } from '../../core/values/clock.ts'
import type { Durability, SqlDatabase, SqlValue, Statement } from '../sql.ts'
import { DIALECT } from './dialect.ts'
import {
  asServiceError,
  Hung,
  hasState,
  inTime,
  isLost,
  isOurFault,
  isReadOnly,
  isTaken,
  Overloaded,
  TOO_MANY_CONNECTIONS,
  unavailable,
} from './failures.ts'
import { type Host, readAddress } from './hosts.ts'
import { optionsFrom, type PostgresSettings } from './options.ts'
import { bound } from './parameters.ts'
import { firstToSucceed } from './reconnecting.ts'
import { PostgresSession } from './session.ts'
import { checkTakesWrites } from './session-check.ts'
import { type Session, SessionPool } from './session-pool.ts'
import { runAll, transact, transactInTwoTrips } from './transactions.ts'
import { unusableHosts } from './unreachable.ts'

/** A database that takes longer to say that it is there counts as away meanwhile. */
const PROMPT_MS = 300
/** How much later than the server's own time-out we give up: only where its answer cannot reach us. */
const LATER_MS = 2 * SECOND
/** How long a caller waits for a session while none becomes free for anybody. */
const MAX_STALL_MS = 2 * SECOND
/** A process that lives is back with the next statement much sooner, on a busy machine too. */
const MAX_PAUSE_MS = 5 * SECOND
const CLOSED = new Error('the store is closed')

type TakeOptions = { readonly isUrgent?: boolean }
type Explain = (database: Pick<SqlDatabase, 'rows'>) => Promise<unknown>

/**
 * The pool of connections to one PostgreSQL that takes writes, and whether it can be reached. While it cannot, callers are
 * refused at once, and attempts again and again find out when it is back, or which of several hosts takes writes by then;
 * nobody waits for a connection that will not come.
 */
export class Connection implements SqlDatabase {
  readonly dialect = DIALECT
  readonly #addresses: readonly Host[]
  readonly #hosts: readonly SQL.PostgresOrMySQLOptions[]
  readonly #mayBeReadOnly: boolean
  readonly #explain: Explain
  readonly #statementMs: number
  readonly #patienceMs: number
  readonly #connectMs: number
  #check: (session: Session) => Promise<unknown> = checkTakesWrites
  #pool: SessionPool
  #trouble: unknown
  /** Why no host took writes when a read-only one was accepted instead. */
  #readOnlyReason: unknown
  #isAway = false
  #isProbing = false
  #isClosed = false
  #losses = 0

  /**
   * Looks for the first of the hosts; `connect` for the one that takes writes. `explain` is asked whether something is wrong
   * with the database when it refuses a statement.
   */
  constructor(url: string, settings: PostgresSettings, explain: Explain = async () => undefined) {
    this.#explain = explain
    this.#addresses = readAddress(url).hosts
    this.#hosts = optionsFrom(url, settings)
    this.#mayBeReadOnly = settings.mayBeReadOnly === true
    this.#connectMs = settings.connectTimeoutSeconds * SECOND
    this.#statementMs = settings.statementTimeoutSeconds * SECOND
    this.#patienceMs = this.#statementMs + LATER_MS
    const [first] = this.#hosts
    if (first === undefined) throw new Error('DATABASE_URL names no host')
    this.#pool = this.#newPool(first)
  }

  /** Finds the host that takes writes; for who only reads, another will do where there is none. */
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

  /** Another number after a connection was lost: then the server may have crashed. */
  get losses(): number {
    return this.#losses
  }

  get statementTimeoutMs(): number {
    return this.#statementMs
  }

  /** How many sessions this process may have at once. */
  get poolSize(): number {
    return this.#pool.options.max ?? 1
  }

  /**
   * Statements that go out together on one connection; on its own, each is a transaction. The time limit counts from the
   * moment that there is a session: waiting for one has a limit of its own, and says nothing about the database.
   */
  async run<T>(work: (session: Session) => Promise<T>, options: TakeOptions = {}): Promise<T> {
    this.#refuseWhileAway()
    return this.guard(() => this.#onSession(this.#pool, work, options))
  }

  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.run((sql) => sql.unsafe<Row[]>(text, values.map(bound)))
  }

  commit(statements: readonly Statement[], durability: Durability = 'durable'): Promise<number[]> {
    return this.run((session) => transact(session, durability, () => runAll(session, statements)))
  }

  /** Runs statements in one transaction, which is on disk when the promise resolves. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.run((session) => transact(session, 'durable', work))
  }

  /**
   * A transaction of two trips. One that is forgettable is not waited for on disk: a crash of the server may forget it,
   * nobody sees it undone. Without `maxLockWaitMs`, a lock is waited for until the statement times out.
   */
  readThenWrite<Found>(
    durability: Durability,
    read: (session: Session) => Promise<Found>,
    write: (session: Session, found: Found) => Promise<unknown> | undefined,
    maxLockWaitMs?: number,
  ): Promise<void> {
    return this.run((session) => transactInTwoTrips(session, durability, read, write, maxLockWaitMs))
  }

  /** Throws while no host takes writes. */
  requireWritable(): void {
    this.#refuseWhileAway()
    if (this.#readOnlyReason !== undefined) throw unavailable(this.#readOnlyReason)
  }

  async longSession(options: TakeOptions = {}): Promise<PostgresSession> {
    this.#refuseWhileAway()
    const pool = this.#pool
    const session = await this.guard(() => pool.take(options))
    const close = async () => {
      const isSound = await session`ROLLBACK`.then(
        () => true,
        () => false,
      )
      pool.giveBack(session, { isSound })
    }
    return new PostgresSession({ session, close, guard: (work) => this.guard(work), maxPauseMs: 0 })
  }

  /**
   * One beside the pool, which is gone once it is closed, and with it all that is set or made for it alone. What it writes is
   * given up where this process stands still in the middle of it, before those give up who wait for it.
   */
  async separateSession(): Promise<PostgresSession> {
    const pool = new SQL({ ...this.#pool.options, max: 1 })
    const close = () => pool.close({ timeout: 0 })
    const session = await this.guard(() => inTime(pool.reserve(), this.#patienceMs)).catch(
      (error: unknown) => {
        close().catch(() => {})
        throw error
      },
    )
    const maxPauseMs = Math.min(MAX_PAUSE_MS, this.#statementMs / 2)
    return new PostgresSession({ session, close, guard: (work) => this.guard(work), maxPauseMs })
  }

  /** Turns what a session of the caller's failed with into what callers understand. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    const pool = this.#pool
    try {
      return await work()
    } catch (error) {
      // A pool that was given up since says nothing about the one in use, nor does a server that refuses one more connection.
      const isOneTooMany = hasState(error, TOO_MANY_CONNECTIONS) && pool.hasSessions
      if (isLost(error) && pool === this.#pool && !isOneTooMany) this.#suspect(error)
      const explained = isOurFault(error) && !isTaken(error) ? await this.#explained(pool) : undefined
      throw explained === undefined ? asServiceError(error) : unavailable(explained)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.close(1, CLOSED)
  }

  /** The trouble, where a statement was refused for what is no fault of this program. */
  async #explained(pool: SessionPool): Promise<unknown> {
    const rows = <Row>(text: string, ...values: readonly SqlValue[]) =>
      this.#onSession(pool, (session) => session.unsafe<Row[]>(text, values.map(bound)))
    return this.#explain({ rows }).catch(() => undefined)
  }

  #refuseWhileAway(): void {
    if (this.#isClosed) throw unavailable(CLOSED)
    if (this.#isAway) throw unavailable(this.#trouble)
  }

  #suspect(trouble: unknown): void {
    if (this.#isProbing || this.#isClosed) return
    this.#trouble = trouble
    this.#isProbing = true
    void this.#probe().finally(() => {
      this.#isProbing = false
    })
  }

  /**
   * Ends when a database that takes writes answers. One lost connection of many is no reason to refuse anybody, nor to give up
   * the others: they are asked first.
   */
  async #probe(): Promise<void> {
    const pool = this.#pool
    let mayKeep = !isReadOnly(this.#trouble)
    this.#isAway = !mayKeep
    if (!mayKeep) giveUp(pool, this.#trouble)
    else if (this.#trouble instanceof Hung) pool.closeIdle()
    const tooLate = setTimeout(() => {
      this.#isAway = true
      pool.refuseWaiting(this.#trouble)
    }, PROMPT_MS)
    const found = await firstToSucceed({
      attempt: () => {
        if (!mayKeep) return this.#findHost()
        mayKeep = false
        return this.#reached(pool)
      },
      onFailure: (error) => {
        this.#isAway = true
        this.#trouble = error
      },
      discard: (late) => giveUp(late, CLOSED),
      isOver: () => this.#isClosed,
    })
    clearTimeout(tooLate)
    if (found === undefined) return
    this.#use(found)
    this.#isAway = false
  }

  /** Asks all hosts at once. Gives the pool of the first that takes writes; throws the problem of each if none does. */
  async #findHost(): Promise<SessionPool> {
    const asked = this.#hosts.map((options) => this.#newPool(options))
    let found: SessionPool | undefined
    try {
      found = await Promise.any(asked.map((pool) => this.#reached(pool)))
      return found
    } catch (error) {
      if (!(error instanceof AggregateError)) throw error
      throw await unusableHosts(this.#addresses, error.errors, this.#connectMs)
    } finally {
      for (const pool of asked) if (pool !== found) giveUp(pool, CLOSED)
    }
  }

  async #reached(pool: SessionPool): Promise<SessionPool> {
    try {
      await inTime(
        this.#onSession(pool, (session) => session`SELECT 1`, { isUrgent: true }),
        this.#connectMs,
      )
      return pool
    } catch (error) {
      // All sessions are in use, so the server is there; a statement that hangs reaches its own time limit.
      if (error instanceof Overloaded) return pool
      giveUp(pool, error)
      throw error
    }
  }

  async #onSession<T>(
    pool: SessionPool,
    work: (session: Session) => Promise<T>,
    options: TakeOptions = {},
  ): Promise<T> {
    const session = await pool.take(options)
    let isSound = false
    try {
      const result = await inTime(work(session), this.#patienceMs)
      isSound = true
      return result
    } catch (error) {
      // The server may have been replaced by another one without a word.
      if (error instanceof Hung && pool === this.#pool) this.#losses++
      throw error
    } finally {
      pool.giveBack(session, { isSound })
    }
  }

  #use(pool: SessionPool): void {
    if (pool === this.#pool) return
    giveUp(this.#pool, this.#trouble ?? CLOSED)
    this.#pool = pool
    this.#losses++
  }

  #newPool(options: SQL.PostgresOrMySQLOptions): SessionPool {
    const pool = new SessionPool({
      options,
      check: (session) => this.#check(session),
      onLoss: () => {
        if (pool === this.#pool) this.#losses++
      },
      maxStallMs: MAX_STALL_MS,
      maxWaitMs: this.#statementMs,
      maxOpenMs: this.#patienceMs,
    })
    return pool
  }
}

/** Connections that hang would be handed out again; what waits for them is refused. */
function giveUp(pool: SessionPool, reason: unknown): void {
  pool.close(0, reason).catch(() => {})
}
