import { SQL } from 'bun'
import { type Clock, SECOND } from '../../core/values/clock.ts'
import type { Durability, SqlDatabase, SqlValue, Statement } from '../sql.ts'
import { DIALECT } from './dialect.ts'
import { asServiceError, Hung, isLost, unavailable } from './failures.ts'
import { bound } from './parameters.ts'
import { PostgresSession } from './session.ts'
import { type Session, SessionPool } from './session-pool.ts'

export interface PostgresSettings {
  /** Connections of one process. */
  readonly poolSize: number
  readonly connectTimeoutSeconds: number
  readonly statementTimeoutSeconds: number
  /** What limits are told the time by: the database's own clock where none is given. */
  readonly clock?: Clock
}

/** Between two attempts to reach a database that is away. */
const PROBE_EVERY_MS = 100
/** A database that takes longer to say that it is there counts as away meanwhile. */
const PROMPT_MS = 300
/** How much later than the server's own time-out we give up: only where its answer cannot reach us. */
const LATER_MS = 2 * SECOND

const BEGIN: Readonly<Record<Durability, string>> = {
  durable: 'BEGIN',
  forgettable: 'BEGIN; SET LOCAL synchronous_commit = off',
}

/**
 * The pool of connections to one PostgreSQL, and whether it can be reached. While it cannot, callers are refused at
 * once, and one probe at a time finds out when it is back; nobody waits for a connection that will not come.
 */
export class Connection implements SqlDatabase {
  readonly dialect = DIALECT
  readonly #options: SQL.Options
  readonly #patienceMs: number
  readonly #connectMs: number
  #pool: SessionPool
  #trouble: unknown
  #isAway = false
  #isProbing = false
  #isClosed = false
  #losses = 0

  constructor(url: string, settings: PostgresSettings) {
    this.#options = optionsFrom(url, settings)
    this.#connectMs = settings.connectTimeoutSeconds * SECOND
    this.#patienceMs = settings.statementTimeoutSeconds * SECOND + LATER_MS
    this.#pool = this.#newPool()
  }

  /** Another number after a connection was lost: then the server may have crashed. */
  get losses(): number {
    return this.#losses
  }

  /** Statements that go out together on one connection; on its own, each is a transaction. */
  async run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.#refuseWhileAway()
    return this.guard(() => inTime(this.#onSession(work), this.#patienceMs))
  }

  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.run((sql) => sql.unsafe<Row[]>(text, values.map(bound)))
  }

  commit(statements: readonly Statement[], durability: Durability = 'durable'): Promise<number[]> {
    return this.run((session) => transact(session, BEGIN[durability], () => runAll(session, statements)))
  }

  /** Runs statements in one transaction, which is on disk when the promise resolves. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.run((session) => transact(session, 'BEGIN', work))
  }

  /**
   * A short transaction that goes to the database and back only twice: what `read` asks for goes with the BEGIN, what
   * `write` does with the COMMIT. One that is forgettable is not waited for on disk: a crash of the server may forget
   * it, nobody sees it undone.
   */
  readThenWrite<Found>(
    durability: Durability,
    read: (session: Session) => Promise<Found>,
    write: (session: Session, found: Found) => Promise<unknown> | undefined,
  ): Promise<void> {
    return this.run((session) => transactInTwoTrips(session, BEGIN[durability], read, write))
  }

  async longSession(): Promise<PostgresSession> {
    this.#refuseWhileAway()
    const pool = this.#pool
    const session = await this.guard(() => inTime(pool.take(), this.#patienceMs))
    return this.#asLongSession(session, async () => {
      await session`ROLLBACK`.catch(() => {})
      pool.giveBack(session, { isSound: false })
    })
  }

  /** One beside the pool, which is gone once it is closed, and with it all that is set or made for it alone. */
  async separateSession(): Promise<PostgresSession> {
    const pool = new SQL({ ...this.#options, max: 1 })
    const session = await this.guard(() => inTime(pool.reserve(), this.#patienceMs))
    return this.#asLongSession(session, () => pool.close({ timeout: 0 }))
  }

  #asLongSession(session: Session, close: () => Promise<void>): PostgresSession {
    return new PostgresSession(session, close, (work) => this.guard(work))
  }

  /** Turns what a session of the caller's failed with into what callers understand. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (isLost(error)) this.#suspect(error)
      throw asServiceError(error)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#pool.close(1)
  }

  #refuseWhileAway(): void {
    if (this.#isClosed) throw unavailable(new Error('the store is closed'))
    if (this.#isAway) throw unavailable(this.#trouble)
  }

  async #onSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const pool = this.#pool
    const session = await pool.take()
    let isSound = false
    try {
      const result = await work(session)
      isSound = true
      return result
    } finally {
      pool.giveBack(session, { isSound })
    }
  }

  #suspect(trouble: unknown): void {
    this.#trouble = trouble
    if (trouble instanceof Hung) this.#replacePool()
    if (this.#isProbing || this.#isClosed) return
    this.#isProbing = true
    void this.#probe().finally(() => {
      this.#isProbing = false
    })
  }

  /** Ends when the database answers. One lost connection of many is no reason to refuse anybody. */
  async #probe(): Promise<void> {
    const tooLate = setTimeout(() => {
      this.#isAway = true
    }, PROMPT_MS)
    while (!this.#isClosed) {
      try {
        await inTime(
          this.#onSession((session) => session`SELECT 1`),
          this.#connectMs,
        )
        break
      } catch (error) {
        this.#isAway = true
        this.#trouble = error
        this.#replacePool()
        await Bun.sleep(PROBE_EVERY_MS)
      }
    }
    clearTimeout(tooLate)
    this.#isAway = false
  }

  /** Connections that hang would be handed out again; what waits for them is refused. */
  #replacePool(): void {
    this.#pool.close(0).catch(() => {})
    this.#pool = this.#newPool()
  }

  #newPool(): SessionPool {
    return new SessionPool(this.#options, () => {
      this.#losses++
    })
  }
}

/** On their way together, one after the other; gives how many rows each has changed. */
export async function runAll(session: Session, statements: readonly Statement[]): Promise<number[]> {
  const results = await Promise.all(
    statements.map(({ text, values }) => session.unsafe(text, values.map(bound)).execute()),
  )
  return results.map(({ count }) => count)
}

/** Every setting is given in so many words: Bun would take what is missing from the environment. */
function optionsFrom(url: string, settings: PostgresSettings): SQL.Options {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  const database = decodeURIComponent(pathname.slice(1)) || 'postgres'
  const mode = searchParams.get('sslmode')
  const socket = searchParams.get('host')
  return {
    adapter: 'postgres',
    url,
    hostname: socket ?? (hostname || 'localhost'),
    port: Number(port || 5432),
    username: decodeURIComponent(username) || 'postgres',
    password: decodeURIComponent(password),
    database,
    ...(mode === null ? {} : { tls: sslMode(mode) }),
    max: settings.poolSize,
    bigint: true,
    connectionTimeout: settings.connectTimeoutSeconds,
    connection: {
      application_name: searchParams.get('application_name') ?? 'petstore',
      statement_timeout: settings.statementTimeoutSeconds * SECOND,
      // What the statements rely on, whatever the server's default is.
      default_transaction_isolation: 'read committed',
      // Every statement is planned once: planning what keeps up with the stock takes longer than running it.
      plan_cache_mode: 'force_generic_plan',
      // A process that stands still in the middle of a transaction must not hold its locks for ever.
      idle_in_transaction_session_timeout: settings.statementTimeoutSeconds * SECOND,
    },
  }
}

const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const

function sslMode(text: string): (typeof SSL_MODES)[number] {
  const mode = SSL_MODES.find((known) => known === text)
  if (mode === undefined) {
    throw new Error(`sslmode in DATABASE_URL must be one of ${SSL_MODES.join(', ')}, got "${text}"`)
  }
  return mode
}

/** BEGIN goes out with the first statement: on a network, each way counts. */
async function transact<T>(
  session: Session,
  begin: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const begun = session.unsafe(begin).execute()
  try {
    const result = await work(session)
    await begun
    await session`COMMIT`
    return result
  } catch (error) {
    await session`ROLLBACK`.catch(() => {})
    throw error
  }
}

async function transactInTwoTrips<Found>(
  session: Session,
  begin: string,
  read: (session: Session) => Promise<Found>,
  write: (session: Session, found: Found) => Promise<unknown> | undefined,
): Promise<void> {
  try {
    const [, found] = await Promise.all([session.unsafe(begin).execute(), read(session)])
    // Both: the COMMIT of a transaction that has failed succeeds, and undoes it.
    await Promise.all([write(session, found), session`COMMIT`.execute()])
  } catch (error) {
    await session`ROLLBACK`.catch(() => {})
    throw error
  }
}

async function inTime<T>(work: Promise<T>, longestMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Hung(longestMs)), longestMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
