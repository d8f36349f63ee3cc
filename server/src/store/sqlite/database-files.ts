import { Database } from 'bun:sqlite'
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { OpenRefused } from '../opening.ts'
import { isLocked } from './failures.ts'

const CHUNK_BYTES = 1024 * 1024
const PERMISSION_BITS = 0o777
/** If several processes start at the same moment, one of them gets the lock within this time. */
const SERVING_LOCK_TIMEOUT_MS = 200
/** The offset in a SQLite file of the number that PRAGMA user_version sets. */
const USER_VERSION_OFFSET = 60
/** The suffixes of side files that hold part of the contents of a database. */
export const CONTENT_SUFFIXES = ['-wal', '-journal']
export const SIDE_SUFFIXES = [...CONTENT_SUFFIXES, '-shm']
/** Linux follows at most this many symbolic links, one after the other. */
const MAX_LINKS = 40

/**
 * The path without symbolic links, as SQLite resolves it. The file need not exist: a link to a missing file is followed, too.
 * If the folder does not exist, it is left as it is.
 */
export function realPathOf(path: string, maxLinks = MAX_LINKS): string {
  if (existsSync(path)) return realpathSync(path)
  const folder = dirname(path)
  const realFolder = existsSync(folder) ? realpathSync(folder) : folder
  const realPath = join(realFolder, basename(path))
  const target = linkTarget(realPath)
  // The limit ends a circle of links, which cannot be opened.
  if (target === undefined || maxLinks === 0) return realPath
  // The folders of the target may be links themselves, so ".." in it must not be resolved yet.
  return realPathOf(isAbsolute(target) ? target : `${realFolder}/${target}`, maxLinks - 1)
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    // It does not exist, is not a link, or its folder cannot be read. Opening the file reports the problem.
    return undefined
  }
}

/**
 * Creates an empty file, which SQLite treats as a new database. It will hold key hashes and sales figures, so only its owner
 * may ever read it. SQLite gives the -wal and -shm files the same permissions. The owner is changed through the file's
 * descriptor, so that nobody can put another file in its place.
 */
export function createPrivateFile(
  path: string,
  options: { readonly mustBeNew: boolean; readonly owner?: { uid: number; gid: number } | undefined },
): void {
  const { mustBeNew, owner } = options
  const file = openSync(path, mustBeNew ? 'wx' : 'a', 0o600)
  try {
    // The umask may have removed permissions.
    fchmodSync(file, 0o600)
    if (owner !== undefined) fchownSync(file, owner.uid, owner.gid)
  } finally {
    closeSync(file)
  }
}

/** `undefined` if there is no such file. */
export function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

/** Whether the file at `path` was deleted, or replaced by one with another inode. */
export function isLost(path: string, inode: number | undefined): boolean {
  try {
    return statSync(path).ino !== inode
  } catch (error) {
    // Any other error, such as a missing permission, does not show that the file is gone.
    return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
  }
}

/** Copies all bytes of `source` to the same positions of `target`. If both are the same file, its bytes are written again. */
export function copyBytes(source: number, target: number): void {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  let position = 0
  for (;;) {
    const length = readSync(source, chunk, 0, CHUNK_BYTES, position)
    if (length === 0) return
    for (let written = 0; written < length; ) {
      written += writeSync(target, chunk, written, length - written, position + written)
    }
    position += length
  }
}

/**
 * Gives the -wal and -shm files the permissions of the database. SQLite does so only when it creates them: if the permissions
 * of the database changed after a process was killed, the files that it left behind could be unusable.
 */
export function copyPermissionsToSideFiles(path: string): void {
  const permissions = statSync(path).mode & PERMISSION_BITS
  for (const sideFile of [`${path}-wal`, `${path}-shm`]) {
    // Another process that closes the database may remove the file at any time.
    const mode = statSync(sideFile, { throwIfNoEntry: false })?.mode
    if (mode === undefined || (mode & PERMISSION_BITS) === permissions) continue
    try {
      chmodSync(sideFile, permissions)
    } catch {
      // The file belongs to another user. SQLite reports an error if it cannot be used.
    }
  }
}

/**
 * Prevents a second process from serving the database at `path`: with two processes, each key could use its limits twice.
 * The lock is a SQLite lock on a file next to the database, so it ends with the process and works on every file system that
 * the database works on. The lock file is never removed, because another process may just be locking it.
 */
export function lockForServing(
  path: string,
  {
    text = 'another process serves this database',
    advice = 'stop that process, or choose another database with DATABASE_URL',
  } = {},
): { close(): void } {
  const lockPath = `${realPathOf(path)}-serving`
  if (!existsSync(lockPath)) createLockFile(lockPath, path)
  let lock: Database | undefined
  try {
    lock = new Database(lockPath)
    lock.run(`PRAGMA busy_timeout = ${SERVING_LOCK_TIMEOUT_MS}`)
    // Without a journal file, a killed process leaves nothing behind.
    lock.run('PRAGMA journal_mode = MEMORY')
    lock.run('BEGIN EXCLUSIVE')
    // Keeps the lock after the commit. The commit writes the pid to the file, where other processes can read it.
    lock.run('PRAGMA locking_mode = EXCLUSIVE')
    lock.run(`PRAGMA user_version = ${process.pid}`)
    lock.run('COMMIT')
    return lock
  } catch (error) {
    lock?.close()
    if (!isLocked(error)) {
      throw new OpenRefused(
        `its lock file ${lockPath} cannot be used (${error instanceof Error ? error.message : error}); make it writable, or remove it while nothing serves the database`,
        { cause: error },
      )
    }
    throw new OpenRefused(`${text}${pidIn(lockPath)}; ${advice}`, {
      cause: error,
    })
  }
}

/** The file next to a database that follows a continuous backup. A service that takes over removes it. */
export function followerMark(path: string): string {
  return `${path}-following`
}

/** Whether a service runs on the database at `path`. */
export function isServiceRunning(path: string): boolean {
  if (!existsSync(`${realPathOf(path)}-serving`)) return false
  try {
    lockForServing(path).close()
    return false
  } catch (error) {
    // An unusable lock file does not show that a service runs.
    return error instanceof OpenRefused && isLocked(error.cause)
  }
}

/** The path of the write-ahead log, if it was deleted while a service runs. Opening the database would create another log. */
export function deletedWriteAheadLogOf(path: string): string | undefined {
  const logPath = `${realPathOf(path)}-wal`
  // A follower holds the lock of a service, too.
  if (existsSync(logPath) || existsSync(followerMark(path))) return undefined
  return isServiceRunning(path) ? logPath : undefined
}

/** If root creates the lock file, the file gets the owner of the database. Otherwise the service could not use it. */
function createLockFile(lockPath: string, path: string): void {
  const owner = process.getuid?.() === 0 ? statSync(path, { throwIfNoEntry: false }) : undefined
  try {
    createPrivateFile(lockPath, { mustBeNew: true, owner })
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!existsSync(lockPath)) throw error
  }
}

/** The process id in the lock file, for a message. Reads the file directly, because SQLite would wait for the lock. */
function pidIn(lockPath: string): string {
  const bytes = readFileSync(lockPath)
  return bytes.length < USER_VERSION_OFFSET + 4 ? '' : ` (pid ${bytes.readInt32BE(USER_VERSION_OFFSET)})`
}

/** Only the owner may read the copy, even if others may read the original. */
export function copyFile(sourcePath: string, targetPath: string): void {
  createPrivateFile(targetPath, { mustBeNew: true })
  const source = openSync(sourcePath, 'r')
  const target = openSync(targetPath, 'r+')
  try {
    copyBytes(source, target)
  } finally {
    closeSync(source)
    closeSync(target)
  }
}

export function removeDatabase(path: string): void {
  for (const suffix of ['', ...SIDE_SUFFIXES]) rmSync(path + suffix, { force: true })
}
