// How commands read and write files, standard input and standard output.
import {
  chmodSync,
  chownSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmdirSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { DAY } from '../core/values/clock.ts'

/** `-` is standard input. The signal also aborts a read that waits for more input. */
export async function readInput(path: string, signal: AbortSignal): Promise<Buffer> {
  const stats = path === '-' ? undefined : statSync(path, { throwIfNoEntry: false })
  if (path !== '-' && stats === undefined) throw new Error(`cannot read ${path}: there is no such file`)
  if (stats?.isDirectory()) throw new Error(`cannot read ${path}: it is a folder`)
  const stream = path === '-' ? process.stdin : createReadStream(path)
  try {
    return Buffer.concat(await Array.fromAsync<Buffer>(addAbortSignal(signal, stream)))
  } finally {
    // A stream that was not read to its end keeps the process alive.
    stream.destroy()
  }
}

type IfExists = 'overwrite' | { readonly advice: string }

/**
 * Calls `write` with a temporary path in the same folder, and renames the file once it is complete and flushed. A failure
 * leaves no new file behind and an existing file unchanged; if the process is killed, the next command that writes to the folder
 * removes the temporary file. A file that is replaced passes on its permissions.
 */
export function writeNewFile(
  path: string,
  ifExists: IfExists,
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  return writeNewFiles([[path, write]], ifExists)
}

/** Like `writeNewFile`, for files of a folder, which are renamed once all of them are complete. */
async function writeNewFiles(
  files: readonly (readonly [path: string, write: (temporary: string) => Promise<void>])[],
  ifExists: IfExists,
): Promise<void> {
  const targets = files.map(([path, write]) => ({ path, write, ...findTarget(path, ifExists) }))
  for (const folder of new Set(targets.map(({ target }) => dirname(target)))) removeLeftovers(folder)
  let failing = targets[0]
  try {
    for (const file of targets) {
      failing = file
      await file.write(file.temporary)
      if (file.replaced !== undefined) setPermissions(file.temporary, file.replaced)
      await sync(file.temporary)
    }
    // Another process may have created a file in the meantime.
    for (const { path } of targets) refuseExisting(path, ifExists)
    for (const file of targets) {
      failing = file
      await rename(file.temporary, file.target)
      await sync(dirname(file.target))
    }
  } catch (error) {
    const diskFailure = failing && describeFullDisk(error, dirname(failing.target))
    for (const { temporary } of targets) rmSync(temporary, { force: true })
    throw diskFailure === undefined
      ? error
      : new Error(`${diskFailure}; ${failing?.path} was not written`, { cause: error })
  }
}

function refuseExisting(path: string, ifExists: IfExists): void {
  if (ifExists !== 'overwrite' && existsSync(path)) {
    throw new Error(`${path} already exists; ${ifExists.advice}`)
  }
}

function findTarget(path: string, ifExists: IfExists) {
  if (path === '') throw new Error('cannot write to a file without a name')
  refuseExisting(path, ifExists)
  const replaced = statSync(path, { throwIfNoEntry: false })
  if (replaced?.isFile() === false) throw new Error(`cannot write ${path}: it is not a file`)
  // Follows links, so that the file is replaced instead of the link.
  const target = replaced === undefined ? path : realpathSync(path)
  if (!existsSync(dirname(target))) {
    throw new Error(`cannot write ${path}: there is no folder ${resolve(dirname(target))}`)
  }
  const temporary = join(dirname(target), `.${basename(target)}.${hostname()}.${process.pid}.partial`)
  return { replaced, target, temporary }
}

/** Writes the texts, which are read one after the other, to files of a folder. Creates the folder if it does not exist. */
export async function writeFolder(
  folder: string,
  texts: Readonly<Record<string, AsyncIterable<string> | Iterable<string>>>,
  ifExists: IfExists,
  signal: AbortSignal,
): Promise<void> {
  const isNew = !existsSync(folder)
  if (isNew) mkdirSync(folder, { recursive: true, mode: 0o700 })
  else if (!statSync(folder).isDirectory()) throw new Error(`cannot write to ${folder}: it is not a folder`)
  try {
    await writeNewFiles(
      Object.entries(texts).map(([name, text]) => [
        join(folder, name),
        (temporary) => writeToFile(temporary, text, signal),
      ]),
      ifExists,
    )
  } catch (error) {
    if (isNew && readdirSync(folder).length === 0) rmdirSync(folder)
    throw error
  }
}

/** Another host may still be writing a file over the network, unless the file is older than this. */
const LEFTOVER_AFTER_MS = DAY
/** The temporary files of `writeNewFile`; SQLite adds a journal to the copy of a database. */
const TEMPORARY_NAME = /^\..+\.(?<pid>\d+)\.partial(-journal)?$/

/** Removes the temporary files of killed commands. Files that cannot be removed stay. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = TEMPORARY_NAME.exec(name)?.groups?.pid
    if (pid === undefined) continue
    const path = join(folder, name)
    const hasEnded = name.includes(`.${hostname()}.${pid}.`) && !isRunning(Number(pid))
    try {
      if (hasEnded || statSync(path).mtimeMs < Date.now() - LEFTOVER_AFTER_MS) rmSync(path)
    } catch {
      // It belongs to another user, or another command has just removed it.
    }
  }
}

function isRunning(pid: number): boolean {
  // An earlier process with the pid of this process has ended.
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process belongs to another user.
    return hasCode(error, 'EPERM')
  }
}

/** If root runs the command, also sets the owner, so that the owner of the replaced file can still read it. */
function setPermissions(path: string, { mode, uid, gid }: Stats): void {
  if (process.getuid?.() === 0) chownSync(path, uid, gid)
  chmodSync(path, mode & 0o777)
}

/** Returns `undefined` if the failure has another cause than a full disk. */
export function describeFullDisk(error: unknown, folder: string): string | undefined {
  if (!hasCode(error, 'ENOSPC')) return undefined
  const { bavail, bsize } = statfsSync(folder)
  const freeMegabytes = ((bavail * bsize) / 1_000_000).toFixed(1)
  return `the disk of ${resolve(folder)} is full (${freeMegabytes} MB free)`
}

function hasCode(error: unknown, code: 'ENOSPC' | 'EPERM' | 'EPIPE'): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Writes each part on its own, because Bun's writeFile of an async iterable can append NUL bytes. */
export async function writeToFile(
  path: string,
  parts: AsyncIterable<string> | Iterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    for await (const part of parts) {
      signal.throwIfAborted()
      await handle.writeFile(part)
    }
  } finally {
    await handle.close()
  }
}

/** Resolves once the text has been written, and rejects if it cannot be. */
export async function writeToStdout(text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // Without a listener, the error event, which follows the callback, would end the process.
  process.stdout.once('error', reject)
  process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
  await promise
  process.stdout.off('error', reject)
}

/** Writes as fast as the reader reads, until the end or until the reader closes the pipe, as `head` does. */
export async function streamToStdout(parts: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  try {
    for await (const part of parts) {
      signal.throwIfAborted()
      await writeToStdout(part)
    }
  } catch (error) {
    if (!hasCode(error, 'EPIPE')) throw error
  }
}

/** SQLite keeps parts of the data in these files. */
const SQLITE_FILE_ENDINGS = ['', '-wal', '-shm', '-journal']

/** Describes the files of a SQLite database that other users can access. Returns `undefined` if there are none. */
export function describeExposedFiles(databasePath: string): { text: string; advice: string } | undefined {
  const exposed = SQLITE_FILE_ENDINGS.map((ending) => databasePath + ending)
    .map((path) => ({ path, mode: (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777 }))
    .filter(({ mode }) => (mode & 0o077) !== 0)
  if (exposed.length === 0) return undefined
  const files = exposed.map(({ path, mode }) => `${path} (mode ${mode.toString(8).padStart(3, '0')})`)
  return {
    text: `other users can read the database: ${files.join(', ')}`,
    advice: `chmod 600 ${exposed.map(({ path }) => path).join(' ')}`,
  }
}
