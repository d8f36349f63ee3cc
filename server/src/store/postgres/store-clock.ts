import { type Clock, SECOND } from '../../core/values/clock.ts'
import type { RowSource, StoreClock } from '../sql.ts'
import type { Connection } from './connection.ts'

/**
 * SQL for the time of the database in milliseconds. All instances use this clock: with different clocks, they would reset each
 * other's rate-limit windows. `processTime` is a parameter that holds the time in a test, and otherwise NULL.
 */
export function storeTimeSql(processTime: `$${number}`): string {
  return `coalesce(${processTime}::bigint, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)`
}

export async function readStoreTime(database: RowSource, clock?: Clock): Promise<number> {
  const [row] = await database.rows<{ now: bigint }>(`SELECT ${storeTimeSql('$1')} AS now`, clock?.() ?? null)
  if (row === undefined) throw new Error('the database did not return its time')
  return Number(row.now)
}

/**
 * Wraps the clock in a subquery, which is evaluated once per statement. Otherwise PostgreSQL would read the clock for each row
 * and use no index.
 */
export function storeClock(clock?: Clock): StoreClock {
  return {
    sql: (processTime) => `(SELECT ${storeTimeSql(processTime)})`,
    processTime: () => clock?.() ?? null,
  }
}

/** How often the clocks are compared. They drift by less than a millisecond in this time. */
const COMPARE_EVERY_MS = 5 * SECOND

/**
 * The clock of the database, readable without a round trip. It adds an offset to the monotonic clock of the process and never
 * reads the wall clock. Its error is at most the duration of one round trip.
 */
export class DatabaseClock {
  readonly #connection: Pick<Connection, 'run'>
  /** The time of the database minus the monotonic clock. */
  #offset: number | undefined
  #timer: Timer | undefined

  static async open(connection: Pick<Connection, 'run'>): Promise<DatabaseClock> {
    const clock = new DatabaseClock(connection)
    await clock.#compare()
    // If the comparison fails, for example during an outage, the clock keeps its offset.
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

  /** The database reads its clock between `sentAt` and `receivedAt`, which gives a lower and an upper bound of the offset. */
  async #compare(): Promise<void> {
    await this.#connection.run(async (session) => {
      const sentAt = performance.now()
      const [row] = await session<{ now: number }[]>`
        SELECT (extract(epoch FROM clock_timestamp()) * 1000)::double precision AS now`
      const receivedAt = performance.now()
      if (row === undefined) throw new Error('the database did not return its time')
      const lowest = row.now - receivedAt
      const highest = row.now - sentAt
      const offset = this.#offset ?? (lowest + highest) / 2
      this.#offset = Math.min(Math.max(offset, lowest), highest)
    })
  }
}
