import { type Clock, SECOND } from '../../core/values/clock.ts'
import type { StoreClock } from '../sql.ts'
import { readSavedOffset, SteadyClock } from '../steady-clock.ts'
import type { Connection } from './connection.ts'

/**
 * SQL for the time of the database in milliseconds. All instances use this clock: with different clocks, they would reset each
 * other's rate-limit windows. The value of the placeholder, such as $1, is the time in a test, and otherwise NULL.
 */
export function storeTimeSql(placeholder: `$${number}`): string {
  return `coalesce(${placeholder}::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)`
}

/**
 * Wraps the clock in a subquery, which is evaluated once per statement. Otherwise PostgreSQL would read the clock for each row
 * and use no index.
 */
export function storeClock(clock?: Clock): StoreClock {
  return {
    nowSql: (placeholder) => `(SELECT ${storeTimeSql(placeholder)})`,
    processTime: () => clock?.() ?? null,
    isCredible: () => true,
  }
}

/** Like `storeClock`, but while a jump of the database's clock is ignored, statements get the time of `steadyClock`. */
export function steadyStoreClock(steadyClock: SteadyClock): StoreClock {
  return {
    ...storeClock(),
    processTime: () => (steadyClock.ignoredJumpMs === 0 ? null : steadyClock.now()),
    isCredible: (time) => {
      if (steadyClock.isCredible(time)) return true
      steadyClock.followTime(time)
      return false
    },
  }
}

/** How often the clocks are compared. They drift by less than a millisecond in this time. */
const COMPARE_EVERY_MS = 5 * SECOND

export interface DatabaseClock {
  readonly steadyClock: SteadyClock
  close(): void
}

/**
 * Returns the clock of the database, which can be read without a round trip. It adds an offset to the monotonic clock of the
 * process and never reads the wall clock. Its error is at most the duration of one round trip.
 */
export async function openDatabaseClock(connection: Connection): Promise<DatabaseClock> {
  const { lowest, highest } = await offsetBounds(connection)
  const steadyClock = new SteadyClock(
    performance.now() + (lowest + highest) / 2,
    await readSavedOffset(connection),
  )
  const compare = async () => {
    const bounds = await offsetBounds(connection)
    steadyClock.followOffset(bounds.lowest, bounds.highest)
  }
  // If the comparison fails, for example during an outage, the clock keeps its offset.
  const timer = setInterval(() => void compare().catch(() => {}), COMPARE_EVERY_MS)
  timer.unref()
  return { steadyClock, close: () => clearInterval(timer) }
}

/**
 * The lowest and the highest possible offset: the time of the database minus the monotonic clock. The database reads its
 * clock at an unknown moment of the round trip.
 */
function offsetBounds(connection: Pick<Connection, 'run'>) {
  return connection.run(async (session) => {
    const sentAt = performance.now()
    const [row] = await session<{ now: number }[]>`
      SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now`
    const receivedAt = performance.now()
    if (row === undefined) throw new Error('the database did not return its time')
    return { lowest: row.now - receivedAt, highest: row.now - sentAt }
  })
}
