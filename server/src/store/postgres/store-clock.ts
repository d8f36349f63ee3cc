import { type Clock, SECOND } from '../../core/values/clock.ts'
import type { SqlDatabase } from '../sql.ts'
import type { StoreClock } from '../store-clock.ts'
import type { Connection } from './connection.ts'

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

/** How often the clock is compared with the database's. Quartz drifts by less than a millisecond in that time. */
const COMPARE_EVERY_MS = 5 * SECOND

/**
 * The database's clock, readable without a round trip. The process's own wall clock is never read: the monotonic clock
 * counts the milliseconds since the last comparison with the database. The error is at most one round trip.
 */
export class DatabaseClock {
  readonly #connection: Pick<Connection, 'run'>
  /** What has to be added to the monotonic clock. */
  #offset: number | undefined
  #timer: Timer | undefined

  static async open(connection: Pick<Connection, 'run'>): Promise<DatabaseClock> {
    const clock = new DatabaseClock(connection)
    await clock.#compare()
    // While the database is away, the clock keeps running.
    clock.#timer = setInterval(() => void clock.#compare().catch(() => {}), COMPARE_EVERY_MS)
    clock.#timer.unref()
    return clock
  }

  private constructor(connection: Pick<Connection, 'run'>) {
    this.#connection = connection
  }

  readonly now: Clock = () => {
    if (this.#offset === undefined) throw new Error('the database clock has not been read yet')
    return Math.floor(performance.now() + this.#offset)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** The database read its clock between `sent` and `received`, so the offset lies between two bounds. */
  async #compare(): Promise<void> {
    await this.#connection.run(async (session) => {
      const sent = performance.now()
      const [row] = await session<{ now: number }[]>`
        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now`
      const received = performance.now()
      if (row === undefined) throw new Error('the database did not return its time')
      const [lowest, highest] = [row.now - received, row.now - sent]
      const offset = this.#offset ?? (lowest + highest) / 2
      this.#offset = Math.min(Math.max(offset, lowest), highest)
    })
  }
}
