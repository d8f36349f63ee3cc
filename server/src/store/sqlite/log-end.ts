import type { Database } from 'bun:sqlite'

/** Where `history` and `stock_changes` end. Their ids only grow, so this tells whether anything has happened since. */
export interface LogEnd {
  readonly history: bigint
  readonly changes: bigint
}

/** Where the history ends at the moment, for a row of stock_changes that comes after it. */
export const HISTORY_END = '(SELECT coalesce(max(id), 0) FROM history)'
const START: LogEnd = { history: 0n, changes: 0n }

export function logEndReader(database: Database): () => LogEnd {
  const end = database.query<LogEnd, []>(
    `SELECT ${HISTORY_END} AS history, (SELECT coalesce(max(id), 0) FROM stock_changes) AS changes`,
  )
  return () => end.get() ?? START
}

export function isSameEnd(one: LogEnd, other: LogEnd): boolean {
  return one.history === other.history && one.changes === other.changes
}
