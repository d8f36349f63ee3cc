import { Database } from 'bun:sqlite'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { OpenRefused } from '../opening.ts'
import { missingColumns, needsMigration, newestVersion, requireOwnTables } from '../table-versions.ts'
import type { Connection } from './connection.ts'
import {
  CONTENT_SUFFIXES,
  copyFile,
  createPrivateFile,
  followerMark,
  lockForServing,
  realPathOf,
  removeDatabase,
  SIDE_SUFFIXES,
} from './database-files.ts'
import { DIALECT } from './dialect.ts'
import { isDamage, isLocked, problemText, temporaryFolder } from './failures.ts'
import { type Rebuilt, rebuildDatabase } from './log-restore.ts'
import { columnsOf, VERSIONS, versionOf } from './migrations.ts'

/** Marks a file as a backup. It is read from the header without SQLite, because opening the file in SQLite would change it. */
const BACKUP_ID = 0x50736261
/** The offset in a SQLite file of the number that PRAGMA application_id sets. */
const APPLICATION_ID_OFFSET = 68

export async function backUp(connection: Connection, path: string): Promise<void> {
  createPrivateFile(path, { mustBeNew: true })
  // If the database is locked, `read` calls this function again.
  await connection.read(() => {
    try {
      connection.database.run('VACUUM INTO ?', [path])
    } catch (error) {
      if (isLocked(error)) {
        // VACUUM INTO refuses a file that is not empty.
        truncateSync(path)
        throw error
      }
      // The message names the copy, because the disk of the copy may have failed.
      throw new Error(`the backup failed: ${problemText(error, path)}`, { cause: error })
    }
  })
  const copy = new Database(path)
  try {
    copy.run(`PRAGMA application_id = ${BACKUP_ID}`)
    const damage = integrityProblem(copy)
    if (damage !== undefined) {
      throw new Error(`the backup is damaged: ${damage}; run petstore check`)
    }
  } finally {
    copy.close()
  }
}

/** The suffix of a copy of a database whose file was deleted or replaced while a service was running. */
const SAVED_SUFFIX = '.saved-'

/**
 * Saves the contents of a database whose file is gone as a backup, and returns its path: in the folder of the database or, if
 * that fails, in the temporary folder.
 */
export async function saveLostDatabase(connection: Connection, path: string): Promise<string> {
  const name = `${basename(path)}${SAVED_SUFFIX}${timeInName(Date.now())}`
  const saveIn = async (folder: string) => {
    const copy = join(folder, name)
    mkdirSync(folder, { recursive: true })
    try {
      await backUp(connection, copy)
      sync(copy)
      sync(folder)
      return copy
    } catch (error) {
      rmSync(copy, { force: true })
      throw error
    }
  }
  return saveIn(dirname(path)).catch(() => saveIn(temporaryFolder()))
}

export function isBackup(path: string): boolean {
  const mark = bytesAt(path, APPLICATION_ID_OFFSET, 4)
  return mark.length === 4 && mark.readUInt32BE() === BACKUP_ID
}

/** The size that follows from the number and size of the pages in the header of a SQLite file. */
function expectedSize(path: string): number {
  const header = bytesAt(path, 0, 32)
  const pageSize = header.readUInt16BE(16)
  // The size 65,536 does not fit into two bytes and is stored as 1.
  return header.readUInt32BE(28) * (pageSize === 1 ? 65_536 : pageSize)
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
  const result = found?.integrity_check ?? 'the check returned nothing'
  return result === 'ok' ? undefined : result
}

const ROOT_USER = 0

export interface RestoreResult {
  /** The new name of the database that was replaced; `undefined` if there was none. */
  readonly replaced: string | undefined
  /** Whether `petstore serve` or `petstore migrate` has to migrate the restored tables. */
  readonly hasOlderTables: boolean
  /** `undefined` if the backup was a file. */
  readonly rebuilt: Rebuilt | undefined
}

/** The path of the new database once it is complete and checked. While this file exists, the old database cannot be opened. */
const stagedPath = (path: string) => `${path}.restoring`

/**
 * Replaces the database at `target` by a copy of `backup`, a file or the folder of a continuous backup, which gets a new identity. The old database is kept under another
 * name. Steps:
 *
 * 1. A copy of the backup is written next to the old database and checked.
 * 2. The copy is renamed to its staged name. This is the point of no return.
 * 3. The old files are renamed, and then the copy gets the name of the database.
 *
 * If the restore is interrupted, either the old database or the staged copy is complete. Running the restore again finishes it.
 */
export function restoreSqlite(backup: string, target: string, at?: number): RestoreResult {
  const isContinuous = statSync(backup, { throwIfNoEntry: false })?.isDirectory() === true
  if (!isContinuous) requireBackup(backup, target)
  const path = realPathOf(target)
  mkdirSync(dirname(path), { recursive: true })
  const lock = lockForServing(path, { advice: 'stop it first' })
  try {
    const staged = stagedPath(path)
    const partial = `${staged}.partial`
    // An interrupted restore may have renamed some files already. The time in their new name is the modification time of the
    // staged file, so the other files get the same name.
    const interruptedAtMs = statSync(staged, { throwIfNoEntry: false })?.mtimeMs
    const second = interruptedAtMs === undefined ? unusedSecond(path) : Math.floor(interruptedAtMs / 1_000)
    let hasOlderTables: boolean
    let rebuilt: Rebuilt | undefined
    try {
      // SQLite would apply the write-ahead log or journal of an interrupted restore to the new copy.
      removeDatabase(partial)
      if (isContinuous) rebuilt = rebuildDatabase(backup, partial, at)
      else copyDatabase(backup, partial, isBackup(backup) ? [] : CONTENT_SUFFIXES)
      hasOlderTables = adoptCopy(partial, backup)
      copyPermissions(partial, path)
      utimesSync(partial, second, second)
      sync(partial)
    } catch (error) {
      removeDatabase(partial)
      throw error
    }
    renameSync(partial, staged)
    sync(dirname(path))
    const replaced = replacedName(path, second)
    // The database is renamed last, so that its write-ahead log is never next to another database.
    for (const suffix of [...SIDE_SUFFIXES, '']) {
      if (existsSync(path + suffix)) renameSync(path + suffix, replaced + suffix)
    }
    renameSync(staged, path)
    sync(dirname(path))
    return { replaced: existsSync(replaced) ? replaced : undefined, hasOlderTables, rebuilt }
  } finally {
    lock.close()
  }
}

/**
 * The path of the new database, if a restore is in its last step, or was interrupted in that step. The database may then be
 * missing.
 */
export function findStagedRestore(path: string): string | undefined {
  const staged = stagedPath(realPathOf(path))
  return existsSync(staged) ? staged : undefined
}

export function isBeingRestored(path: string): boolean {
  return findStagedRestore(path) !== undefined
}

/** Throws if the file is a backup, follows one or is being restored: opening the file would change it. */
export function requireOpenable(databasePath: string, mayTakeOver = false): void {
  const path = realPathOf(databasePath)
  if (existsSync(followerMark(path)) && !mayTakeOver) {
    throw new OpenRefused(
      'it follows a backup, so nothing else may change it; petstore serve makes it the database of a service',
    )
  }
  const staged = findStagedRestore(path)
  if (staged !== undefined) {
    throw new OpenRefused(
      `a restore was interrupted in its last step; finish it with petstore restore ${staged}`,
    )
  }
  if (!existsSync(path)) requireNoSavedCopy(path)
  else if (isBackup(path)) {
    throw new OpenRefused(
      `it is a backup, which must not be changed; petstore restore ${path} restores it to the database that DATABASE_URL names`,
    )
  }
}

/** A new database would be empty, although the contents of the old one are in the saved copy. */
function requireNoSavedCopy(path: string): void {
  const folder = dirname(path)
  const names = existsSync(folder) ? readdirSync(folder) : []
  const saved = names
    .filter((name) => name.startsWith(`${basename(path)}${SAVED_SUFFIX}`))
    .sort()
    .at(-1)
  if (saved === undefined) return
  throw new OpenRefused(
    `it was deleted while a service was running, which saved its contents: run petstore restore ${join(folder, saved)}, or move that file to another folder to start with an empty database`,
  )
}

function requireBackup(backup: string, target: string): void {
  const stats = statSync(backup, { throwIfNoEntry: false })
  if (stats === undefined) throw new OpenRefused(`${backup} does not exist`)
  if (!stats.isFile()) throw new OpenRefused(`${backup} is not a file`)
  if (existsSync(target) && realPathOf(backup) === realPathOf(target) && !isBackup(backup)) {
    throw new OpenRefused(`${backup} is the database itself, not a backup`)
  }
  // SQLite does not notice if the last page is incomplete.
  if (isBackup(backup) && stats.size !== expectedSize(backup)) {
    throw new OpenRefused(
      `${backup} is incomplete: it has ${stats.size} of ${expectedSize(backup)} bytes; use another backup`,
    )
  }
}

/** Copies a database with its side files. Throws if a file changed meanwhile, because the copy would be inconsistent. */
function copyDatabase(givenSource: string, target: string, sideSuffixes: readonly string[]): void {
  // The side files are next to the real file, not next to a symbolic link.
  const source = realPathOf(givenSource)
  const mayBeServed = sideSuffixes.length > 0 && existsSync(`${source}-serving`)
  const lock = mayBeServed ? lockForServing(source, { advice: 'stop it first' }) : undefined
  try {
    const suffixes = ['', ...sideSuffixes]
    const statOf = (suffix: string) => statSync(source + suffix, { throwIfNoEntry: false })
    const before = suffixes.map(statOf)
    for (const [index, suffix] of suffixes.entries()) {
      if (before[index] !== undefined) copyFile(source + suffix, target + suffix)
    }
    const hasChanged = suffixes.some((suffix, index) => {
      const after = statOf(suffix)
      return before[index]?.size !== after?.size || before[index]?.mtimeMs !== after?.mtimeMs
    })
    if (hasChanged)
      throw new OpenRefused(
        `${givenSource} changed while it was being copied; stop the process that writes to it`,
      )
  } finally {
    lock?.close()
  }
}

/** Checks the copy and gives it a new identity. Returns whether its tables need a migration. */
function adoptCopy(copy: string, backup: string): boolean {
  const refusal = (problem: string) => new OpenRefused(`${backup} ${problem}`)
  let database: Database | undefined
  try {
    database = new Database(copy, { safeIntegers: true, strict: true })
    const version = versionOf(database) ?? 0
    const columns = columnsOf(database)
    const isForeign =
      version === 0 ||
      (version <= newestVersion(VERSIONS) && missingColumns(VERSIONS, version, columns).length > 0)
    if (isForeign) throw refusal('is not a database of this program, from version 1.1 on')
    requireOwnTables(VERSIONS, version, columns)
    const hasOlderTables = needsMigration(version, VERSIONS, 'migrate')
    const damage = integrityProblem(database)
    if (damage !== undefined) throw refusal(`is damaged (${damage}); use an earlier backup`)
    database.run('PRAGMA application_id = 0')
    adopt(database)
    // Removes the write-ahead log, so that only one file has to be renamed.
    database.run('PRAGMA journal_mode = DELETE')
    return hasOlderTables
  } catch (error) {
    if (!isDamage(error)) throw error
    throw refusal(
      bytesAt(copy, 0, 5).toString('latin1') === 'PGDMP'
        ? 'is a dump of PostgreSQL, but DATABASE_URL does not name a PostgreSQL database'
        : 'is damaged or is not a database; use an earlier backup',
    )
  } finally {
    database?.close()
  }
}

/** The database is another one from now on: changes after the backup are missing, and their ids must not be used again. */
function adopt(database: Database): void {
  for (const text of [...DIALECT.newIdentity, ...DIALECT.skipIds]) database.run(text)
}

/** Makes the database independent if it has followed a backup. */
export function takeOver(database: Database, path: string): void {
  if (!existsSync(followerMark(path))) return
  database.transaction(() => adopt(database))()
  rmSync(followerMark(path))
}

/** Copies the permissions of the old database and, if root restores, its owner: the service may run as another user. */
function copyPermissions(copy: string, path: string): void {
  const old = statSync(path, { throwIfNoEntry: false })
  if (old !== undefined) chmodSync(copy, old.mode & 0o777)
  if (process.getuid?.() !== ROOT_USER) return
  const { uid, gid } = old ?? statSync(dirname(path))
  for (const file of [copy, `${path}-serving`]) chownSync(file, uid, gid)
}

function replacedName(path: string, second: number): string {
  return `${path}.replaced-${timeInName(second * 1_000)}`
}

function timeInName(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}

/** The first second, from now on, that is not in the name of a database that was replaced earlier. */
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
