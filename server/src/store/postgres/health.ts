import { SECOND } from '../../core/values/clock.ts'
import { ServiceError } from '../../core/values/errors.ts'
import { CHECKS, describeViolations, type Violation, violationsSql } from '../health.ts'
import { inLongSession, type RowSource } from '../sql.ts'
import type { Connection } from './connection.ts'
import {
  AnswerTimeout,
  hasState,
  LOCK_TIMEOUT,
  Overloaded,
  ReadOnly,
  STATEMENT_CANCELLED,
  TOO_MANY_CONNECTIONS,
  UnusableHosts,
  unavailableError,
  withTimeout,
} from './failures.ts'
import { numberLog } from './log.ts'
import { findNewerTablesError } from './migrations.ts'
import { checkAcceptsWrites, type PostgresLongSession } from './session.ts'

/** A write that waits longer than this for a table counts as hanging. */
const READINESS_LOCK_TIMEOUT_MS = SECOND
const READINESS_TIMEOUT_MS = 3 * SECOND

const DISK_FULL = '53100'

const WRITTEN_TABLES = ['stock', 'log', 'orders', 'idempotency', 'log_places', 'log_numbering']
const READ_TABLES = ['pets', 'categories', 'keys', 'key_secrets']

/**
 * Tries the steps of a write without changing anything. It takes the locks. It writes half a megabyte to the data
 * directory: the result of generate_series exceeds work_mem, so it goes to a temporary file. It flushes a small commit,
 * which also waits for synchronous standbys. The statements are sent as one message: a program that is suspended between
 * two messages would keep the locks.
 */
const TRY_WRITE = `
  BEGIN;
  SET LOCAL lock_timeout = ${READINESS_LOCK_TIMEOUT_MS};
  SET LOCAL work_mem = '64kB';
  SET LOCAL temp_tablespaces = '';
  LOCK TABLE ${WRITTEN_TABLES} IN ROW EXCLUSIVE MODE;
  LOCK TABLE ${READ_TABLES} IN ACCESS SHARE MODE;
  SELECT count(*) FROM generate_series(1, 20000);
  SELECT pg_logical_emit_message(true, 'petstore', 'ready');
  COMMIT`

const BLOCKERS = `
  SELECT DISTINCT relation::regclass::text AS "table", pid, application_name AS program
  FROM pg_locks JOIN pg_stat_activity USING (pid)
  WHERE locktype = 'relation' AND granted AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
    AND relation = ANY (ARRAY[${[...WRITTEN_TABLES, ...READ_TABLES].map((name) => `to_regclass('${name}')`)}])`

/** The message is for operators. */
class NotReady extends Error {
  override readonly name = 'NotReady'
}

/**
 * Checks that writes succeed and that new log rows get their positions (see `numberLog`). The check has its own connection,
 * so it does not wait for the pool. If PostgreSQL refuses this additional connection, the check borrows a session of the
 * pool. If all sessions stay in use, the service counts as ready, because overload is not an outage.
 */
export class ReadinessCheck {
  readonly #connection: Connection
  #session: PostgresLongSession | undefined
  /** If the last check still hangs, `run` waits for it instead of starting another. */
  #running: Promise<void> | undefined
  /** Whether the check waits for a session of the pool. */
  #waitsForPool = false
  /**
   * The number of connections that had been lost when the session was opened. After another loss, the session may use the
   * wrong host.
   */
  #lossCount = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Throws a ServiceError whose message names the problem, if there is one. */
  async run(): Promise<void> {
    try {
      this.#connection.requireWritable()
      this.#running ??= this.#check().finally(() => {
        this.#running = undefined
      })
      await withTimeout(this.#running, READINESS_TIMEOUT_MS)
    } catch (error) {
      const isQueued = this.#waitsForPool && error instanceof AnswerTimeout
      if (isQueued || causeOf(error) instanceof Overloaded) return
      await this.close()
      throw withReason(error)
    }
  }

  async close(): Promise<void> {
    const session = this.#session
    this.#session = undefined
    await session?.close()
  }

  async #check(): Promise<void> {
    if (this.#lossCount !== this.#connection.lossCount) await this.close()
    this.#lossCount = this.#connection.lossCount
    try {
      this.#session ??= await this.#connection.openSeparateSession()
    } catch (error) {
      if (!hasState(error, TOO_MANY_CONNECTIONS)) throw error
      this.#waitsForPool = true
      const borrowed = await this.#connection
        .openLongSession({ isUrgent: true, hasStatementTimeout: true })
        .finally(() => {
          this.#waitsForPool = false
        })
      return checkReadiness(borrowed).finally(() => borrowed.close())
    }
    await checkReadiness(this.#session)
  }
}

async function checkReadiness(session: PostgresLongSession): Promise<void> {
  await session.withSession(checkAcceptsWrites)
  try {
    await session.run(TRY_WRITE)
  } catch (error) {
    throw hasState(error, LOCK_TIMEOUT) ? await explainLockTimeout(session) : error
  }
  await checkNumbering(session)
  const newerTables = await findNewerTablesError(session)
  if (newerTables !== undefined) throw unavailableError(newerTables)
}

async function explainLockTimeout(session: PostgresLongSession): Promise<Error> {
  await session.run('ROLLBACK')
  const found = await session.rows<{ table: string; pid: number; program: string }>(BLOCKERS)
  const blockers = found.map(
    ({ table, pid, program }) => `${table} locked by ${program || 'a session'} (pid ${pid})`,
  )
  return new NotReady(
    `writes wait for a lock on a table${blockers.length === 0 ? '' : `: ${blockers.join(', ')}`}; end the transaction that holds the lock, or wait for it`,
  )
}

/** Throws if log rows without a position stay without one. A backlog is fine as long as its rows get positions. */
async function checkNumbering(session: PostgresLongSession): Promise<void> {
  const before = await numberingState(session)
  await session.run(
    `BEGIN; SET LOCAL lock_timeout = ${READINESS_LOCK_TIMEOUT_MS}; SET LOCAL statement_timeout = ${READINESS_LOCK_TIMEOUT_MS}`,
  )
  try {
    await session.withSession(numberLog)
    await session.run('COMMIT')
  } catch (error) {
    await session.run('ROLLBACK')
    if (!hasState(error, LOCK_TIMEOUT) && !hasState(error, STATEMENT_CANCELLED)) throw error
    if ((await numberingState(session)) !== before) return
    throw new NotReady('the log is not being numbered, so events and webhooks are not sent', { cause: error })
  }
}

async function numberingState(session: PostgresLongSession): Promise<string | undefined> {
  const [row] = await session.rows<{ state: string }>(
    'SELECT concat(last, snapshot) AS state FROM log_numbering',
  )
  return row?.state
}

/** Puts known problems into the message. PostgreSQL's own message is the cause, which is logged. */
function withReason(error: unknown): ServiceError {
  const cause = causeOf(error)
  const reason = reasonOf(cause)
  if (reason !== undefined) {
    return new ServiceError('service_unavailable', `the database cannot be used: ${reason}`, { cause })
  }
  return error instanceof ServiceError ? error : unavailableError(error)
}

function causeOf(error: unknown): unknown {
  return error instanceof ServiceError ? error.cause : error
}

function reasonOf(cause: unknown): string | undefined {
  if (cause instanceof AnswerTimeout)
    return `a write has taken longer than ${READINESS_TIMEOUT_MS / SECOND} s`
  if (hasState(cause, DISK_FULL)) return 'its disk is full; free some space'
  const isForOperators = [NotReady, UnusableHosts, ReadOnly].some((type) => cause instanceof type)
  return isForOperators && cause instanceof Error ? cause.message : undefined
}

const INSPECTION_LOCK_TIMEOUT_MS = 5 * SECOND

/** PostgreSQL checks its pages itself (data checksums, amcheck), so only the contents are checked here. */
export function findDamage(connection: Connection): Promise<string[]> {
  return inLongSession(connection, async (session) => {
    await session.beginRead()
    await session.run(`SET LOCAL lock_timeout = ${INSPECTION_LOCK_TIMEOUT_MS}`)
    const damage: string[] = []
    for (const check of CHECKS) {
      damage.push(...describeViolations(check, await session.rows<Violation>(violationsSql(check))))
    }
    return damage
  })
}

/** Describes session settings that are not in force although each connection asks for them. */
export async function findWrongSettings(
  database: RowSource,
  wanted: Readonly<Record<string, string | number>>,
): Promise<string[]> {
  const found = await database.rows<{ name: string; setting: string }>(
    'SELECT name, setting FROM pg_settings',
  )
  const actualValues = new Map(found.map(({ name, setting }) => [name, setting]))
  const dropped = Object.entries(wanted).filter(([name, value]) => actualValues.get(name) !== String(value))
  if (dropped.length === 0) return []
  const list = dropped.map(([name, value]) => `${name} is ${actualValues.get(name)} instead of ${value}`)
  return [
    `session settings are not in force: ${list.join(', ')}. A pooler such as PgBouncer has dropped them: set them for the role (ALTER ROLE … SET), see Connections in docs/scaling.md`,
  ]
}
