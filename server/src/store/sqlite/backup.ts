import { Database } from 'bun:sqlite'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { needsMigration, OpenRefused, requireOwnTables } from '../opening.ts'
import type { Connection } from './connection.ts'
import { createPrivateFile, lockForServing, realPathOf } from './database-files.ts'
import { DIALECT } from './dialect.ts'
import { isDamage, isLocked, problemText } from './failures.ts'
import { missingColumns, NEWEST, versionOf } from './migrations.ts'

/** Marks the file as a backup in its header, which can be read without opening the database and so changing it. */
const BACKUP_ID = 0x50736261
/** The offset in a SQLite file of the number that PRAGMA application_id sets. */
const APPLICATION_ID_OFFSET = 68

export async function backUp(connection: Connection, path: string): Promise<void> {
  createPrivateFile(path, { mustBeNew: true })
  // `read` retries this if the database is locked.
  await connection.read(() => {
    try {
      connection.database.run('VACUUM INTO ?', [path])
    } catch (error) {
      if (isLocked(error)) {
        // VACUUM INTO refuses a file that is not empty.
        truncateSync(path)
        throw error
      }
      // The problem may be that of the copy's disk, not of the database's.
      throw new Error(`the backup failed: ${problemText(error, path)}`, { cause: error })
    }
  })
  const copy = new Database(path)
  try {
    copy.run(`PRAGMA application_id = ${BACKUP_ID}`)
    const damage = integrityProblem(copy)
    if (damage !== undefined) {
      throw new Error(`the backup is damaged: ${damage}; check the database with petstore doctor`)
    }
  } finally {
    copy.close()
  }
}

export function isBackup(path: string): boolean {
  const mark = bytesAt(path, APPLICATION_ID_OFFSET, 4)
  return mark.length === 4 && mark.readUInt32BE() === BACKUP_ID
}

function bytesAt(path: string, position: number, length: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(length)
    return bytes.subarray(0, readSync(file, bytes, 0, length, position))
  } finally {
    closeSync(file)
  }
}

/** The first problem with the pages of the file, if there is one. */
function integrityProblem(database: Database): string | undefined {
  const found = database.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').get()
  return found?.integrity_check === 'ok'
    ? undefined
    : (found?.integrity_check ?? 'the check returned nothing')
}

/** The suffixes of files that hold part of the contents of a database. */
const CONTENT_SUFFIXES = ['-wal', '-journal']
const SIDE_SUFFIXES = [...CONTENT_SUFFIXES, '-shm']
const CHUNK_BYTES = 1024 * 1024
const ROOT_USER = 0

export interface Restored {
  /** The new name of the database that was replaced, if there was one. */
  readonly replaced: string | undefined
  /** Whether `petstore serve` or `petstore migrate` still has to migrate its tables. */
  readonly isOlder: boolean
}

/** The new database, complete and checked, until it takes its place. While it exists, the old one cannot be opened. */
const stagedOf = (path: string) => `${path}.restoring`

/**
 * Replaces the database at `given` by a copy of `backup`, which becomes a database with an identity of its own. The old
 * database is kept under another name. First a copy is written next to it and checked; nothing else changes. Renaming the
 * copy to its staged name is the point of no return: then the old files are moved away, and the copy takes their place. If
 * this is interrupted, either the old or the staged database is complete, and running it again finishes the restore.
 */
export function restoreSqlite(backup: string, given: string): Restored {
  requireBackup(backup, given)
  mkdirSync(dirname(given), { recursive: true })
  const path = realPathOf(given)
  const lock = lockForServing(path, 'stop it first')
  try {
    const staged = stagedOf(path)
    const partial = `${staged}.partial`
    const begun = statSync(staged, { throwIfNoEntry: false })?.mtimeMs
    const second = begun === undefined ? unusedSecond(path) : Math.floor(begun / 1_000)
    let isOlder: boolean
    try {
      copyDatabase(backup, partial, isBackup(backup) ? [] : CONTENT_SUFFIXES)
      isOlder = adoptCopy(partial, backup)
      copyPermissions(partial, path)
      // An interrupted restore may have moved some files. The time gives the other files the same name.
      utimesSync(partial, second, second)
      sync(partial)
    } catch (error) {
      for (const suffix of ['', ...SIDE_SUFFIXES]) rmSync(partial + suffix, { force: true })
      throw error
    }
    renameSync(partial, staged)
    sync(dirname(path))
    const replaced = replacedName(path, second)
    // The database itself moves last, so that its write-ahead log is never found next to another database.
    for (const suffix of [...SIDE_SUFFIXES, '']) {
      if (existsSync(path + suffix)) renameSync(path + suffix, replaced + suffix)
    }
    renameSync(staged, path)
    sync(dirname(path))
    return { replaced: existsSync(replaced) ? replaced : undefined, isOlder }
  } finally {
    lock.close()
  }
}

/** Whether a restore is in its last step, or was interrupted in it. The database may be missing then. */
export function isBeingRestored(path: string): boolean {
  return existsSync(stagedOf(realPathOf(path)))
}

/** Throws if the file is a backup or is being restored. Opening it would change it. */
export function requireUsable(given: string): void {
  if (given === ':memory:') return
  const path = realPathOf(given)
  if (isBeingRestored(path)) {
    throw new OpenRefused(
      `a restore was interrupted in its last step; finish it with petstore restore ${stagedOf(path)}`,
    )
  }
  if (existsSync(path) && isBackup(path)) {
    throw new OpenRefused(
      `it is a backup, which must not be changed; petstore restore ${path} restores it to the database that --data or DATABASE_URL names`,
    )
  }
}

function requireBackup(backup: string, path: string): void {
  const found = statSync(backup, { throwIfNoEntry: false })
  if (found === undefined) throw new OpenRefused(`${backup} does not exist`)
  if (!found.isFile()) throw new OpenRefused(`${backup} is not a file`)
  if (existsSync(path) && realPathOf(backup) === realPathOf(path) && !isBackup(backup)) {
    throw new OpenRefused(`${backup} is the database itself, not a backup`)
  }
}

/** Copies a database with its side files. Throws if they changed meanwhile, because the copy would be inconsistent. */
function copyDatabase(from: string, to: string, sideSuffixes: readonly string[]): void {
  const lock =
    sideSuffixes.length > 0 && existsSync(`${from}-serving`)
      ? lockForServing(from, 'stop it first')
      : undefined
  try {
    const suffixes = ['', ...sideSuffixes]
    const statOf = (suffix: string) => statSync(from + suffix, { throwIfNoEntry: false })
    const before = suffixes.map(statOf)
    for (const [index, suffix] of suffixes.entries()) {
      rmSync(to + suffix, { force: true })
      if (before[index] !== undefined) copyFile(from + suffix, to + suffix)
    }
    const hasChanged = suffixes.some((suffix, index) => {
      const [then, now] = [before[index], statOf(suffix)]
      return then?.size !== now?.size || then?.mtimeMs !== now?.mtimeMs
    })
    if (hasChanged)
      throw new OpenRefused(`${from} changed while it was being copied; stop the process that writes to it`)
  } finally {
    lock?.close()
  }
}

/** The copy is readable by its owner alone from the first byte on, whatever the permissions of the original. */
function copyFile(from: string, to: string): void {
  createPrivateFile(to, { mustBeNew: true })
  const [source, target] = [openSync(from, 'r'), openSync(to, 'r+')]
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    for (let read = readSync(source, chunk); read > 0; read = readSync(source, chunk)) {
      for (let written = 0; written < read; ) written += writeSync(target, chunk, written, read - written)
    }
  } finally {
    closeSync(source)
    closeSync(target)
  }
}

/** Checks the copy and gives it an identity of its own. Returns whether its tables need a migration. */
function adoptCopy(copy: string, backup: string): boolean {
  const refuse = (problem: string) => new OpenRefused(`${backup} ${problem}`)
  let database: Database | undefined
  try {
    database = new Database(copy, { safeIntegers: true, strict: true })
    const version = versionOf(database) ?? 0
    const missing = missingColumns(database, version)
    const isForeign = version === 0 || (version <= NEWEST && missing.length > 0)
    if (isForeign) throw refuse('is not a database of this program')
    requireOwnTables(version, NEWEST, missing)
    const isOlder = needsMigration(version, NEWEST, 'make')
    const damage = integrityProblem(database)
    if (damage !== undefined) throw refuse(`is damaged (${damage}); use an earlier backup`)
    database.run('PRAGMA application_id = 0')
    for (const text of [...DIALECT.newIdentity, ...DIALECT.skipIds]) database.run(text)
    // Leaves a single file.
    database.run('PRAGMA journal_mode = DELETE')
    return isOlder
  } catch (error) {
    if (!isDamage(error)) throw error
    throw refuse(
      bytesAt(copy, 0, 5).toString('latin1') === 'PGDMP'
        ? 'is a dump of PostgreSQL, but DATABASE_URL does not name a PostgreSQL database'
        : 'is damaged or is not a database; use an earlier backup',
    )
  } finally {
    database?.close()
  }
}

/** Takes over permissions and, if root restores, the owner: the service may run as another user. */
function copyPermissions(copy: string, path: string): void {
  const old = statSync(path, { throwIfNoEntry: false })
  if (old !== undefined) chmodSync(copy, old.mode & 0o777)
  if (process.getuid?.() !== ROOT_USER) return
  const { uid, gid } = old ?? statSync(dirname(path))
  for (const file of [copy, `${path}-serving`]) chownSync(file, uid, gid)
}

function replacedName(path: string, second: number): string {
  const time = new Date(second * 1_000).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  return `${path}.replaced-${time}Z`
}

/** Databases that were replaced earlier keep their names. */
function unusedSecond(path: string): number {
  let second = Math.floor(Date.now() / 1_000)
  while (['', ...SIDE_SUFFIXES].some((suffix) => existsSync(replacedName(path, second) + suffix))) second++
  return second
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
