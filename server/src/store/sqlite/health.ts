import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { SECOND } from '../../core/values/clock.ts'
import { ServiceError } from '../../core/values/errors.ts'
import { CHECKS, type Check, describeViolations, type Violation, violationsSql } from '../health.ts'
import type { Connection } from './connection.ts'
import { inodeOf } from './database-files.ts'
import { codeOf, isDamage, problemText } from './failures.ts'

/** A write that takes longer than this counts as hanging. */
const WRITE_TIMEOUT_MS = 2 * SECOND
/** Checking a larger file would delay the start. petstore check can check such a file while the service runs. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024

/**
 * Returns a check that throws a ServiceError if the database cannot be written, or if one of its `files` was replaced. The
 * message names the problem. The check rewrites the schema version with the same value. This changes no data, but appends one
 * page to the write-ahead log, which is flushed like any other change.
 */
export function readinessCheck(
  connection: Connection,
  files: readonly string[],
  damage: string | undefined,
): () => Promise<void> {
  const { database } = connection
  // Fails if the database has lost its tables.
  const anyLogRow = database.query('SELECT 1 FROM log LIMIT 1')
  const rewriteIdentity = database.query('UPDATE log_state SET identity = identity')
  const openedFiles = files.map((name) => ({ name, inode: inodeOf(name) }))
  let runningWrite: Promise<void> | undefined

  const write = async () => {
    try {
      await connection.write(() => {
        anyLogRow.get()
        // The check must cause a real flush, which needs a changed row and a new page of the log. This statement counts as a changed
        // row, but writes no page.
        rewriteIdentity.run()
        connection.rewritePage()
      })
    } catch (error) {
      throw withReason(error)
    }
  }

  return async () => {
    connection.requireFile()
    if (damage !== undefined) throw notReady(`the file was damaged when the service started: ${damage}`)
    const replacedFile = openedFiles.find(({ name, inode }) => inodeOf(name) !== inode)
    if (replacedFile !== undefined) {
      throw notReady(
        `${replacedFile.name} was deleted or replaced while the service was running; stop the service with SIGTERM, so that it saves its changes; do not use kill -9, and do not open the database until it has stopped`,
      )
    }
    // If the write of the last check still hangs, this check waits for it instead of starting another.
    runningWrite ??= write().finally(() => {
      runningWrite = undefined
    })
    if (await finishesWithin(WRITE_TIMEOUT_MS, runningWrite)) return
    throw notReady(
      `a write has waited for more than ${WRITE_TIMEOUT_MS / SECOND} s: another process holds the write lock, or the disk does not answer`,
    )
  }
}

/** Rejects if the work does. */
export async function finishesWithin(timeoutMs: number, work: Promise<unknown>): Promise<boolean> {
  const timeout = Promise.withResolvers<boolean>()
  // A timer that is left running would keep a command alive until it fires.
  const timer = setTimeout(() => timeout.resolve(false), timeoutMs)
  try {
    return await Promise.race([work.then(() => true), timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The first problem with the pages of the file; `undefined` if there is none or the file is too large to check. */
export function damageAtStart(path: string): string | undefined {
  if (statSync(path).size > MAX_CHECKED_BYTES) return undefined
  // Uses its own connection, because reading every page would evict the cache of the connection that serves requests.
  const database = new Database(path)
  try {
    // Evaluating the CHECK constraints of all rows would take twice as long as checking the pages.
    database.run('PRAGMA ignore_check_constraints = ON')
    const result = database.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()?.quick_check
    return result === 'ok' ? undefined : result
  } catch (error) {
    return problemText(error, path)
  } finally {
    database.close()
  }
}

/** Puts known problems into the message. Others, such as a missing table, appear only in the log of the service. */
function withReason(error: unknown): unknown {
  const cause = error instanceof ServiceError ? error.cause : error
  if (!(cause instanceof Error)) return error
  const isKnown = /SQLITE_(FULL|IOERR|BUSY|READONLY|CORRUPT|NOTADB)/.test(codeOf(cause.cause))
  return isKnown ? notReady(cause.message, cause) : error
}

function notReady(reason: string, cause?: Error): ServiceError {
  return new ServiceError('service_unavailable', `the database cannot be written: ${reason}`, {
    cause: cause ?? new Error(reason),
  })
}

const SQLITE_CHECKS: readonly Check[] = [
  {
    text: 'SELECT rowid AS id FROM pragma_foreign_key_check',
    problem: 'rows that refer to missing rows',
  },
  ...CHECKS,
]

export function findDamage(connection: Connection): Promise<string[]> {
  const { database } = connection
  const checkPages = () => {
    const rows = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check(20)').all()
    return rows.map((row) => row.integrity_check)
  }
  const contentChecks = SQLITE_CHECKS.map(
    (check) => () => describeViolations(check, database.query<Violation, []>(violationsSql(check)).all()),
  )
  return connection.read(() => {
    const problems = [checkPages, ...contentChecks].flatMap(runCheck)
    return [...new Set(problems)].filter((problem) => problem !== 'ok')
  })
}

/** If a check cannot run because the file is damaged, that is a problem like any other, and the other checks still run. */
function runCheck(check: () => string[]): string[] {
  try {
    return check()
  } catch (error) {
    if (isDamage(error)) return ['part of the database is damaged and cannot be read']
    throw error
  }
}
