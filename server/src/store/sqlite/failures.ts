import { SQLiteError } from 'bun:sqlite'
import { ServiceError } from '../../core/values/errors.ts'

/** Errors that say our own SQL or data is wrong: bugs, not a database in trouble. */
const OUR_FAULT = /^SQLITE_(CONSTRAINT|MISUSE|RANGE|MISMATCH)/

const BACKUP = 'keep a copy of it, and go back to the last backup with --database-url sqlite:BACKUP'

/** What to do, by the beginning of SQLite's code. */
const ADVICE = {
  SQLITE_CORRUPT: `the file is damaged: ${BACKUP}`,
  SQLITE_NOTADB: `check DATABASE_URL; if it is the right file, its beginning is damaged: ${BACKUP}`,
  SQLITE_FULL: 'the disk is full: make room, and updates are taken again',
  SQLITE_IOERR:
    'the disk did not take or give the data: see that it has room, and what the log of the system says',
  SQLITE_BUSY: 'another process holds it locked: end that process, or try again when it is done',
  SQLITE_READONLY: 'give the service the right to write the file and its folder, and start it again',
} as const

/** What is wrong with the file, in words for the operator. */
export function troubleText(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const code = codeOf(error)
  const advice = Object.entries(ADVICE).find(([beginning]) => code.startsWith(beginning))?.[1]
  return `${message}; ${advice ?? 'check DATABASE_URL and that the file and its folder can be written'}`
}

export function isLocked(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}

/** Whether the file itself is not what it was when it was written. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error))
}

/** What callers may know; what the operator has to know is its cause. */
export function asServiceError(error: unknown): unknown {
  if (!isTrouble(error)) return error
  return new ServiceError(
    'service_unavailable',
    'the database cannot answer at the moment; try again shortly',
    { cause: new Error(troubleText(error), { cause: error }) },
  )
}

function isTrouble(error: unknown): boolean {
  if (error instanceof SQLiteError) return !OUR_FAULT.test(codeOf(error))
  return error instanceof Error && /closed database|Database has closed/.test(error.message)
}

function codeOf(error: unknown): string {
  return error instanceof SQLiteError ? (error.code ?? '') : ''
}
