import { type Clock, SECOND } from '../../core/values/clock.ts'
import type { SqlDatabase, StoreClock } from '../sql.ts'
import type { Connection } from './connection.ts'

/**
 * SQL for the time in milliseconds by the clock of the database. Instances with clocks of their own would reset each other's
 * rate-limit windows. `given` is a parameter with the time of a test, or NULL.
 */
export function storeTime(given: `$${number}`): string {
  return `coalesce(${given}::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)`
}

export async function readStoreTime(database: Pick<SqlDatabase, 'rows'>, clock?: Clock): Promise<number> {
  const [row] = await database.rows<{ now: bigint }>(`SELECT ${storeTime('$1')} AS now`, clock?.() ?? null)
  if (row === undefined) throw new Error('the database did not return its time')
  return Number(row.now)
}

/** A subquery is evaluated once per statement. The clock alone would be read for each row and prevent the use of indexes. */
export function storeClock(clock?: Clock): StoreClock {
  return { sql: (given) => `(SELECT ${storeTime(given)})`, given: () => clock?.() ?? null }
}

/** Clocks drift by less than a millisecond in this time. */
const COMPARE_EVERY_MS = 5 * SECOND

/**
 * The clock of the database, readable without a round trip. It adds an offset to the process's monotonic clock; the wall
 * clock is never read. The error is at most one round trip.
 */
export class DatabaseClock {
  readonly #connection: Pick<Connection, 'run'>
  /** The difference to the monotonic clock. */
  #offset: number | undefined
  #timer: Timer | undefined

  static async open(connection: Pick<Connection, 'run'>): Promise<DatabaseClock> {
    const clock = new DatabaseClock(connection)
    await clock.#compare()
    // During an outage the clock keeps running.
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
