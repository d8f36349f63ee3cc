import { ServiceError } from '../core/values/errors.ts'
import { type OpenOptions, OpenRefused, withoutPassword } from './opening.ts'
import type { PostgresSettings } from './postgres/connection-options.ts'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from './postgres/store.ts'
import { findStagedRestore, isBeingRestored, type RestoreResult, restoreSqlite } from './sqlite/backup.ts'
import { deletedWriteAheadLogOf } from './sqlite/database-files.ts'
import { problemText } from './sqlite/failures.ts'
import { Follower } from './sqlite/follow.ts'
import { openSqliteStore } from './sqlite/store.ts'
import type { Store } from './store.ts'

export type { RestoreResult }

const SQLITE_SCHEME = 'sqlite:'

/** Opens the database that DATABASE_URL names. */
export async function openStore(
  databaseUrl: string,
  options: OpenOptions,
  settings: Partial<PostgresSettings> = {},
): Promise<Store> {
  if (!isPostgresUrl(databaseUrl)) return openSqlite(databaseUrl.slice(SQLITE_SCHEME.length), options)
  try {
    const mayBeReadOnly = options.mayBeReadOnly === true
    return await openPostgresStore(
      databaseUrl,
      { ...DEFAULT_POSTGRES_SETTINGS, ...settings, mayBeReadOnly },
      options.tables,
    )
  } catch (error) {
    const reason = error instanceof ServiceError ? error.cause : error
    throw cannotOpen(
      withoutPassword(databaseUrl),
      reason,
      `${messageOf(reason)}; check DATABASE_URL and that PostgreSQL runs there`,
    )
  }
}

/** The path of the write-ahead log, if it was deleted while a service runs on the SQLite file at `path`. */
export function findDeletedWriteAheadLog(path: string): string | undefined {
  return deletedWriteAheadLogOf(path)
}

export function isPostgresUrl(databaseUrl: string): boolean {
  return !databaseUrl.startsWith(SQLITE_SCHEME)
}

/** Replaces the SQLite database at DATABASE_URL with a backup: a file, or a folder, of which `at` chooses a moment. */
export function restoreStore(backup: string, databaseUrl: string, at?: number): RestoreResult {
  return restoreSqlite(backup, databaseUrl.slice(SQLITE_SCHEME.length), at)
}

/** Keeps the SQLite file at `path` up to date with the folder of a continuous backup. */
export function followBackup(folder: string, path: string): Follower {
  return new Follower(folder, path)
}

/** The path of the new database, if a restore of the SQLite database at DATABASE_URL was interrupted in its last step. */
export function findInterruptedRestore(databaseUrl: string): string | undefined {
  return findStagedRestore(databaseUrl.slice(SQLITE_SCHEME.length))
}

async function openSqlite(path: string, options: OpenOptions): Promise<Store> {
  // Opening a missing file would create it.
  if (
    options.tables === 'require_current_tables' &&
    !(await Bun.file(path).exists()) &&
    !isBeingRestored(path)
  ) {
    throw new OpenRefused(
      `there is no database at ${path}; set DATABASE_URL to its address. To create a database, run petstore serve, import, copy or migrate`,
    )
  }
  try {
    return openSqliteStore(path, options)
  } catch (error) {
    throw cannotOpen(path, error, problemText(error, path))
  }
}

function cannotOpen(name: string, error: unknown, problem: string): Error {
  const intro = `cannot open the database ${name}`
  return error instanceof OpenRefused
    ? new OpenRefused(`${intro}: ${error.message}`, { cause: error })
    : new Error(`${intro}: ${problem}`, { cause: error })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
