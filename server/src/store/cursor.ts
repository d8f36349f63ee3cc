import { type LogCursor, toCursor } from '../core/stock/log-cursor.ts'
import type { EventStore, HistoryStore } from '../core/stock/stock-store.ts'

/** The valid cursors of a log. Its own fields are the last cursor. The promotion of a standby changes the identity. */
export interface LogRange extends LogCursor {
  /** The last cursor of each earlier identity, in the order of their positions. */
  readonly earlier: readonly LogCursor[]
}

/** The methods of the log that each adapter implements. */
export interface LogMethods extends Omit<EventStore, 'version'>, Pick<HistoryStore, 'pruneHistory'> {
  logRange(): Promise<LogRange>
}

/** The cursor of a position. Promotions do not change it, because receivers of webhooks deduplicate events by their cursors. */
export function cursorAt(range: LogRange, position: bigint): string {
  const { identity } = range.earlier.find((last) => position <= last.position) ?? range
  return toCursor({ position, identity })
}

/** Whether the cursor belongs to this log. A failed primary may have issued cursors for events that were never replicated. */
export function isCursorOf(range: LogRange, { position, identity }: LogCursor): boolean {
  return [...range.earlier, range].some((last) => last.identity === identity && position <= last.position)
}
