import { type ReservedSQL, SQL } from 'bun'
import { type Clock, SECOND } from '../../core/values/clock.ts'
import type { Durability, SqlDatabase, SqlValue, Statement } from '../sql.ts'
import { bound } from './columns.ts'
import { DIALECT } from './dialect.ts'
import { asServiceError, Hung, isLost, unavailable } from './failures.ts'
import { PostgresSession } from './session.ts'

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

const WITHOUT_TIMEOUTS = { statement_timeout: 0, idle_in_transaction_session_timeout: 0 }

/** What runs on one connection. */
export type Session = ReservedSQL

/**
 * The pool of connections to one PostgreSQL, and whether it can be reached. While it cannot, callers are refused at
 * once, and one probe at a time finds out when it is back; nobody waits for a connection that will not come.
 */
export class Connection implements SqlDatabase {
  readonly dialect = DIALECT
  readonly #options: ReturnType<typeof optionsFrom>
  readonly #patienceMs: number
  readonly #connectMs: number
  #pool: SQL
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

  /** Runs one statement; on its own it is a transaction. */
  run<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    return this.#attempt((pool) => inTime(work(pool), this.#patienceMs))
  }

  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.run((sql) => sql.unsafe<Row[]>(text, values.map(bound)))
  }

  commit(statements: readonly Statement[], durability: Durability = 'durable'): Promise<number[]> {
    return this.#session((session) =>
      inTime(
        transact(session, BEGIN[durability], () => runAll(session, statements)),
        this.#patienceMs,
      ),
    )
  }

  /** Runs statements in one transaction, which is on disk when the promise resolves. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#session((session) => inTime(transact(session, 'BEGIN', work), this.#patienceMs))
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
    return this.#session((session) =>
      inTime(transactInTwoTrips(session, BEGIN[durability], read, write), this.#patienceMs),
    )
  }

  /** Statements that go out together on one connection, each a transaction of its own. */
  pipeline<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#session((session) => inTime(work(session), this.#patienceMs))
  }

  async longSession(): Promise<PostgresSession> {
    if (this.#isClosed) throw unavailable(new Error('the store is closed'))
    if (this.#isAway) throw unavailable(this.#trouble)
    const { connection } = this.#options
    const pool = new SQL({ ...this.#options, max: 1, connection: { ...connection, ...WITHOUT_TIMEOUTS } })
    const session = await this.guard(() => inTime(pool.reserve(), this.#patienceMs))
    return new PostgresSession(pool, session, (work) => this.guard(work))
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
    await this.#pool.close({ timeout: 1 })
  }

  async #session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#attempt(async (pool) => {
      const session = await inTime(pool.reserve(), this.#patienceMs)
      try {
        return await work(session)
      } finally {
        // A connection inside a transaction, where a COMMIT or ROLLBACK failed, is closed and not used again.
        await session.release()
      }
    })
  }

  async #attempt<T>(work: (pool: SQL) => Promise<T>): Promise<T> {
    if (this.#isClosed) throw unavailable(new Error('the store is closed'))
    if (this.#isAway) throw unavailable(this.#trouble)
    const pool = this.#pool
    return this.guard(() => work(pool))
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
        await inTime(this.#pool`SELECT 1`, this.#connectMs)
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
    this.#pool.close({ timeout: 0 }).catch(() => {})
    this.#pool = this.#newPool()
  }

  #newPool(): SQL {
    return new SQL({
      ...this.#options,
      onclose: () => {
        this.#losses++
      },
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
function optionsFrom(url: string, settings: PostgresSettings) {
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
      // Every statement is planned once: planning what keeps up with the stock takes ten times as long as running it.
      plan_cache_mode: 'force_generic_plan',
      // A process that stands still in the middle of a transaction must not hold its locks for ever.
      idle_in_transaction_session_timeout: settings.statementTimeoutSeconds * SECOND,
    },
  } satisfies SQL.Options
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
