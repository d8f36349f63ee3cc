import type { SQL } from 'bun'
import type { RequestCount } from '../../core/limits/usage.ts'
import type { Clock } from '../../core/values/clock.ts'
import type { Store } from '../store.ts'
import { columnOf } from './columns.ts'
import type { Connection } from './connection.ts'

interface CountedRow {
  key_id: string
  minute_started_at: bigint
  minute_used: bigint
  day_started_at: bigint
  day_used: bigint
  last_used_at: bigint
}

/**
 * One statement, and so one way to the database, for the keys that have room: almost all, almost always. It is
 * `hasRoomFor` of the core in SQL. A ban that is being written meanwhile is not seen, but it begins with a window that
 * is used up, which is. As with every change of limits, the disk is not waited for.
 */
export function requestCountVerbs(
  connection: Connection,
  clock: Clock | undefined,
): Pick<Store, 'countRequests'> {
  return {
    countRequests: async (counts) => {
      const [first] = counts
      const rows = await connection.run((sql) =>
        counts.length === 1 && first !== undefined
          ? countOne(sql, first, clock?.())
          : countSeveral(sql, counts, clock?.()),
      )
      return new Map(
        rows.map((row) => [
          row.key_id,
          {
            minute: { startedAt: Number(row.minute_started_at), used: Number(row.minute_used) },
            day: { startedAt: Number(row.day_started_at), used: Number(row.day_used) },
            at: Number(row.last_used_at),
          },
        ]),
      )
    },
  }
}

/**
 * Half the work of the other one, and most of the time there is one key. Where another holds the row, its conditions
 * are looked at again once it is free, at the time by then.
 */
const COUNT_ONE = `
  WITH counted AS (
    UPDATE limit_windows SET minute_used = minute_used + $2, day_used = day_used + $2, last_used_at = store_time($5)
    WHERE key_id = $1 AND store_time($5) >= last_used_at
      AND minute_used > 0 AND store_time($5) < minute_started_at + 60000 AND minute_used + $2 <= $3
      AND day_used > 0 AND store_time($5) < day_started_at + 86400000 AND day_used + $2 <= $4
      AND NOT EXISTS (SELECT FROM bans WHERE key_id = $1 AND lifted_at IS NULL AND ends_at > store_time($5))
      AND set_config('synchronous_commit', 'off', true) IS NOT NULL
    RETURNING key_id, minute_started_at, minute_used, day_started_at, day_used, last_used_at
  ), days AS (
    INSERT INTO usage_days SELECT key_id, day_of(last_used_at), $2, 0 FROM counted
    ON CONFLICT (key_id, day) DO UPDATE SET accepted = usage_days.accepted + excluded.accepted
  )
  SELECT * FROM counted`

function countOne(sql: SQL, { keyId, requests, limits }: RequestCount, now: number | undefined) {
  return sql.unsafe<CountedRow[]>(COUNT_ONE, [keyId, requests, limits.perMinute, limits.perDay, now ?? null])
}

/** The rows are locked in the order of the keys, and what is updated is what is found under the lock, at a time read after it. */
function countSeveral(sql: SQL, counts: readonly RequestCount[], now: number | undefined) {
  const keyIds = columnOf(sql, counts, 'TEXT', ({ keyId }) => keyId)
  return sql<CountedRow[]>`
    WITH locked AS MATERIALIZED (
      SELECT key_id, minute_started_at, minute_used, day_started_at, day_used, last_used_at
      FROM limit_windows WHERE key_id = ANY (${keyIds}) ORDER BY key_id FOR NO KEY UPDATE
    ), time AS MATERIALIZED (
      SELECT store_time(${now ?? null}) AS now, set_config('synchronous_commit', 'off', true)
      FROM (SELECT count(*) FROM locked) AS all_locked
    ), fitting AS MATERIALIZED (
      SELECT key_id, requests, now
      FROM unnest(${keyIds},
        ${columnOf(sql, counts, 'BIGINT', ({ requests }) => requests)},
        ${columnOf(sql, counts, 'BIGINT', ({ limits }) => limits.perMinute)},
        ${columnOf(sql, counts, 'BIGINT', ({ limits }) => limits.perDay)}
      ) AS asked (key_id, requests, per_minute, per_day)
      JOIN locked USING (key_id) CROSS JOIN time
      WHERE now >= last_used_at
        AND minute_used > 0 AND now < minute_started_at + 60000 AND minute_used + requests <= per_minute
        AND day_used > 0 AND now < day_started_at + 86400000 AND day_used + requests <= per_day
        AND NOT EXISTS (
          SELECT FROM bans WHERE bans.key_id = locked.key_id AND lifted_at IS NULL AND ends_at > now)
    ), days AS (
      INSERT INTO usage_days SELECT key_id, day_of(now), requests, 0 FROM fitting ORDER BY key_id
      ON CONFLICT (key_id, day) DO UPDATE SET accepted = usage_days.accepted + excluded.accepted
    )
    UPDATE limit_windows AS counted SET
      minute_used = minute_used + requests, day_used = day_used + requests, last_used_at = now
    FROM fitting WHERE counted.key_id = fitting.key_id
    RETURNING counted.key_id, minute_started_at, minute_used, day_started_at, day_used, last_used_at`
}
