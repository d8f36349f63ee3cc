import type { Clock } from '../core/values/clock.ts'

/** What opening a database may do to its tables: create or migrate them, create them only if there are none, or nothing. */
export type TablesMode = 'make' | 'make_if_none' | 'expect'

export interface OpenOptions {
  readonly tables: TablesMode
  /** Opens the store for serving requests. Refused if another process serves it and the store allows only one. */
  readonly exclusive?: boolean
  /**
   * Called when the disk has failed to save commits of a served store. The store then refuses everything, and the process
   * should end: only a restart can find out what is on disk.
   */
  readonly onFlushFailure?: (error: Error) => void
  /** The number of changed rows between two checkpoints of a served SQLite file. */
  readonly checkpointAfterChanges?: number
  /** Accepts a server that is read-only, whose data may be out of date. */
  readonly mayBeReadOnly?: boolean
  /** The clock of a SQLite store; the clock of the process by default. */
  readonly clock?: Clock
  /** For tests: the worker of a SQLite store waits here before its first request, until another thread notifies it. */
  readonly readerGate?: Int32Array<SharedArrayBuffer>
}

/** The database is intact but cannot be used like this. The message says what to do. */
export class OpenRefused extends Error {
  override readonly name = 'OpenRefused'
}

/**
 * Whether the tables have to be created or migrated. `version` is 0 if the tables are not of this program, and `undefined`
 * if there are none. Throws if the tables do not fit and `mode` forbids changing them.
 */
export function needsMigration(version: number | undefined, newest: number, mode: TablesMode): boolean {
  if (version === newest) return false
  if (version !== undefined && version > newest) {
    throw new OpenRefused(
      `the database has a newer version (${version}) than this program knows (${newest}); start the newer program`,
    )
  }
  if (mode === 'make' || (mode === 'make_if_none' && version === undefined)) return true
  throw new OpenRefused(
    version === undefined || version === 0
      ? 'the database has no tables of this program: run petstore migrate, or start petstore serve'
      : `the database has version ${version}, this program needs ${newest}: stop the service and run petstore migrate, or start petstore serve`,
  )
}

/** How many missing columns a message names. */
const MAX_NAMED = 3

/**
 * Throws if columns are missing that this program creates by `version`, or by its own newest version if that is lower. The
 * version number alone does not show which program created the tables.
 */
export function requireOwnTables(version: number, newest: number, missing: readonly string[]): void {
  if (missing.length === 0) return
  const named = missing.slice(0, MAX_NAMED).join(', ')
  const rest = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : ''
  const reason =
    version > newest
      ? `this program does not know version ${version} (its newest is ${newest}), so a newer version, an early development version or another program made them`
      : `no release made version ${version} like this, so an early development version or another program did, or somebody removed them`
  throw new OpenRefused(
    `the tables are not those of this program, ${named}${rest} ${missing.length === 1 ? 'is' : 'are'} missing: ${reason}; start the program that made the tables, restore a backup, or choose another database`,
  )
}

/** The address without its password, for messages. The address may be malformed. */
export function withoutPassword(address: string): string {
  if (address.startsWith('sqlite:')) return address
  const scheme = /^(?:\w+:?\/\/|postgres(?:ql)?:)/.exec(address)?.[0] ?? ''
  const colon = address.indexOf(':', scheme.length)
  const at = address.lastIndexOf('@')
  const shown = colon === -1 || colon > at ? address : `${address.slice(0, colon)}:***${address.slice(at)}`
  return shown.replace(/([?&]password=)[^&#]*/gi, '$1***')
}
