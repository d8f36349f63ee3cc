import type { Database } from 'bun:sqlite'
import type { LogCursor } from '../cursor.ts'
import { LAST_LOG_ID } from './dialect.ts'

/** Where the log ends, and up to where it has been removed. */
export interface LogEnd extends LogCursor {
  readonly pruned: bigint
}

/** The next row gets the position after this one. Ids are those of the commits, since there is one writer at a time. */
export const LOG_END = `SELECT identity, ${LAST_LOG_ID} AS position, pruned_up_to AS pruned FROM log_state`

export function readLogEnd(database: Database): () => LogEnd {
  const query = database.query<LogEnd, []>(LOG_END)
  return () => {
    const end = query.get()
    if (end === null) throw new Error('the database does not tell its identity: log_state is empty')
    return end
  }
}

/** The end for a reader that must not see what stands behind `position`, if that is given. */
export function upTo(position: bigint | undefined, end: LogEnd): LogEnd {
  return position === undefined || position >= end.position ? end : { ...end, position }
}
