import type { Clock } from '../core/values/clock.ts'

/**
 * What opening a database may do to its tables. `migrate`: create or migrate them. `create_if_missing`: create them, but not
 * migrate them. `require_current_tables`: nothing.
 */
export type TablesMode = 'migrate' | 'create_if_missing' | 'require_current_tables'

export interface OpenOptions {
  readonly tables: TablesMode
  /** Opens the store for serving requests. A SQLite store then refuses to open if another process serves it. */
  readonly exclusive?: boolean
  /**
   * Called when the disk has failed to save commits of a served store. From then on the store refuses every call, and the
   * process should end: only a restart can find out which commits are on disk.
   */
  readonly onFlushFailure?: (error: Error) => void
  /**
   * Called when the file of a served SQLite store was deleted or replaced. From then on the store refuses changes. The message
   * names the file to which everything was saved.
   */
  readonly onFileLost?: (loss: Error) => void
  /** The length of the write-ahead log at which a served SQLite file is checkpointed. */
  readonly maxLogBytes?: number
  /** The folder to which a served SQLite store copies every commit. */
  readonly backupFolder?: string | undefined
  /** A served SQLite store refuses changes while its disk has less free space than this. */
  readonly minFreeBytes?: number
  /** Accepts a read-only PostgreSQL server, whose data may be stale. */
  readonly mayBeReadOnly?: boolean
  /** The clock of a SQLite store; the clock of the process by default. */
  readonly clock?: Clock
  /** For tests: the reader worker of a SQLite store waits for a notification on this array before its first request. */
  readonly readerStartSignal?: Int32Array<SharedArrayBuffer>
}

/** The database is intact but cannot be opened in this way. The message says what to do. */
export class OpenRefused extends Error {
  override readonly name = 'OpenRefused'
}

/** The address without its password, for messages. The address may be malformed. */
export function withoutPassword(address: string): string {
  if (address.startsWith('sqlite:')) return address
  // Hides a password in the query first, because it may contain an @.
  const shown = address
    .replace(/([?&]password=)[^&#]*/gi, '$1***')
    // `host=db password=…`: quoting can be wrong in a malformed address, so everything after it is hidden.
    .replace(/((?:^|\s)password\s*=).*/is, '$1***')
  const scheme = /^(?:\w+:?\/\/|postgres(?:ql)?:)/.exec(shown)?.[0] ?? ''
  const colon = shown.indexOf(':', scheme.length)
  const at = shown.lastIndexOf('@')
  const hasPassword = colon !== -1 && colon <= at
  return hasPassword ? `${shown.slice(0, colon)}:***${shown.slice(at)}` : shown
}
