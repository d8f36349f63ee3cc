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

/**
 * Whether the tables have to be created or migrated. `version` is 0 if the tables are those of another program, and `undefined`
 * if there are none. Throws if the tables have to change but `mode` forbids it.
 */
export function needsMigration(version: number | undefined, newest: number, mode: TablesMode): boolean {
  if (version === newest) return false
  if (version !== undefined && version > newest) {
    throw new OpenRefused(
      `the database has a newer version (${version}) than this program knows (${newest}); start the newer program`,
    )
  }
  if (mode === 'migrate' || (mode === 'create_if_missing' && version === undefined)) return true
  throw new OpenRefused(
    version === undefined || version === 0
      ? 'the database has no tables of this program: run petstore migrate, or start petstore serve'
      : `the database has version ${version}, this program needs ${newest}: stop the service and run petstore migrate, or start petstore serve`,
  )
}

/** How many missing columns a message names. */
const MAX_NAMED = 3

/**
 * Throws if `missing` names columns that tables of this version must have. The version number alone does not show whether this
 * program created the tables.
 */
export function requireOwnTables(version: number, newest: number, missing: readonly string[]): void {
  if (missing.length === 0) return
  const named = missing.slice(0, MAX_NAMED).join(', ')
  const others = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : ''
  const verb = missing.length === 1 ? 'is' : 'are'
  const reason =
    version > newest
      ? `this program does not know version ${version} (its newest is ${newest}), so a newer version, an early development version or another program made the tables`
      : `no release made tables of version ${version} like these, so an early development version or another program made them, or somebody removed columns`
  throw new OpenRefused(
    `the tables are not those of this program, because ${named}${others} ${verb} missing: ${reason}; start the program that made the tables, restore a backup, or choose another database`,
  )
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
