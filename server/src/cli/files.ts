// Files and streams that commands read and write.
import { createReadStream, existsSync, realpathSync, rmSync, statfsSync, statSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { addAbortSignal } from 'node:stream'

/** Enough to be quick, little enough that a signal is heard in between. */
const CHUNK_BYTES = 256 * 1024

/** A file or standard input, read as it is asked for. */
export interface ByteSource {
  readonly chunks: AsyncIterable<Uint8Array>
  /** How much has been read, from 0 to 1; not known of a pipe. */
  readonly fractionRead: () => number | undefined
}

/** `path` may be `-` for standard input. The signal ends the reading, also while it waits for more. */
export function openBytes(path: string, signal: AbortSignal): ByteSource {
  if (path === '-') return { chunks: addAbortSignal(signal, process.stdin), fractionRead: () => undefined }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new Error(`cannot read ${path}: there is no such file`)
  if (found.isDirectory()) throw new Error(`cannot read ${path}: it is a folder`)
  const stream = addAbortSignal(signal, createReadStream(path, { highWaterMark: CHUNK_BYTES }))
  const size = found.isFile() ? found.size : 0
  return { chunks: stream, fractionRead: () => (size === 0 ? undefined : stream.bytesRead / size) }
}

/**
 * Lets `write` make a file under a temporary name beside `path`, and gives it its name once it is whole and on
 * disk: a failure leaves nothing behind, and an older file as it was. `existing` says what becomes of one that is
 * there: it is written over, or refused with advice.
 */
export async function writeNewFile(
  path: string,
  existing: 'overwrite' | { readonly advice: string },
  write: (temporary: string) => Promise<void>,
): Promise<void> {
  const refuseExisting = () => {
    if (existing !== 'overwrite' && existsSync(path)) {
      throw new Error(`${path} is there already; ${existing.advice}`)
    }
  }
  if (path === '') throw new Error('cannot write to a file without a name')
  refuseExisting()
  const target = existsSync(path) ? existingFile(path) : path
  if (!existsSync(dirname(target))) {
    throw new Error(`cannot write ${path}: there is no folder ${resolve(dirname(target))}`)
  }
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.partial`)
  try {
    await write(temporary)
    await sync(temporary)
    refuseExisting()
    await rename(temporary, target)
    await sync(dirname(target))
  } catch (error) {
    const told = fullDiskText(error, dirname(target))
    rmSync(temporary, { force: true })
    throw told === undefined ? error : new Error(`${told}; ${path} was not written`, { cause: error })
  }
}

/** Which disk is full, where that is what went wrong. */
export function fullDiskText(error: unknown, folder: string): string | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) return undefined
  const { bavail, bsize } = statfsSync(folder)
  return `the disk of ${resolve(folder)} is full (${((bavail * bsize) / 1_000_000).toFixed(1)} MB free)`
}

/** Where a link leads: it is the file behind it that is written anew. */
function existingFile(path: string): string {
  if (!statSync(path).isFile()) throw new Error(`cannot write ${path}: it is not a file`)
  return realpathSync(path)
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Writes a new file, part by part: Bun's writeFile of all parts at once can leave NUL bytes behind the last. */
export async function writeToFile(
  path: string,
  text: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const handle = await open(path, 'wx')
  try {
    for await (const part of text) {
      signal.throwIfAborted()
      await handle.writeFile(part)
    }
  } finally {
    await handle.close()
  }
}

/** Goes at the reader's pace, and ends where the reader, such as `head`, has had enough. */
export async function writeToStdout(text: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
  // A failure is given to the write it belongs to; without a listener it would end the program besides.
  process.stdout.on('error', () => {})
  try {
    for await (const part of text) {
      signal.throwIfAborted()
      await new Promise<void>((resolve, reject) => {
        process.stdout.write(part, (error) => (error ? reject(error) : resolve()))
      })
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error
  }
}
