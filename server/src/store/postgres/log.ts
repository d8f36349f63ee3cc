import type { StockEvents } from '../../core/stock/stock-event.ts'
import type { EventStore, HistoryStore } from '../../core/stock/stock-store.ts'
import type { DeliveryStore } from '../../core/webhooks/webhook-store.ts'
import { fromCursor, toCursor } from '../cursor.ts'
import { prunableIds } from '../history.ts'
import { type LogRow, MAX_BEHIND, toEvent } from '../log-rows.ts'
import type { Connection } from './connection.ts'
import type { Session } from './session-pool.ts'

interface Numbering {
  identity: string
  last: bigint
}

interface PlaceRow extends Omit<LogRow, 'id'> {
  place: bigint
  log_id: bigint | null
  id: bigint | null
}

type LogVerbs = Omit<EventStore, 'version'> &
  Pick<HistoryStore, 'pruneHistory'> &
  Pick<DeliveryStore, 'eventsAfter'>

/** An event's place in the log is its cursor. Places are given when somebody asks: see number_log. */
export function logVerbs(connection: Connection): LogVerbs {
  return {
    latestEventCursor: () =>
      connection.run(async (session) => {
        const { identity, last } = await numbering(session)
        return toCursor({ position: last, identity })
      }),

    stockEventsAfter: (cursor, limit) => eventsAfter(connection, cursor, limit, MAX_BEHIND),
    eventsAfter: (cursor, limit) => eventsAfter(connection, cursor, limit, undefined),

    pruneHistory: async (limit, batch) => {
      // What has no place yet would be missing among the events.
      await connection.run(numbering)
      return connection.transaction(async (session) => {
        const [text, value] = prunableIds(limit, `LIMIT ${Math.floor(batch)}`)
        const { count } = await session.unsafe(
          `DELETE FROM log WHERE id IN (${text})
            AND pg_visible_in_snapshot(xid, (SELECT snapshot FROM log_numbering))`,
          [value],
        )
        await session`
          DELETE FROM log_places WHERE place < coalesce(
            (SELECT place FROM log_places WHERE EXISTS (SELECT FROM log WHERE id = log_id) ORDER BY place LIMIT 1),
            (SELECT last FROM log_numbering))`
        return count
      })
    },
  }
}

async function eventsAfter(
  connection: Connection,
  cursor: string,
  limit: number,
  maxBehind: bigint | undefined,
): Promise<StockEvents | 'too_far' | 'unknown_cursor'> {
  const from = fromCursor(cursor)
  if (from === undefined) return 'unknown_cursor'
  const [{ identity, last }, rows] = await connection.run((session) =>
    // The second begins when the first is done, and so sees the places that it gave.
    Promise.all([numbering(session), placesAfter(session, from.position, limit)]),
  )
  const behind = last - from.position
  const isFar = maxBehind !== undefined && behind > maxBehind
  if (from.identity !== identity || behind < 0n || isFar) return 'too_far'
  // Places that are gone, or whose rows are, have been removed.
  if (behind > 0n && rows[0]?.place !== from.position + 1n) return 'too_far'
  if (rows.some(({ log_id, id }) => log_id !== null && id === null)) return 'too_far'
  const events = rows.map(({ place, id, ...row }) => {
    const at = toCursor({ position: place, identity })
    return id === null ? ({ kind: 'relist', cursor: at } as const) : toEvent({ ...row, id }, at)
  })
  return { events, cursor: events.at(-1)?.cursor ?? cursor }
}

export async function numbering(session: Session): Promise<Numbering> {
  const [row] = await session<Numbering[]>`SELECT identity, last FROM number_log(${MAX_BEHIND})`.execute()
  if (row === undefined) throw new Error('the database did not number its log')
  return row
}

function placesAfter(session: Session, from: bigint, limit: number) {
  return session<PlaceRow[]>`
    SELECT place, log_id, id, kind, pet_id, before, after, status, at, key_id, reason, reference, detail
    FROM log_places LEFT JOIN log ON id = log_id
    WHERE place > ${from} ORDER BY place LIMIT ${limit}::bigint`.execute()
}
