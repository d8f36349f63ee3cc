import { MAX_EVENTS_BEHIND } from '../../core/stock/event-hub.ts'
import { fromCursor } from '../../core/stock/log-cursor.ts'
import type { StockEvents } from '../../core/stock/stock-event.ts'
import { cursorAt, isCursorOf, type LogMethods, type LogRange } from '../cursor.ts'
import { pruneStatement } from '../history.ts'
import { type EventRow, LOG_SELECT_LIST, toEvent } from '../log-rows.ts'
import { inLongSession, statement } from '../sql.ts'
import type { Connection } from './connection.ts'
import { hasState, STATEMENT_CANCELLED } from './failures.ts'
import type { Session } from './session-pool.ts'

interface Numbering {
  readonly identity: string
  /** The last place that is assigned to a row. */
  readonly last: bigint
  /** The last place that is reserved for rows that are still being numbered; equal to `last` if there are no such rows. */
  readonly reserved: bigint
  /** The last cursor of each earlier identity, separated by blanks. A promotion changes the identity. */
  readonly earlier: string
}

interface PlaceRow extends Omit<EventRow, 'id'> {
  place: bigint
  /** Null for a place without a row: subscribers must read the whole stock again. */
  log_id: bigint | null
  /** Null if the place has no row, or if its row was pruned. */
  id: bigint | null
}

/** A condition on log rows. Rows up to the floor came with a dump: they need no place, as the restore ended all cursors. */
const HAS_PLACE_OR_NEEDS_NONE = `(id <= (SELECT floor FROM log_numbering)
  OR pg_visible_in_snapshot(xid, (SELECT snapshot FROM log_numbering)))`

/** The position in an event's cursor is its place in the log. Reading the log assigns places to new rows: see number_log. */
export function logMethods(connection: Connection): LogMethods {
  const retryOnTimeout = retryAfterNumbering(connection)
  const logRange = async () => rangeOf(await retryOnTimeout(() => connection.run(numberLog)))
  return {
    logRange,

    latestEventCursor: async () => {
      const range = await logRange()
      return cursorAt(range, range.position)
    },

    eventsAfter: (cursor, limit) => retryOnTimeout(() => eventsAfter(connection, cursor, limit)),

    pruneHistory: async (limit, maxRows) => {
      // Assigns a place to each row first, because a row that is pruned without a place would never become an event.
      await logRange()
      const [removed = 0] = await connection.commit([
        pruneStatement(limit, maxRows, HAS_PLACE_OR_NEEDS_NONE),
        statement(`
          DELETE FROM log_places WHERE place < coalesce(
            (SELECT place FROM log_places WHERE EXISTS (SELECT FROM log WHERE id = log_id) ORDER BY place LIMIT 1),
            (SELECT last FROM log_numbering))`),
      ])
      return removed
    },
  }
}

/**
 * Returns a function that runs `work`. If `work` exceeds the statement timeout, the function calls number_log without a timeout
 * and then retries. Numbering the rows of a very large transaction may take longer than the timeout, and each new call would
 * start from the beginning.
 */
function retryAfterNumbering(connection: Connection): <T>(work: () => Promise<T>) => Promise<T> {
  let numbering: Promise<unknown> | undefined
  const numberWithoutTimeout = () =>
    inLongSession(connection, async (session) => {
      await session.run('BEGIN; SET LOCAL statement_timeout = 0')
      await session.rows('SELECT number_log($1)', MAX_EVENTS_BEHIND)
      await session.run('COMMIT')
    })
  return async (work) => {
    try {
      return await work()
    } catch (error) {
      if (!hasState(error, STATEMENT_CANCELLED)) throw error
      numbering ??= numberWithoutTimeout().finally(() => {
        numbering = undefined
      })
      await numbering
      return work()
    }
  }
}

async function eventsAfter(
  connection: Connection,
  cursor: string,
  limit: number,
): Promise<StockEvents | 'relist_needed'> {
  const start = fromCursor(cursor)
  if (start === undefined) return 'relist_needed'
  const [numbering, placeRows] = await connection.run((session) =>
    // The statements run in order, so the second sees the places that the first has assigned.
    Promise.all([numberLog(session), placesAfter(session, start.position, limit)]),
  )
  const range = rangeOf(numbering)
  if (!isCursorOf(range, start)) return 'relist_needed'
  // A connection pooler may have sent the second statement to another server, where later places belong to another identity.
  const rows = placeRows.filter(({ place }) => place <= numbering.last)
  // If the next place is missing, or a place has lost its row, events were pruned.
  if (numbering.last > start.position && rows[0]?.place !== start.position + 1n) return 'relist_needed'
  if (rows.some(({ log_id, id }) => log_id !== null && id === null)) return 'relist_needed'
  const events = rows.map(({ place, id, ...row }) => {
    const eventCursor = cursorAt(range, place)
    if (id === null) return { kind: 'relist', cursor: eventCursor } as const
    return toEvent({ ...row, id }, eventCursor)
  })
  return { events, cursor: events.at(-1)?.cursor ?? cursorAt(range, start.position) }
}

/** Assigns places to new rows, and returns the state of the numbering. */
export async function numberLog(session: Session): Promise<Numbering> {
  const [row] = await session<Numbering[]>`
    SELECT identity, last, coalesce(round_last, last) AS reserved, earlier FROM number_log(${MAX_EVENTS_BEHIND})`.execute()
  if (row === undefined) throw new Error('number_log returned no row')
  return row
}

function rangeOf({ identity, reserved, earlier }: Numbering): LogRange {
  const cursors = earlier.split(' ').flatMap((text) => fromCursor(text) ?? [])
  return { position: reserved, identity, earlier: cursors }
}

const PLACES_AFTER = `
  SELECT place, log_id, id, ${LOG_SELECT_LIST} FROM log_places LEFT JOIN log ON id = log_id
  WHERE place > $1 ORDER BY place LIMIT $2::bigint`

function placesAfter(session: Session, place: bigint, limit: number) {
  return session.unsafe<PlaceRow[]>(PLACES_AFTER, [place, BigInt(limit)]).execute()
}
