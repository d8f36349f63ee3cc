import type { SQL } from 'bun'
import type { Clock } from '../../core/values/clock.ts'

/** Tells the time by the one clock that all instances share. */
export type StoreClock = (sql: SQL) => Promise<number>

/**
 * The database's clock: two instances whose own clocks differ by an hour would empty each other's windows. Tests give
 * one that they move.
 */
export function storeClock(given: Clock | undefined): StoreClock {
  if (given !== undefined) return async () => given()
  return async (sql) => {
    const [row] = await sql<{ now: bigint }[]>`
      SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`.execute()
    if (row === undefined) throw new Error('the database did not tell the time')
    return Number(row.now)
  }
}
