import type { Clock } from '../core/values/clock.ts'

/**
 * What opening a database may do to its tables: make them or bring them up to date; make them where there are none at
 * all, and nothing else; or nothing.
 */
export type TablesMode = 'make' | 'make_if_none' | 'expect'

export interface OpenOptions {
  readonly tables: TablesMode
  /** For whoever serves it: refused where another process does, and the store can be served by one alone. */
  readonly exclusive?: boolean
  /**
   * Called when the disk has failed to save commits of a store that is served. The store refuses everything from then
   * on, and the process should end: only a new start can find out what is on the disk.
   */
  readonly onFlushFailure?: (error: Error) => void
  /** How many changed rows a SQLite file that is served may have until the next checkpoint. */
  readonly checkpointAfterChanges?: number
  /** For who only reads, and may be shown what is late: a server that takes no changes will do. */
  readonly mayBeReadOnly?: boolean
  /** What a store that has no clock of its own goes by: that of the process where none is given. */
  readonly clock?: Clock
  /** For tests: the worker of a SQLite store waits here, before its first request, until another thread writes to it. */
  readonly readerGate?: Int32Array<SharedArrayBuffer>
}

/** The database is sound, but not to be used like this; the message says what to do. */
export class OpenRefused extends Error {
  override readonly name = 'OpenRefused'
}

/**
 * Whether the tables are to be made or brought up to date. `version` is theirs: 0 where the tables are not of this
 * program, `undefined` where there are none. Throws where they do not fit and may not be changed.
 */
export function needsMigration(version: number | undefined, newest: number, mode: TablesMode): boolean {
  if (version === newest) return false
  if (version !== undefined && version > newest) {
    throw new OpenRefused(
      `the database is of a newer version (${version}) than this program knows (${newest}); start the newer program`,
    )
  }
  if (mode === 'make' || (mode === 'make_if_none' && version === undefined)) return true
  throw new OpenRefused(
    version === undefined || version === 0
      ? 'the database has no tables of this program: run petstore migrate, or start petstore serve'
      : `the database is of version ${version}, this program needs ${newest}: stop the service and run petstore migrate, or start petstore serve`,
  )
}

/** How many missing columns a message names. */
const MAX_NAMED = 3

/**
 * Throws if tables or columns are missing that this program makes in `version`, or in its own newest version if the database
 * says it is of a later one: the number alone does not tell which program made the tables.
 */
export function requireOwnTables(version: number, newest: number, missing: readonly string[]): void {
  if (missing.length === 0) return
  const named = missing.slice(0, MAX_NAMED).join(', ')
  const rest = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : ''
  const makers =
    version > newest
      ? `version ${version} is not known to this program (${newest}), so a newer version, an early development version or another program made them`
      : `no release made version ${version} like this, so an early development version or another program did, or somebody removed them`
  throw new OpenRefused(
    `the tables are not those of this program, ${named}${rest} ${missing.length === 1 ? 'is' : 'are'} missing: ${makers}; start the program that made the tables, restore a backup, or choose another database`,
  )
}
