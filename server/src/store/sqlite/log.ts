import type { StockEvents } from '../../core/stock/stock-event.ts'
import { fromCursor, type LogMethods, toCursor } from '../cursor.ts'
import { prunableIds } from '../history.ts'
import { LOG_FIELDS, type LogRow, MAX_EVENTS_BEHIND, toEvent } from '../log-rows.ts'
import { statement } from '../sql.ts'
import type { Connection } from './connection.ts'
import { readLogEnd, runStatement, upTo } from './dialect.ts'

/** The events are the rows of the log, and their ids are the cursors. */
export function logMethods(connection: Connection): LogMethods {
  const { database } = connection
  const end = readLogEnd(database)
  // A change of a category is not an event; its effects on pets are.
  const rowsAfter = database.query<LogRow, [bigint, bigint, number]>(`
    SELECT id, ${LOG_FIELDS} FROM log
    WHERE id > ? AND id <= ? AND kind <> 'category' ORDER BY id LIMIT ?
  `)

  const eventsAfter = (cursor: string, limit: number, maxBehind: bigint | undefined) =>
    connection.readLog(
      database.transaction((flushed: bigint | undefined): StockEvents | 'too_far' | 'unknown_cursor' => {
        const from = fromCursor(cursor)
        if (from === undefined) return 'unknown_cursor'
        const now = upTo(flushed, end())
        const behind = now.position - from.position
        const isGone = from.identity !== now.identity || from.position < now.pruned
        if (isGone || behind < 0n || (maxBehind !== undefined && behind > maxBehind)) return 'too_far'
        if (behind === 0n) return { events: [], cursor }
        const { identity } = now
        const events = rowsAfter
          .all(from.position, now.position, limit)
          .map((row) => toEvent(row, toCursor({ position: row.id, identity })))
        const last = events.length < limit ? toCursor(now) : events.at(-1)?.cursor
        return { events, cursor: last ?? cursor }
      }),
    )

  return {
    // A file has one timeline.
    logRange: () => connection.readLog((flushed) => ({ ...upTo(flushed, end()), earlier: [] })),

    latestEventCursor: () => connection.readLog((flushed) => toCursor(upTo(flushed, end()))),

    stockEventsAfter: (cursor, limit) => eventsAfter(cursor, limit, MAX_EVENTS_BEHIND),
    eventsAfter: (cursor, limit) => eventsAfter(cursor, limit, undefined),

    pruneHistory: (limit, batch) =>
      connection.write(() => {
        const [text, value] = prunableIds(limit, `LIMIT ${Math.floor(batch)}`)
        return runStatement(database, statement(`DELETE FROM log WHERE id IN (${text})`, value)).changes
      }),
  }
}
