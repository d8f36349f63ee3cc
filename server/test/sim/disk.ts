import { Database, SQLiteError } from 'bun:sqlite'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Disk } from '../../src/store/sqlite/connection.ts'
import { type LogFile, WalFile } from '../../src/store/sqlite/write-ahead-log.ts'
import { memoryFolder } from '../support/memory-folder.ts'
import type { Random } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

/** The unit that a disk writes atomically. */
const BLOCK_BYTES = 512
/** SQLite flushes the header of the write-ahead log itself when it restarts the log. */
const LOG_HEADER_BYTES = 32
const QUICK_FLUSH_MS = 0.4
/** At a power cut, either all unflushed blocks are lost, or each with a probability of its own. */
const SOME_BLOCKS_WRITTEN_CHANCE = 0.5
const EMPTY = Buffer.alloc(0)

interface StartedFlush {
  readonly number: number
  /** The log when the flush began. */
  readonly image: Buffer
}

/**
 * The disk below a SQLite file. SQLite writes to a real file, which stands for the cache of the kernel. What a power cut leaves
 * of the write-ahead log is kept here. The database itself changes only at checkpoints, which SQLite flushes.
 */
export class SimulatedDisk implements Disk {
  /** How long a flush takes. */
  flushMs = QUICK_FLUSH_MS
  /** Commits fail with this error. */
  commitError: SQLiteError | undefined
  failsNextFlush = false
  flushes = 0
  readonly #time: VirtualTime
  readonly #random: Random
  readonly #folder = mkdtempSync(join(memoryFolder(), 'petstore-sim-'))
  #restarts = 0
  /** The write-ahead log that a power cut leaves. */
  #flushed: Buffer = EMPTY
  /** The log as the kernel believes it to be on the disk. After a failed flush it differs from `#flushed`. */
  #clean: Buffer = EMPTY
  /** Counts the flushes that have begun. A flush that began before another one has ended must not undo it. */
  #latestStart = 0
  #latestEnd = 0
  readonly #openLogs: LogFile[] = []

  constructor(time: VirtualTime, random: Random, databaseFile: string) {
    this.#time = time
    this.#random = random
    mkdirSync(this.#currentFolder)
    copyFileSync(databaseFile, this.path)
  }

  get #currentFolder(): string {
    return join(this.#folder, String(this.#restarts))
  }

  get path(): string {
    return join(this.#currentFolder, 'petstore.db')
  }

  beforeCommit(): void {
    if (this.commitError !== undefined) throw this.commitError
  }

  openLog(databasePath: string): LogFile | undefined {
    const file = WalFile.open(databasePath)
    if (file === undefined) return undefined
    this.#openLogs.push(file)
    return {
      flush: () => this.#flush(),
      flushNow: () => {
        this.#time.now += this.flushMs * this.#random.next()
        this.#endFlush(this.#startFlush(), { mayFail: true })
      },
      rewrite: () => {
        this.#clean = EMPTY
        this.flushByCheckpoint()
      },
      isLongerThan: (bytes) => file.isLongerThan(bytes),
      salts: () => file.salts(),
      isAt: (path) => file.isAt(path),
      close: () => {},
    }
  }

  /** SQLite has flushed the log itself. */
  flushByCheckpoint(): void {
    this.#endFlush(this.#startFlush(), { mayFail: false })
  }

  /** Another process locks the file. Returns a function that ends the lock. */
  lock(): () => void {
    const other = new Database(this.path)
    other.run('BEGIN IMMEDIATE')
    return () => other.close()
  }

  /** The process has ended. Its files are copied, so that nothing that it has left open can change them any more. */
  restart({ losesPower }: { readonly losesPower: boolean }): void {
    const written = this.#readLog()
    const log = losesPower ? this.#afterPowerCut(written) : written
    if (losesPower) {
      this.#flushed = log
      this.#clean = log
    }
    this.failsNextFlush = false
    for (const file of this.#openLogs.splice(0)) file.close()
    const oldFolder = this.#currentFolder
    const oldPath = this.path
    this.#restarts++
    mkdirSync(this.#currentFolder)
    copyFileSync(oldPath, this.path)
    if (log.length > 0) writeFileSync(`${this.path}-wal`, log)
    rmSync(oldFolder, { recursive: true })
  }

  close(): void {
    for (const file of this.#openLogs.splice(0)) file.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #readLog(): Buffer {
    return existsSync(`${this.path}-wal`) ? readFileSync(`${this.path}-wal`) : EMPTY
  }

  #flush(): Promise<void> {
    const flush = this.#startFlush()
    const ms = this.flushMs * this.#random.between(0.5, 2)
    return new Promise((resolve, reject) => {
      this.#time.afterForProcess(ms, () => {
        try {
          this.#endFlush(flush, { mayFail: true })
          resolve()
        } catch (error) {
          reject(error)
        }
      })
    })
  }

  #startFlush(): StartedFlush {
    return { number: ++this.#latestStart, image: this.#readLog() }
  }

  #endFlush({ number, image }: StartedFlush, { mayFail }: { readonly mayFail: boolean }): void {
    this.flushes++
    if (number < this.#latestEnd) return
    this.#latestEnd = number
    const clean = this.#clean
    this.#clean = image
    const isFailing = mayFail && this.failsNextFlush
    const isFlushed = (from: number) =>
      !sameBlock(image, clean, from) && !(isFailing && this.#random.chance(0.5))
    this.#flushed = mixBlocks(this.#flushed, image, image.length, isFlushed)
    if (!isFailing) return
    // The kernel reports the failure once, and then treats the lost blocks as written.
    this.failsNextFlush = false
    throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
  }

  #afterPowerCut(written: Buffer): Buffer {
    const writtenShare = this.#random.chance(SOME_BLOCKS_WRITTEN_CHANCE) ? this.#random.next() : 0
    const isLonger = this.#random.chance(writtenShare)
    const length = isLonger ? Math.max(this.#flushed.length, written.length) : this.#flushed.length
    const log = mixBlocks(this.#flushed, written, length, () => this.#random.chance(writtenShare))
    if (log.length > 0) written.copy(log, 0, 0, LOG_HEADER_BYTES)
    return log
  }
}

function sameBlock(one: Buffer, other: Buffer, from: number): boolean {
  return one.subarray(from, from + BLOCK_BYTES).equals(other.subarray(from, from + BLOCK_BYTES))
}

/** A log of this length with the blocks of `old`, or of `updated` where `isUpdated`. */
function mixBlocks(
  old: Buffer,
  updated: Buffer,
  length: number,
  isUpdated: (from: number) => boolean,
): Buffer {
  const result = Buffer.alloc(length)
  old.copy(result)
  for (let from = 0; from < length; from += BLOCK_BYTES) {
    if (from < updated.length && isUpdated(from)) updated.copy(result, from, from, from + BLOCK_BYTES)
  }
  return result
}

/** What SQLite throws. Its constructor cannot be called. */
export function sqliteError(code: string, message: string): SQLiteError {
  const error: SQLiteError = Object.create(SQLiteError.prototype)
  return Object.assign(error, { name: 'SQLiteError', code, message })
}
