import { SQLiteError } from 'bun:sqlite'
import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { ServiceError } from '../../core/values/errors.ts'

/** Errors that say our own SQL or data is wrong: bugs, not a database in trouble. */
const OUR_FAULT = /^SQLITE_(CONSTRAINT|MISUSE|RANGE|MISMATCH)/

const BACKUP =
  'stop the service, and go back to the last backup with petstore restore BACKUP, which keeps it under another name'

/** A disk with less than this may have refused what was written. */
const NEARLY_FULL_BYTES = 16 * 1024 * 1024

/** What to do, by the beginning of SQLite's code. */
const ADVICE: Readonly<Record<string, string | ((path: string) => string)>> = {
  SQLITE_CORRUPT: `the file is damaged: ${BACKUP}`,
  SQLITE_NOTADB: `check DATABASE_URL; if it is the right file, its beginning is damaged: ${BACKUP}`,
  SQLITE_FULL: (path) => `the disk is full: make room on that of ${fullest(path)}`,
  SQLITE_IOERR: (path) =>
    `the disk did not take or give the data: see that it has room (${fullest(path)}), and what the log of the system says`,
  SQLITE_BUSY: 'another process holds it locked: end that process, or try again when it is done',
  SQLITE_READONLY: 'give the service the right to write the file and its folder, and start it again',
}

/** What is wrong with the file at `path`, in words for the operator. */
export function troubleText(error: unknown, path: string): string {
  const message = error instanceof Error ? error.message : String(error)
  const code = codeOf(error)
  const advice = Object.entries(ADVICE).find(([beginning]) => code.startsWith(beginning))?.[1]
  const told = typeof advice === 'function' ? advice(path) : advice
  return `${message}; ${told ?? 'check DATABASE_URL and that the file and its folder can be written'}`
}

/** That of the database, or of temporary files where that disk is the full one. */
function fullest(path: string): string {
  const [own, temporary] = [dirname(path), temporaryFolder()]
  const isTemporary = freeBytes(temporary) < Math.min(NEARLY_FULL_BYTES, freeBytes(own))
  const folder = isTemporary ? temporary : own
  return `${folder} (${(freeBytes(folder) / 1_000_000).toFixed(1)} MB free)`
}

/** As SQLite looks for it: what an import sorts lies there. */
function temporaryFolder(): string {
  const places = [Bun.env.SQLITE_TMPDIR, Bun.env.TMPDIR, '/var/tmp', '/usr/tmp', '/tmp']
  return places.find((place) => place !== undefined && existsSync(place)) ?? '.'
}

function freeBytes(folder: string): number {
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

/** Whether the file itself is not what it was when it was written. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error))
}

/** What callers may know; what the operator has to know is its cause. */
export function asServiceError(error: unknown, path: string): unknown {
  if (!isTrouble(error)) return error
  return new ServiceError(
    'service_unavailable',
    'the database cannot answer at the moment; try again shortly',
    { cause: new Error(troubleText(error, path), { cause: error }) },
  )
}

function isTrouble(error: unknown): boolean {
  if (error instanceof SQLiteError) return !OUR_FAULT.test(codeOf(error))
  return error instanceof Error && /closed database|Database has closed/.test(error.message)
}

function codeOf(error: unknown): string {
  return error instanceof SQLiteError ? (error.code ?? '') : ''
}
