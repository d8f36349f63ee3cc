import type { SQL } from 'bun'
import type { CountedWindows, RequestCount, SharedLimitStore } from '../../core/limits/limit-store.ts'
import { newLimitState } from '../../core/limits/rate-windows.ts'
import { DAY, MINUTE, SECOND } from '../../core/values/clock.ts'
import { type LimitRow, saveStatements, toState, toStates } from '../limits.ts'
import type { RowOf } from '../record-rows.ts'
import type { StoreClock } from '../sql.ts'
import type { Connection } from './connection.ts'
import { arrayText, quotedElement } from './dialect.ts'
import { hasState, LOCK_TIMEOUT } from './failures.ts'
import { runAll } from './session.ts'
import { storeTimeSql } from './store-clock.ts'

export function sharedLimitStore(connection: Connection, clock: StoreClock): SharedLimitStore {
  return {
    readState: async (keyId) => {
      const [row] = await connection.rows<TimedRow>(
        `SELECT time.now, limit_windows.* FROM (SELECT ${clock.nowSql('$2')} AS now) AS time
        LEFT JOIN limit_windows ON key_id = $1`,
        keyId,
        clock.processTime(),
      )
      if (row === undefined) throw new Error('a LEFT JOIN of one row must return a row')
      return { state: row.key_id === null ? newLimitState() : toState(row), now: Number(row.now) }
    },

    changeLimits: async (keyIds, change, lockWait = 'full') => {
      const changeRows = () => changeLockedRows(connection, clock, keyIds.toSorted(), change, lockWait)
      let missingIds = await changeRows()
      // Missing rows are inserted in a separate transaction. Inserting them after the other rows are locked would break the
      // order of locks and could deadlock.
      while (missingIds !== 'locked' && missingIds.length > 0) {
        const addedIds = missingIds
        await connection.run((sql) => addRows(sql, addedIds))
        missingIds = await changeRows()
      }
      return missingIds === 'locked' ? 'locked' : 'saved'
    },

    countRequests: async (counts) => {
      const rows = await orLocked(connection.run((sql) => runCount(sql, counts, clock.processTime())))
      if (rows === 'locked') return new Map()
      return new Map(rows.map((row) => [row.key_id, toCountedWindows(row)]))
    },
  }
}

/** Without a row of the key, all columns but `now` are null. */
type TimedRow = { readonly now: bigint } & (LimitRow | { readonly key_id: null })

/** A decision of another instance holds its locks for a much shorter time. */
const BRIEF_LOCK_WAIT_MS = 250
/** If an instance is suspended in the middle of a decision, the server rolls it back after this time. */
const MAX_PAUSE_MS = 2 * SECOND

/** Resolves to `locked` if a row was locked for too long. */
function orLocked<T>(work: Promise<T>): Promise<T | 'locked'> {
  return work.catch((error: unknown) => {
    if (hasState(error, LOCK_TIMEOUT)) return 'locked'
    throw error
  })
}

/** Returns the ids of the keys that have no row yet. If there are any, changes nothing. */
async function changeLockedRows(
  connection: Connection,
  clock: StoreClock,
  keyIds: readonly string[],
  change: Parameters<SharedLimitStore['changeLimits']>[1],
  lockWait: 'brief' | 'full',
): Promise<string[] | 'locked'> {
  let missingIds: string[] = []
  const timeouts = { maxPauseMs: MAX_PAUSE_MS }
  const work = connection.readThenWrite(
    'unflushed',
    (sql) => {
      const keys = arrayText(keyIds, quotedElement)
      // The clock is read after the rows are locked.
      return Promise.all([
        sql<LimitRow[]>`
          SELECT * FROM limit_windows WHERE key_id = ANY (${keys}::text[]) ORDER BY key_id FOR NO KEY UPDATE`.execute(),
        sql.unsafe<{ now: bigint }[]>(`SELECT ${clock.nowSql('$1')} AS now`, [clock.processTime()]).execute(),
      ])
    },
    (sql, [rows, [time]]) => {
      const lockedIds = new Set(rows.map((row) => row.key_id))
      missingIds = keyIds.filter((keyId) => !lockedIds.has(keyId))
      if (missingIds.length > 0) return undefined
      if (time === undefined) throw new Error('SELECT without FROM must return a row')
      return runAll(sql, saveStatements(change(toStates(rows), Number(time.now))))
    },
    lockWait === 'brief' ? { ...timeouts, maxLockWaitMs: BRIEF_LOCK_WAIT_MS } : timeouts,
  )
  const found = lockWait === 'brief' ? await orLocked(work) : await work
  return found === 'locked' ? 'locked' : missingIds
}

function addRows(sql: SQL, keyIds: readonly string[]) {
  return sql`
    INSERT INTO limit_windows (
      key_id, minute_started_at, minute_used, minute_rejected, day_started_at, day_used, day_rejected)
    SELECT key_id, 0, 0, 0, 0, 0, 0
    FROM unnest(${arrayText(keyIds, quotedElement)}::text[]) AS new (key_id) ORDER BY key_id
    ON CONFLICT DO NOTHING`
}

type CountedRow = Pick<
  RowOf<'limit_windows'>,
  'key_id' | 'minute_started_at' | 'minute_used' | 'day_started_at' | 'day_used' | 'last_used_at'
>

const NOW = storeTimeSql('$5')

/** A condition that is always true. The statement then waits only briefly for each row that it locks afterwards. */
const BRIEF_LOCK_WAIT = `(SELECT set_config('lock_timeout', '${BRIEF_LOCK_WAIT_MS}', true)) IS NOT NULL`

/** For one key, which is faster than SEVERAL_KEYS. */
const ONE_KEY = `request_counts AS (
    SELECT $1::text AS key_id, $2::bigint AS requests, $3::bigint AS per_minute, $4::bigint AS per_day
  )`

/** Locks the rows in the order of the parameters, which are sorted, to avoid deadlocks. */
const SEVERAL_KEYS = `request_counts AS MATERIALIZED (
    SELECT request_counts.*
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[])
      AS request_counts (key_id, requests, per_minute, per_day)
    CROSS JOIN LATERAL (
      SELECT FROM limit_windows WHERE key_id = request_counts.key_id AND ${BRIEF_LOCK_WAIT} FOR NO KEY UPDATE) AS locked
  )`

/**
 * Counts requests that stay within their limits, which are nearly all requests, in one round trip and without waiting for the
 * disk. The statement applies the rule of core/limits/rate-windows.ts, and the tests of both use the same cases. It skips
 * keys that may have to be refused or whose window must restart; `changeLimits` handles those.
 *
 * If another transaction has locked a row, PostgreSQL evaluates the conditions again after the lock is released.
 */
const countSql = (requestCountsSql: string) => `
  WITH ${requestCountsSql}
  UPDATE limit_windows AS windows
  SET minute_used = minute_used + requests, day_used = day_used + requests, last_used_at = ${NOW}
  FROM request_counts
  WHERE windows.key_id = request_counts.key_id AND ${NOW} >= last_used_at
    AND minute_used > 0 AND ${NOW} < minute_started_at + ${MINUTE} AND minute_used + requests <= per_minute
    AND day_used > 0 AND ${NOW} < day_started_at + ${DAY} AND day_used + requests <= per_day
    AND (ban_ends_at IS NULL OR ban_ends_at <= ${NOW})
    AND (SELECT set_config('synchronous_commit', 'off', true)) IS NOT NULL AND ${BRIEF_LOCK_WAIT}
  RETURNING windows.key_id, minute_started_at, minute_used, day_started_at, day_used, last_used_at`
const COUNT_ONE = countSql(ONE_KEY)
const COUNT_SEVERAL = countSql(SEVERAL_KEYS)

function runCount(sql: SQL, counts: readonly RequestCount[], now: number | null) {
  const [one] = counts
  if (one !== undefined && counts.length === 1) {
    const { keyId, requests, limits } = one
    return sql.unsafe<CountedRow[]>(COUNT_ONE, [keyId, requests, limits.perMinute, limits.perDay, now])
  }
  const sorted = counts.toSorted((first, second) => (first.keyId < second.keyId ? -1 : 1))
  return sql.unsafe<CountedRow[]>(COUNT_SEVERAL, [
    arrayText(sorted, ({ keyId }) => quotedElement(keyId)),
    arrayText(sorted, ({ requests }) => requests),
    arrayText(sorted, ({ limits }) => limits.perMinute),
    arrayText(sorted, ({ limits }) => limits.perDay),
    now,
  ])
}

function toCountedWindows(row: CountedRow): CountedWindows {
  return {
    minute: { startedAt: Number(row.minute_started_at), used: Number(row.minute_used) },
    day: { startedAt: Number(row.day_started_at), used: Number(row.day_used) },
    at: Number(row.last_used_at),
  }
}
