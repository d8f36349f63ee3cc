import { Database } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { SECOND } from '../../core/values/clock.ts'
import { ServiceError } from '../../core/values/errors.ts'
import type { Connection } from './connection.ts'
import { troubleText } from './failures.ts'

/** A write that takes longer than this counts as one that hangs. */
const WITHIN_MS = 2 * SECOND
/** A larger file would delay the start: petstore doctor checks it while the service runs. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024

/**
 * Makes a check that throws a ServiceError, whose message names the problem, unless a write goes through. The write puts the
 * version number of the tables into the file again, which changes nothing and takes one page of the write-ahead log.
 */
export function readinessCheck(
  connection: Connection,
  path: string,
  damage: string | undefined,
): () => Promise<void> {
  const { database } = connection
  const version =
    database.query<{ user_version: bigint }, []>('PRAGMA user_version').get()?.user_version ?? 0n
  const rewriteVersion = database.query(`PRAGMA user_version = ${version}`)
  // Fails on a database that has lost its tables.
  const anyChange = database.query('SELECT 1 FROM log LIMIT 1')
  const opened =
    path === ':memory:' ? [] : [path, `${path}-wal`].map((name) => ({ name, inode: inodeOf(name) }))
  let underWay: Promise<void> | undefined

  const write = () =>
    connection.write(() => {
      anyChange.get()
      rewriteVersion.run()
    })

  return async () => {
    if (damage !== undefined) throw notReady(`the file was damaged when the service started: ${damage}`)
    const replaced = opened.find(({ name, inode }) => inodeOf(name) !== inode)
    if (replaced !== undefined) {
      throw notReady(
        `${replaced.name} was deleted or replaced while the service runs; stop the service with SIGTERM, which saves what it has in memory, and do not kill it or open the database before that`,
      )
    }
    // One that hangs is waited for again instead of starting another beside it.
    underWay ??= write().finally(() => {
      underWay = undefined
    })
    const finished = await Promise.race([underWay.then(() => true, failWith(path)), Bun.sleep(WITHIN_MS)])
    if (finished === true) return
    throw notReady(
      `a write has waited for more than ${WITHIN_MS / SECOND} s: another process holds the write lock, or the disk does not answer`,
    )
  }
}

/** The first problem with the pages of a file that is small enough to be checked before it is served. */
export function damageAtStart(path: string): string | undefined {
  if (path === ':memory:' || statSync(path).size > MAX_CHECKED_BYTES) return undefined
  // On a connection of its own: the cache of the one that serves holds what is asked for, not every page.
  const database = new Database(path)
  try {
    const found = database.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()?.quick_check
    return found === 'ok' ? undefined : found
  } catch (error) {
    return troubleText(error, path)
  } finally {
    database.close()
  }
}

function failWith(path: string) {
  return (error: unknown): never => {
    const cause = error instanceof ServiceError ? error.cause : error
    // A missing table is for the log alone.
    if (!(cause instanceof Error) || !/SQLITE_(FULL|IOERR|BUSY|READONLY|CORRUPT)/.test(codeOf(cause)))
      throw error
    throw notReady(cause.message || troubleText(cause, path), cause)
  }
}

function codeOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

function notReady(reason: string, cause?: Error): ServiceError {
  return new ServiceError('service_unavailable', `the database cannot be written: ${reason}`, {
    cause: cause ?? new Error(reason),
  })
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}
