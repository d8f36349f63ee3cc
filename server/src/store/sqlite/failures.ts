import { SQLiteError } from 'bun:sqlite'
import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { ServiceError } from '../../core/values/errors.ts'

/** Errors in the SQL or the values of this program. They are bugs, not database outages. */
const PROGRAM_ERROR = /^SQLITE_(CONSTRAINT|MISUSE|RANGE|MISMATCH)/

const RESTORE =
  'stop the service and restore the last backup with petstore restore BACKUP, which keeps the damaged file under another name'

/** A disk with less free space than this counts as full. */
const NEARLY_FULL_BYTES = 16 * 1024 * 1024

/** Advice for the operator, by the prefix of SQLite's error code. */
const ADVICE: Readonly<Record<string, string | ((path: string) => string)>> = {
  SQLITE_CORRUPT: `the file is damaged: ${RESTORE}`,
  SQLITE_NOTADB: `check DATABASE_URL; if it is the right file, its beginning is damaged: ${RESTORE}`,
  SQLITE_FULL: (path) => `the disk is full: free some space in ${describeFullestFolder(path)}`,
  SQLITE_IOERR: (path) =>
    `the disk failed to read or write: check its free space (${describeFullestFolder(path)}) and the system log`,
  SQLITE_BUSY: 'another process holds a lock on it: end that process, or retry when it has finished',
  SQLITE_READONLY: 'give the service write permission for the file and its folder, then restart it',
}

/** Describes the problem with the file at `path` for the operator. */
export function problemText(error: unknown, path: string): string {
  const message = error instanceof Error ? error.message : String(error)
  const code = codeOf(error)
  const [, knownAdvice] = Object.entries(ADVICE).find(([prefix]) => code.startsWith(prefix)) ?? []
  const advice = typeof knownAdvice === 'function' ? knownAdvice(path) : knownAdvice
  return `${message}; ${advice ?? 'check DATABASE_URL and that the file and its folder are writable'}`
}

/** Describes the temporary folder if its disk is full and has less free space than the database's, else the database's folder. */
function describeFullestFolder(path: string): string {
  const databaseFolder = dirname(path)
  const temporary = temporaryFolder()
  const isTemporaryFull = freeBytes(temporary) < Math.min(NEARLY_FULL_BYTES, freeBytes(databaseFolder))
  const folder = isTemporaryFull ? temporary : databaseFolder
  return `${folder} (${(freeBytes(folder) / 1_000_000).toFixed(1)} MB free)`
}

/** The folder in which imports sort their rows. SQLite looks for it in this order. */
export function temporaryFolder(): string {
  const places = [Bun.env.SQLITE_TMPDIR, Bun.env.TMPDIR, '/var/tmp', '/usr/tmp', '/tmp']
  return places.find((place) => place !== undefined && existsSync(place)) ?? '.'
}

export function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

export function isLocked(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}

/** Whether the error shows that the file is damaged. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error))
}

/** Turns an outage into a ServiceError. Its message is for callers, and its cause is for the operator. */
export function toServiceError(error: unknown, path: string): unknown {
  if (!isOutage(error)) return error
  return new ServiceError(
    'service_unavailable',
    'the database cannot answer at the moment; try again shortly',
    { cause: new Error(problemText(error, path), { cause: error }) },
  )
}

function isOutage(error: unknown): boolean {
  if (error instanceof SQLiteError) return !PROGRAM_ERROR.test(codeOf(error))
  return error instanceof Error && /closed database|Database has closed/.test(error.message)
}

export function codeOf(error: unknown): string {
  return error instanceof SQLiteError ? (error.code ?? '') : ''
}
