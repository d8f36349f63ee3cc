import { Database } from 'bun:sqlite'
import { closeSync, fdatasyncSync, openSync, readSync } from 'node:fs'
import { type Clock, DAY, SECOND } from '../../core/values/clock.ts'
import {
  type BackupFolder,
  BackupGap,
  isPartialSnapshot,
  logName,
  parseNames,
  partialSnapshotName,
  snapshotName,
} from './backup-folder.ts'
import { finishesWithin } from './health.ts'
import {
  FRAME_HEADER_BYTES,
  frameBytesOf,
  HEADER_BYTES,
  SALTS_OFFSET,
  saltsOf,
  saltsOfFrame,
} from './write-ahead-log.ts'

const SNAPSHOT_EVERY_MS = DAY
/** A week covers a mistake that is found after a weekend. A longer past is the task of nightly backups. */
const KEPT_MS = 7 * DAY
const CHUNK_BYTES = 1024 * 1024
/** Longer than any disk that works. Then the folder counts as failed, although the call is still pending. */
const FOLDER_TIMEOUT_MS = 5 * SECOND
/** The part of a snapshot that is copied between two copies of the log, so that the copy of the log is never late. */
const SNAPSHOT_STEP_MS = 200
/** Writes wait while the rest of the log is read into memory. */
const MAX_REST_BYTES = 8 * CHUNK_BYTES

/** The end of the last commit in the log. */
interface LogEnd {
  readonly header: Buffer
  readonly position: number
  /** The header of the last frame. Its checksum covers the whole log up to this frame. */
  readonly lastFrame: Buffer
}

/** The log that is being copied, and all that follow it without a gap. */
interface Chain {
  number: number
  /** What is in the folder; `undefined` if nothing of this log is. */
  copied: LogEnd | undefined
  crc: number
  /** The end of a log that has been restarted. It is in memory until it is in the folder. */
  rest: { readonly bytes: Buffer; readonly end: LogEnd } | undefined
  snapshot: SnapshotCopy | undefined
  lastSnapshotAt: number | undefined
}

interface SnapshotCopy {
  readonly number: number
  position: number
  crc: number
  completedAt: number | undefined
}

interface LogCopyParts {
  readonly databasePath: string
  /**
   * A descriptor of the database, which the main thread closes after its connection: closing any descriptor of a database
   * removes all locks that the process has on it.
   */
  readonly databaseFile: number
  readonly folder: BackupFolder
  readonly clock?: Clock
  /** The size of each write. */
  readonly chunkBytes?: number
}

/**
 * Copies the commits of a served database to another folder, in the worker that checkpoints the write-ahead log.
 *
 * An open read transaction, the mark, protects what is not copied yet: SQLite neither checkpoints commits after its start nor
 * restarts the log, even if another process asks for it. A new mark is set before each copy, and the previous one is removed after it.
 *
 * So everything in the database file is in the folder, too, and a snapshot is a plain copy of the file that ignores checkpoints:
 * the copied log repeats every page that one of them changed meanwhile.
 */
export class LogCopy {
  readonly #parts: LogCopyParts
  readonly #clock: Clock
  readonly #chunkBytes: number
  readonly #log: number
  readonly #writer: Database
  readonly #probe: Database
  readonly #logState
  #mark: Database
  #nextMark: Database
  #chain: Chain | undefined
  #running: Promise<void> | undefined
  #writes = 0

  constructor(parts: LogCopyParts) {
    const { databasePath, clock = Date.now, chunkBytes = CHUNK_BYTES } = parts
    this.#parts = parts
    this.#clock = clock
    this.#chunkBytes = chunkBytes
    this.#log = openSync(`${databasePath}-wal`, 'r')
    this.#writer = new Database(databasePath, { readwrite: true, create: false })
    this.#probe = new Database(databasePath, { readonly: true, safeIntegers: true })
    // Checkpoints nothing, but returns the number of frames in the log.
    this.#logState = this.#probe.query<{ log: bigint }, []>('PRAGMA wal_checkpoint(NOOP)')
    this.#mark = new Database(databasePath, { readonly: true })
    this.#nextMark = new Database(databasePath, { readonly: true })
  }

  /** Copies every commit so far. Resolves to whether the folder has a snapshot that they follow. */
  async copy(): Promise<boolean> {
    if (this.#running !== undefined) throw new Error('the folder of the backup does not answer')
    this.#running = this.#copy().finally(() => {
      this.#running = undefined
    })
    // A long log takes longer, but not a single write.
    for (let writesBefore = -1; !(await finishesWithin(FOLDER_TIMEOUT_MS, this.#running)); ) {
      if (this.#writes === writesBefore) {
        throw new Error(`the folder of the backup has not answered for ${FOLDER_TIMEOUT_MS / SECOND} s`)
      }
      writesBefore = this.#writes
    }
    return this.#chain?.lastSnapshotAt !== undefined
  }

  /**
   * Lets a checkpoint copy the whole log into the database, so that SQLite restarts it, unless a copy is still waiting for the
   * folder. Other processes cannot write meanwhile, and this process must not.
   */
  async restartLog<Result>(checkpoint: () => Promise<Result>): Promise<Result> {
    const chain = this.#chain
    try {
      this.#writer.run('BEGIN IMMEDIATE')
    } catch {
      // Another process is writing. The log can only be restarted later.
      return checkpoint()
    }
    try {
      if (chain === undefined || this.#running !== undefined || !this.#keepRest(chain))
        return await checkpoint()
      endMark(this.#mark)
      return await checkpoint()
    } finally {
      if (chain !== undefined && !this.#mark.inTransaction) beginMark(this.#mark)
      this.#writer.run('ROLLBACK')
    }
  }

  /** Gives up the copy, because the log has become too long. The next copy begins with a snapshot. */
  discard(): void {
    this.#chain = undefined
    for (const mark of [this.#mark, this.#nextMark]) endMark(mark)
  }

  close(): void {
    for (const database of [this.#writer, this.#probe, this.#mark, this.#nextMark]) database.close()
    closeSync(this.#log)
    this.#parts.folder.close()
  }

  async #copy(): Promise<void> {
    this.#chain ??= await this.#startChain()
    const chain = this.#chain
    beginMark(this.#nextMark)
    try {
      await this.#copyLogs(chain)
    } catch (error) {
      endMark(this.#nextMark)
      if (error instanceof BackupGap) this.discard()
      throw error
    }
    const previous = this.#mark
    this.#mark = this.#nextMark
    this.#nextMark = previous
    endMark(previous)
    await this.#copySnapshot(chain)
  }

  /** The number that is left out shows the gap. */
  async #startChain(): Promise<Chain> {
    const { folder } = this.#parts
    const names = await folder.list()
    folder.lock()
    for (const name of names.filter(isPartialSnapshot)) await folder.remove(name)
    const { snapshots, logs } = parseNames(names)
    const number = Math.max(0, ...[...snapshots, ...logs].map((file) => file.number)) + 2
    return {
      number,
      copied: undefined,
      crc: 0,
      rest: undefined,
      snapshot: undefined,
      lastSnapshotAt: undefined,
    }
  }

  async #copyLogs(chain: Chain): Promise<void> {
    if (chain.rest !== undefined) {
      const { bytes, end } = chain.rest
      await this.#copyUpTo(chain, end, (from, to) => bytes.subarray(from, to))
      chain.rest = undefined
    }
    const end = this.#readEnd()
    if (end === undefined) {
      // An attempt that failed may have left a part of a log that is gone. It would take back pages of the snapshot.
      if (chain.copied === undefined) await this.#parts.folder.remove(logName(chain.number))
      return
    }
    if (chain.copied !== undefined && !isSameLog(chain.copied, end)) await this.#followRestart(chain, end)
    this.#requireContinuation(chain)
    const begin = chain.copied?.position ?? 0
    if (end.position === begin) return
    // A power cut must not leave a commit in the folder that is not in the database.
    fdatasyncSync(this.#log)
    await this.#copyUpTo(chain, end, (from, to) => this.#read(begin + from, to - from))
  }

  /** `read` returns bytes after those that are copied. */
  async #copyUpTo(chain: Chain, end: LogEnd, read: (from: number, to: number) => Buffer): Promise<void> {
    const begin = chain.copied?.position ?? 0
    const length = end.position - begin
    let { crc } = chain
    for (let from = 0; from < length; from += this.#chunkBytes) {
      const bytes = read(from, Math.min(from + this.#chunkBytes, length))
      await this.#write(chain, logName(chain.number), bytes, begin + from)
      crc = Bun.hash.crc32(bytes, crc)
    }
    chain.crc = crc
    chain.copied = end
  }

  /** Throws if the copy was given up during the call: then the folder does not have all that is in the database file. */
  async #write(chain: Chain, name: string, bytes: Buffer, position: number): Promise<void> {
    await this.#parts.folder.write(name, bytes, position)
    this.#writes++
    if (chain !== this.#chain) throw new BackupGap('the log has become too long')
  }

  /** SQLite has restarted the log. The mark guarantees that the whole previous log is copied. */
  async #followRestart(chain: Chain, end: LogEnd): Promise<void> {
    if (restartsOf(end) !== (restartsOf(chain.copied ?? end) + 1) >>> 0) {
      throw new BackupGap('the log was restarted before it was copied')
    }
    await this.#parts.folder.rename(logName(chain.number), logName(chain.number, chain.crc))
    chain.number++
    chain.copied = undefined
    chain.crc = 0
  }

  /** Throws if a commit that was copied has been replaced, because it failed after it was written. */
  #requireContinuation({ copied }: Chain): void {
    if (copied === undefined) return
    const lastFrame = this.#read(copied.position - frameBytesOf(copied.header), FRAME_HEADER_BYTES)
    if (!lastFrame.equals(copied.lastFrame)) throw new BackupGap('the log has changed')
  }

  /** Reads what is not copied yet into memory. Returns false if it is too much, or the log was restarted a moment ago. */
  #keepRest(chain: Chain): boolean {
    const { copied } = chain
    const end = this.#readEnd()
    if (chain.rest !== undefined || copied === undefined || end === undefined) return false
    const length = end.position - copied.position
    if (!isSameLog(copied, end) || length > MAX_REST_BYTES) return false
    this.#requireContinuation(chain)
    chain.rest = { bytes: this.#read(copied.position, length), end }
    return true
  }

  async #copySnapshot(chain: Chain): Promise<void> {
    const { lastSnapshotAt = Number.NEGATIVE_INFINITY } = chain
    if (chain.snapshot === undefined && this.#clock() - lastSnapshotAt < SNAPSHOT_EVERY_MS) return
    chain.snapshot ??= { number: chain.number, position: 0, crc: 0, completedAt: undefined }
    try {
      const completedAt = await this.#continueSnapshot(chain, chain.snapshot)
      if (completedAt === undefined) return
      chain.lastSnapshotAt = completedAt
      chain.snapshot = undefined
      await this.#removeOld(completedAt)
    } catch (error) {
      if (error instanceof BackupGap) chain.snapshot = undefined
      throw error
    }
  }

  /** Copies the next part. Resolves to the time of the snapshot once it is complete. */
  async #continueSnapshot(chain: Chain, snapshot: SnapshotCopy): Promise<number | undefined> {
    const { folder, databaseFile } = this.#parts
    const partial = partialSnapshotName(snapshot.number)
    const endsAt = performance.now() + SNAPSHOT_STEP_MS
    do {
      const bytes = readFrom(databaseFile, snapshot.position, this.#chunkBytes)
      if (bytes.length === 0) {
        snapshot.completedAt ??= this.#clock()
        await folder.rename(partial, snapshotName(snapshot.number, snapshot.completedAt, snapshot.crc))
        return snapshot.completedAt
      }
      await this.#write(chain, partial, bytes, snapshot.position)
      snapshot.crc = Bun.hash.crc32(bytes, snapshot.crc)
      snapshot.position += bytes.length
    } while (performance.now() < endsAt)
    return undefined
  }

  /** Keeps what is needed to restore any moment of the last week. */
  async #removeOld(now: number): Promise<void> {
    const { folder } = this.#parts
    const { snapshots, logs } = parseNames(await folder.list())
    const oldest = snapshots.findLast(({ at }) => at <= now - KEPT_MS)
    if (oldest === undefined) return
    for (const { name, number } of [...snapshots, ...logs]) {
      if (number < oldest.number) await folder.remove(name)
    }
  }

  /** `undefined` if the log is empty. */
  #readEnd(): LogEnd | undefined {
    for (;;) {
      const header = this.#read(0, HEADER_BYTES)
      const frames = Number(this.#logState.get()?.log ?? 0n)
      if (header.length < HEADER_BYTES || frames <= 0) return undefined
      const position = HEADER_BYTES + frames * frameBytesOf(header)
      const lastFrame = this.#read(position - frameBytesOf(header), FRAME_HEADER_BYTES)
      if (saltsOfFrame(lastFrame).equals(saltsOf(header))) return { header, position, lastFrame }
      // SQLite has restarted the log after the header was read. The mark allows this only once.
    }
  }

  #read(position: number, length: number): Buffer {
    return readFrom(this.#log, position, length)
  }
}

function isSameLog(one: LogEnd, other: LogEnd): boolean {
  return saltsOf(one.header).equals(saltsOf(other.header))
}

function restartsOf({ header }: LogEnd): number {
  return header.readUInt32BE(SALTS_OFFSET)
}

function readFrom(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const count = readSync(file, bytes, filled, length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

/** The transaction begins with its first read. */
function beginMark(database: Database): void {
  database.run('BEGIN')
  database.query('SELECT 1 FROM sqlite_schema LIMIT 1').get()
}

function endMark(database: Database): void {
  if (database.inTransaction) database.run('ROLLBACK')
}
