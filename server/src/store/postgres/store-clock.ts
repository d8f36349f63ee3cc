import type { Clock } from '../../core/values/clock.ts'
import type { SqlDatabase } from '../sql.ts'
import type { StoreClock } from '../store-clock.ts'

/**
 * The time in milliseconds by the one clock that all instances share, as SQL: two instances whose own clocks differ by
 * an hour would empty each other's windows. `given` is the parameter with the time that tests have instead, or NULL.
 */
export function storeTime(given: `$${number}`): string {
  return `coalesce(${given}::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)`
}

export async function readStoreTime(database: Pick<SqlDatabase, 'rows'>, clock?: Clock): Promise<number> {
  const [row] = await database.rows<{ now: bigint }>(`SELECT ${storeTime('$1')} AS now`, clock?.() ?? null)
  if (row === undefined) throw new Error('the database did not tell the time')
  return Number(row.now)
}

/** Within a subquery, which is asked once: the clock itself would be for each row, and no index could be used. */
export function storeClock(clock?: Clock): StoreClock {
  return { sql: (given) => `(SELECT ${storeTime(given)})`, given: () => clock?.() ?? null }
}
