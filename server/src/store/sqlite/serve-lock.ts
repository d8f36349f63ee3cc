import { Database } from 'bun:sqlite'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { OpenRefused } from '../opening.ts'
import { isLocked } from './failures.ts'
import { createPrivateFile } from './private-file.ts'

/** Of several that start in one moment, one gets it. */
const PATIENCE_MS = 200
/** Where a SQLite file holds the number that PRAGMA user_version sets. */
const USER_VERSION_OFFSET = 60

/**
 * Keeps a second process from serving the database at `path`, which would give each key its limits once more. It is
 * SQLite's own lock, on a file beside the database, so it ends with the process however that ends, and works wherever
 * the database does. The file stays: whoever removed it might remove the lock of somebody who starts in that moment.
 */
export function lockForServing(
  path: string,
  advice = 'stop that one, or give this one another DATABASE_URL',
): { close(): void } {
  const lockPath = `${realPathOf(path)}-serving`
  if (!existsSync(lockPath)) makeLockFile(lockPath, path)
  let lock: Database | undefined
  try {
    lock = new Database(lockPath)
    lock.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
    // A killed process leaves no journal behind.
    lock.run('PRAGMA journal_mode = MEMORY')
    lock.run('BEGIN EXCLUSIVE')
    // Beyond the commit, which is there to let others read the pid.
    lock.run('PRAGMA locking_mode = EXCLUSIVE')
    lock.run(`PRAGMA user_version = ${process.pid}`)
    lock.run('COMMIT')
    return lock
  } catch (error) {
    lock?.close()
    if (!isLocked(error)) {
      throw new OpenRefused(
        `its lock file ${lockPath} cannot be used (${error instanceof Error ? error.message : error}); see that it can be written, or remove it while nothing serves the database`,
        { cause: error },
      )
    }
    throw new OpenRefused(`another process serves it${pidIn(lockPath)}; ${advice}`)
  }
}

/** The missing write-ahead log of a file that is being served; opening the file would start another log. */
export function deletedLogOf(path: string): string | undefined {
  return isServed(path) && !existsSync(`${path}-wal`) ? `${path}-wal` : undefined
}

/** Whether a service runs on the database at `path`. */
export function isServed(path: string): boolean {
  if (!existsSync(`${realPathOf(path)}-serving`)) return false
  try {
    lockForServing(path).close()
    return false
  } catch (error) {
    return error instanceof OpenRefused
  }
}

/** What root makes beside a database is its owner's, as SQLite has it: else that one could serve it no more. */
function makeLockFile(lockPath: string, path: string): void {
  const owner = process.getuid?.() === 0 ? statSync(path, { throwIfNoEntry: false }) : undefined
  try {
    createPrivateFile(lockPath, { mustBeNew: true, owner })
  } catch (error) {
    // Another process was faster.
    if (!existsSync(lockPath)) throw error
  }
}

/** Where links lead, as SQLite goes by it; also of a file that is not there yet. */
export function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const folder = dirname(path)
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(path))
}

/** Not by SQLite, which waits for the lock. */
function pidIn(lockPath: string): string {
  const bytes = readFileSync(lockPath)
  return bytes.length < USER_VERSION_OFFSET + 4 ? '' : ` (pid ${bytes.readInt32BE(USER_VERSION_OFFSET)})`
}
