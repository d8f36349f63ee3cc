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
  utimesSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { needsMigration, OpenRefused, requireOwnTables } from '../opening.ts'
import { integrityProblem, isBackup } from './backup.ts'
import { DIALECT } from './dialect.ts'
import { isDamage } from './failures.ts'
import { missingColumns, NEWEST, versionOf } from './migrations.ts'
import { createPrivateFile } from './private-file.ts'
import { lockForServing, realPathOf } from './serve-lock.ts'

/** What SQLite keeps beside a database and reads with it. */
const CONTENT_BESIDE = ['-wal', '-journal']
const BESIDE = [...CONTENT_BESIDE, '-shm']
const CHUNK_BYTES = 1024 * 1024
const ROOT_USER = 0

export interface Restored {
  /** What there was before, under its new name; `undefined` where there was nothing. */
  readonly replaced: string | undefined
  /** Whether `petstore serve` or `petstore migrate` has yet to bring its tables up to date. */
  readonly isOlder: boolean
}

/** The new database, whole and checked, until it is in its place. While it is there nobody opens the old one. */
const stagedOf = (path: string) => `${path}.restoring`

/**
 * Puts a copy of `backup` in the place of the database at `given`, as a database of its own, and keeps what was there
 * under another name. A copy is made and checked first, beside it, and nothing else is touched. From the moment that it
 * is called staged, it is what counts: the old files are moved away, and it takes their place. Whenever this is broken
 * off, the old database is whole where it was, or the staged one is, and running it again finishes it.
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
      copyWhole(backup, partial, isBackup(backup) ? [] : CONTENT_BESIDE)
      isOlder = makeOwn(partial, backup)
      takeOver(partial, path)
      // One that was broken off has moved some files already: the others go with them, under the same name.
      utimesSync(partial, second, second)
      sync(partial)
    } catch (error) {
      for (const ending of ['', ...BESIDE]) rmSync(partial + ending, { force: true })
      throw error
    }
    renameSync(partial, staged)
    sync(dirname(path))
    const replaced = replacedName(path, second)
    // The database itself last: while it is there, its write-ahead log is not another's.
    for (const ending of [...BESIDE, '']) {
      if (existsSync(path + ending)) renameSync(path + ending, replaced + ending)
    }
    renameSync(staged, path)
    sync(dirname(path))
    return { replaced: existsSync(replaced) ? replaced : undefined, isOlder }
  } finally {
    lock.close()
  }
}

/** Whether a restore is in its last step, or was broken off in it: there may be no database in the place then. */
export function isBeingRestored(path: string): boolean {
  return existsSync(stagedOf(realPathOf(path)))
}

/** Refuses a file that must stay as it is, before anything of it or beside it is touched. */
export function requireUsable(given: string): void {
  if (given === ':memory:') return
  const path = realPathOf(given)
  if (isBeingRestored(path)) {
    throw new OpenRefused(
      `a restore was broken off in its last step: petstore restore ${stagedOf(path)} finishes it`,
    )
  }
  if (existsSync(path) && isBackup(path)) {
    throw new OpenRefused(
      `it is a backup, and a backup stays as it is: petstore restore ${path} makes a database of it, where --data or DATABASE_URL says`,
    )
  }
}

function requireBackup(backup: string, path: string): void {
  const found = statSync(backup, { throwIfNoEntry: false })
  if (found === undefined) throw new OpenRefused(`there is no ${backup}`)
  if (!found.isFile()) throw new OpenRefused(`${backup} is not a file`)
  if (existsSync(path) && realPathOf(backup) === realPathOf(path) && !isBackup(backup)) {
    throw new OpenRefused(`${backup} is the database itself, and no backup`)
  }
}

/** With what lies beside it, where that is of its content. Whatever wrote to it meanwhile would make it of no use. */
function copyWhole(from: string, to: string, beside: readonly string[]): void {
  // Served, it would go on changing.
  const lock =
    beside.length > 0 && existsSync(`${from}-serving`) ? lockForServing(from, 'stop it first') : undefined
  try {
    const seen = (ending: string) => statSync(from + ending, { throwIfNoEntry: false })
    const before = ['', ...beside].map(seen)
    for (const [index, ending] of ['', ...beside].entries()) {
      rmSync(to + ending, { force: true })
      if (before[index] !== undefined) copyFile(from + ending, to + ending)
    }
    const changed = ['', ...beside].some((ending, index) => {
      const [then, now] = [before[index], seen(ending)]
      return then?.size !== now?.size || then?.mtimeMs !== now?.mtimeMs
    })
    if (changed) throw new OpenRefused(`${from} was changed while it was copied; stop what works on it`)
  } finally {
    lock?.close()
  }
}

/** For the owner alone from the first byte on, whoever may read the other. */
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

/** Checks the copy and gives it an identity of its own; tells whether its tables are older than this program's. */
function makeOwn(copy: string, backup: string): boolean {
  const refuse = (problem: string) => new OpenRefused(`${backup} ${problem}`)
  let database: Database | undefined
  try {
    database = new Database(copy, { safeIntegers: true, strict: true })
    const version = versionOf(database) ?? 0
    const missing = missingColumns(database, version)
    const isForeign = version === 0 || (version <= NEWEST && missing.length > 0)
    if (isForeign) throw refuse('is no database of this program')
    requireOwnTables(version, NEWEST, missing)
    const isOlder = needsMigration(version, NEWEST, 'make')
    const damage = integrityProblem(database)
    if (damage !== undefined) throw refuse(`is damaged (${damage}); take an earlier one`)
    database.run('PRAGMA application_id = 0')
    for (const text of [...DIALECT.newIdentity, ...DIALECT.skipIds]) database.run(text)
    // One file, with nothing beside it.
    database.run('PRAGMA journal_mode = DELETE')
    return isOlder
  } catch (error) {
    if (!isDamage(error)) throw error
    throw refuse(
      isDump(copy)
        ? 'is a dump of PostgreSQL, and DATABASE_URL names none'
        : 'is damaged, or no database at all; take an earlier one',
    )
  } finally {
    database?.close()
  }
}

function isDump(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const beginning = Buffer.alloc(5)
    readSync(file, beginning)
    return beginning.toString('latin1') === 'PGDMP'
  } finally {
    closeSync(file)
  }
}

/** The rights of the file that it replaces; and its owner, since the service may be somebody else than who restores. */
function takeOver(copy: string, path: string): void {
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

/** What was replaced earlier in this second keeps its name. */
function unusedSecond(path: string): number {
  let second = Math.floor(Date.now() / 1_000)
  while (['', ...BESIDE].some((ending) => existsSync(replacedName(path, second) + ending))) second++
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
