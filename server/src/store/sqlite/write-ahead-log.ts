import { closeSync, existsSync, fdatasync, fdatasyncSync, fstatSync, openSync, readSync } from 'node:fs'
import { ServiceError } from '../../core/values/errors.ts'
import type { Reader } from '../workers.ts'
import { copyBytes, isLost } from './database-files.ts'
import type { LogBackup } from './log-backup.ts'

/** The format of the file: https://sqlite.org/fileformat2.html#walformat */
export const HEADER_BYTES = 32
const PAGE_SIZE_OFFSET = 8
/** Random numbers that change with every restart of the log. The first one grows by one. Each frame repeats them. */
export const SALTS_OFFSET = 16
const SALTS_BYTES = 8
export const FRAME_HEADER_BYTES = 24
const FRAME_SALTS_OFFSET = 8

export function frameBytesOf(header: Buffer): number {
  return FRAME_HEADER_BYTES + header.readUInt32BE(PAGE_SIZE_OFFSET)
}

export function saltsOf(header: Buffer): Buffer {
  return header.subarray(SALTS_OFFSET, SALTS_OFFSET + SALTS_BYTES)
}

export function saltsOfFrame(frame: Buffer): Buffer {
  return frame.subarray(FRAME_SALTS_OFFSET, FRAME_SALTS_OFFSET + SALTS_BYTES)
}

/**
 * Flushes the write-ahead log of an open database. SQLite keeps using the same file while this process has a connection open:
 * after a checkpoint it overwrites the file from the beginning, and only the last connection to close removes it. So the
 * descriptor stays valid until the connection closes. SQLite does not lock this file, so closing the descriptor releases no
 * lock.
 */
export class WalFile {
  readonly #descriptor: number
  readonly #header = Buffer.alloc(HEADER_BYTES)
  readonly #frameSalts = Buffer.alloc(SALTS_BYTES)

  /** Must be called after the first read or write, which creates the file. Returns `undefined` if there is no such file. */
  static open(databasePath: string): WalFile | undefined {
    const path = `${databasePath}-wal`
    if (!existsSync(path)) return undefined
    try {
      return new WalFile(openSync(path, 'r+'))
    } catch {
      // A read-only descriptor can be flushed, too.
      return new WalFile(openSync(path, 'r'))
    }
  }

  private constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  /** Flushes off the event loop. */
  flush(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (error) => (error === null ? resolve() : reject(error)))
    })
  }

  /** Flushes on the event loop. */
  flushNow(): void {
    fdatasyncSync(this.#descriptor)
  }

  /**
   * Writes the same bytes again and flushes them. After a failed flush, the kernel may mark pages as clean that never
   * reached the disk, and a second flush would skip them. Nothing else may write to the file meanwhile.
   */
  rewrite(): void {
    copyBytes(this.#descriptor, this.#descriptor)
    this.flushNow()
  }

  /** Whether the log is longer than this. The size of the file does not show it, because a restart does not shorten the file. */
  isLongerThan(bytes: number): boolean {
    // An empty file has no header.
    const headerLength = readSync(this.#descriptor, this.#header, 0, HEADER_BYTES, 0)
    this.#header.fill(0, headerLength)
    const frameBytes = frameBytesOf(this.#header)
    const frame = Math.max(0, Math.floor((bytes - HEADER_BYTES) / frameBytes))
    const position = HEADER_BYTES + frame * frameBytes + FRAME_SALTS_OFFSET
    const length = readSync(this.#descriptor, this.#frameSalts, 0, SALTS_BYTES, position)
    return length === SALTS_BYTES && this.#frameSalts.equals(saltsOf(this.#header))
  }

  /** Changes when SQLite restarts the log. */
  salts(): string {
    const length = readSync(this.#descriptor, this.#header, 0, HEADER_BYTES, 0)
    this.#header.fill(0, length)
    return saltsOf(this.#header).toString('hex')
  }

  /** Whether this file still has its name. */
  isAt(path: string): boolean {
    return !isLost(path, fstatSync(this.#descriptor).ino)
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** The public part of a WalFile, which tests replace. */
export type LogFile = Pick<WalFile, keyof WalFile>

/** Flushes that take less than this on average may run on the event loop. */
const SHORT_FLUSH_MS = 1
/** The weight of the latest flush in the moving average of durations. */
const LATEST_WEIGHT = 0.1
/** A longer flush counts as this long, so that a rare slow flush does not move the next flushes off the event loop. */
const MAX_COUNTED_MS = 5

/** The commits that one flush covers. */
interface CommitGroup {
  /** The end of the table `log` before the first of these commits. */
  readonly logEndBefore: bigint
  readonly flushed: Promise<void>
  resolve(): void
  reject(error: unknown): void
}

interface FlushQueueParts {
  readonly file: Pick<LogFile, 'flush' | 'flushNow'>
  /** Called after each flush, before the callers that wait for it continue. */
  readonly onFlushed: () => void
  /** Called once; nothing is flushed after that. */
  readonly onFailed: (error: unknown) => void
}

/**
 * Flushes written commits. One flush runs at a time, and commits that are written meanwhile share the next flush. No
 * commit may be acknowledged or shown before it is flushed.
 */
export class FlushQueue {
  readonly #parts: FlushQueueParts
  #flushingGroup: CommitGroup | undefined
  #waitingGroup: CommitGroup | undefined
  #failure: ServiceError | undefined
  #averageMs = SHORT_FLUSH_MS

  constructor(parts: FlushQueueParts) {
    this.#parts = parts
  }

  /**
   * Must be called right after each commit. `logEndBefore` is the last position in the table `log` before the commit. If
   * blocking the event loop would delay no other request (`mayBlockEventLoop`) and flushes are short, the flush runs at once
   * on the event loop, which saves a round trip to another thread.
   */
  add(logEndBefore: bigint, mayBlockEventLoop: boolean): void {
    if (mayBlockEventLoop && this.#flushingGroup === undefined && this.#averageMs < SHORT_FLUSH_MS) {
      this.#flushNow()
      return
    }
    this.#waitingGroup ??= newGroup(logEndBefore)
    if (this.#flushingGroup === undefined) void this.#flushWaiting()
  }

  /** Resolves when every commit so far is flushed; `undefined` if they already are. Rejects after a failed flush. */
  untilFlushed(): Promise<void> | undefined {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return (this.#waitingGroup ?? this.#flushingGroup)?.flushed
  }

  /** The last flushed position of the table `log`; `undefined` if all of it is flushed. */
  get flushedUpTo(): bigint | undefined {
    return (this.#flushingGroup ?? this.#waitingGroup)?.logEndBefore
  }

  /** Throws after a failed flush: until a restart reads the file again, it is unknown which commits are on disk. */
  requireUsable(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  #flushNow(): void {
    const startedAt = performance.now()
    try {
      this.#parts.file.flushNow()
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#recordDuration(startedAt)
    this.#parts.onFlushed()
  }

  #recordDuration(startedAt: number): void {
    const countedMs = Math.min(performance.now() - startedAt, MAX_COUNTED_MS)
    this.#averageMs += (countedMs - this.#averageMs) * LATEST_WEIGHT
  }

  async #flushWaiting(): Promise<void> {
    for (;;) {
      const group = this.#waitingGroup
      if (group === undefined || this.#failure !== undefined) return
      this.#waitingGroup = undefined
      this.#flushingGroup = group
      const startedAt = performance.now()
      try {
        await this.#parts.file.flush()
      } catch (error) {
        this.#fail(error)
        return
      }
      this.#recordDuration(startedAt)
      this.#flushingGroup = undefined
      this.#parts.onFlushed()
      group.resolve()
    }
  }

  #fail(error: unknown): void {
    this.#failure = new ServiceError(
      'service_unavailable',
      'the disk failed while changes were being saved; changes in progress may or may not have been made: read the current state before you retry',
      { cause: error },
    )
    const groups = [this.#flushingGroup, this.#waitingGroup]
    this.#flushingGroup = undefined
    this.#waitingGroup = undefined
    for (const group of groups) group?.reject(this.#failure)
    this.#parts.onFailed(error)
  }
}

function newGroup(logEndBefore: bigint): CommitGroup {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  // If nobody waits for the commit, for example after a disconnect, an unhandled rejection would end the process.
  promise.catch(() => {})
  return { logEndBefore, flushed: promise, resolve, reject }
}

/** Copies as much as possible without waiting for readers or other writers. */
export const CHECKPOINT = 'PRAGMA wal_checkpoint(PASSIVE)'
/** A checkpoint starts when the log is longer than this. */
export const MAX_LOG_BYTES = 16 * 1024 * 1024
/** If a reader keeps SQLite from restarting the log, the next checkpoint starts after this part of MAX_LOG_BYTES. */
const RETRY_PART = 1 / 8
/** While the folder of the backup fails, the log may have this many times its usual length. */
const MAX_UNCOPIED_PART = 8
/**
 * The last step of a checkpoint starts after a step that copied fewer pages than this, or when the log is twice as long as it
 * should be. Writes wait during the last step, so it should take only milliseconds.
 */
const SHORT_STEP_PAGES = 1_000

/**
 * Copies the write-ahead log into the database, in a worker with its own connection, so that the event loop does not
 * wait for the disk. A checkpoint has several steps. Pages that are committed during a step are left for the next. During the
 * last step writes wait, so that the whole log is copied and SQLite starts again at the beginning of the file. Otherwise
 * continuous writes would make the log grow.
 */
export class Checkpointer {
  readonly #worker: Reader
  readonly #file: Pick<LogFile, 'isLongerThan'>
  readonly #maxBytes: number
  readonly #backup: LogBackup | undefined
  /** The next checkpoint starts when the log is longer than this. */
  #startsAtBytes: number
  #runningCheckpoint: Promise<void> | undefined
  #lastStep: Promise<unknown> | undefined

  /** The worker must be able to write to the database. */
  constructor(
    worker: Reader,
    file: Pick<LogFile, 'isLongerThan'>,
    maxBytes: number,
    backup?: LogBackup | undefined,
  ) {
    this.#worker = worker
    this.#file = file
    this.#maxBytes = maxBytes
    this.#backup = backup
    this.#startsAtBytes = maxBytes
  }

  /** Writes must wait for this promise; `undefined` if they need not wait. */
  get pause(): Promise<unknown> | undefined {
    return this.#lastStep
  }

  /** Must be called after each commit. */
  startIfLong(): void {
    if (this.#runningCheckpoint !== undefined) return
    if (!this.#file.isLongerThan(this.#maxBytes)) {
      this.#startsAtBytes = this.#maxBytes
    } else if (this.#file.isLongerThan(this.#startsAtBytes)) {
      void this.run()
    }
  }

  /** Copies the log now, unless a checkpoint is running, and resolves when it is copied. */
  run(): Promise<void> {
    this.#runningCheckpoint ??= this.#run().finally(() => {
      this.#runningCheckpoint = undefined
    })
    return this.#runningCheckpoint
  }

  async close(): Promise<void> {
    await this.#runningCheckpoint
    await this.#backup?.copyLast()
    await this.#worker.close()
  }

  async #run(): Promise<void> {
    if (await this.#isBackedUp()) await this.#checkpoint()
    while (this.#file.isLongerThan(this.#startsAtBytes)) this.#startsAtBytes += this.#maxBytes * RETRY_PART
  }

  /** The log must not be restarted before it is copied, unless the folder of the backup has failed for too long. */
  async #isBackedUp(): Promise<boolean> {
    if (this.#backup === undefined) return true
    try {
      await this.#backup.copy()
      return true
    } catch {
      if (!this.#file.isLongerThan(MAX_UNCOPIED_PART * this.#maxBytes)) return false
      await this.#backup.discard()
      return true
    }
  }

  async #checkpoint(): Promise<void> {
    let copiedBefore = 0
    // The first step is never the last one: after an import, it copies a log that is many times as long as it should be.
    do {
      const copied = await this.#copyLog()
      if (copied - copiedBefore < SHORT_STEP_PAGES) break
      copiedBefore = copied
    } while (!this.#file.isLongerThan(2 * this.#maxBytes))
    // Leaves less to copy while writes wait. If it fails, SQLite does not restart the log.
    await this.#backup?.copy().catch(() => {})
    this.#lastStep = this.#backup === undefined ? this.#copyLog() : this.#backup.restartLog()
    await this.#lastStep
    this.#lastStep = undefined
  }

  /** Resolves to the number of pages of the log that are in the database. */
  async #copyLog(): Promise<number> {
    try {
      const [row] = await this.#worker.rows<{ checkpointed: bigint }>(CHECKPOINT)
      return Number(row?.checkpointed ?? 0n)
    } catch {
      // The disk may be full. Nothing is lost, and the next checkpoint copies the log.
      return 0
    }
  }
}
