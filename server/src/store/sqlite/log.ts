import { fromCursor, toCursor } from '../../core/stock/log-cursor.ts'
import type { StockEvents } from '../../core/stock/stock-event.ts'
import type { LogMethods } from '../cursor.ts'
import { pruneStatement } from '../history.ts'
import { type EventRow, LOG_SELECT_LIST, toEvent } from '../log-rows.ts'
import type { Connection } from './connection.ts'

/** Each event is a row of the log, and the id of the row is the position in its cursor. */
export function logMethods(connection: Connection): LogMethods {
  const { database } = connection
  const rowsAfter = database.query<EventRow, [bigint, bigint, number]>(`
    SELECT id, ${LOG_SELECT_LIST} FROM log
    WHERE id > ? AND id <= ? ORDER BY id LIMIT ?
  `)

  const eventsAfter = (cursor: string, limit: number) =>
    connection.readLog((end): StockEvents | 'relist_needed' => {
      const start = fromCursor(cursor)
      const { identity } = end
      if (start?.identity !== identity || start.position < end.pruned || start.position > end.position)
        return 'relist_needed'
      if (start.position === end.position) return { events: [], cursor }
      const events = rowsAfter
        .all(start.position, end.position, limit)
        .map((row) => toEvent(row, toCursor({ position: row.id, identity })))
      const lastCursor = events.length < limit ? toCursor(end) : events.at(-1)?.cursor
      return { events, cursor: lastCursor ?? cursor }
    })

  return {
    // Cursors of an earlier identity stay valid only after the promotion of a PostgreSQL standby.
    logRange: () => connection.readLog((end) => ({ ...end, earlier: [] })),

    latestEventCursor: () => connection.readLog(toCursor),

    eventsAfter,

    pruneHistory: async (limit, maxRows) => {
      const [removed = 0] = await connection.commit([pruneStatement(limit, maxRows)])
      return removed
    },
  }
}
