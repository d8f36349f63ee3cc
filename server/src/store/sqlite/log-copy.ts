import { Database } from 'bun:sqlite'
import { closeSync, fdatasyncSync, openSync, readSync } from 'node:fs'
import { type Clock, DAY, SECOND } from '../../core/values/clock.ts'
import {
  type BackupFolder,
  BackupGap,
  logName,
  parseNames,
  partialSnapshotName,
  snapshotName,
} from './backup-folder.ts'
import { finishesWithin } from './health.ts'
import {
  checksumOfFrame,
  commitsAfter,
  FRAME_HEADER_BYTES,
  LOG_HEADER_BYTES,
  type LogHeader,
  type LogPosition,
  parseLogHeader,
  startOfLog,
} from './wal-frames.ts'

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

/** The log that is being copied, and all that follow it without a gap. */
interface Chain {
  number: number
  /** `undefined` while the log is empty. */
  header: LogHeader | undefined
  /** The position up to which the log is in the folder. */
  copied: LogPosition | undefined
  crc: number
  /** The end of a log that has been restarted. It is in memory until it is in the folder. */
  rest: { readonly bytes: Buffer; readonly position: LogPosition } | undefined
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
}

/**
 * Copies the commits of a served database to another folder, in the worker that checkpoints the write-ahead log.
 *
 * An open read transaction, the mark, protects what is not copied yet: SQLite neither checkpoints commits after its start nor
 * restarts the log, whatever process asks for it. A new mark is set before each copy, and the previous one is removed after it.
 *
 * So everything in the database file is in the folder, too, and a snapshot is a plain copy of the file that ignores checkpoints:
 * the copied log repeats every page that one of them changed meanwhile.
 */
export class LogCopy {
  readonly #parts: LogCopyParts
  readonly #clock: Clock
  readonly #log: number
  readonly #writer: Database
  #mark: Database
  #nextMark: Database
  #chain: Chain | undefined
  #running: Promise<void> | undefined

  constructor(parts: LogCopyParts) {
    const { databasePath, clock = Date.now } = parts
    this.#parts = parts
    this.#clock = clock
    this.#log = openSync(`${databasePath}-wal`, 'r')
    this.#writer = new Database(databasePath, { readwrite: true, create: false })
    this.#mark = new Database(databasePath, { readonly: true })
    this.#nextMark = new Database(databasePath, { readonly: true })
  }

  /** Copies every commit so far. Resolves to whether the folder has a snapshot that they follow. */
  async copy(): Promise<boolean> {
    if (this.#running !== undefined) throw new Error('the folder of the backup does not answer')
    this.#running = this.#copy().finally(() => {
      this.#running = undefined
    })
    if (!(await finishesWithin(FOLDER_TIMEOUT_MS, this.#running))) {
      throw new Error(`the folder of the backup has not answered for ${FOLDER_TIMEOUT_MS / SECOND} s`)
    }
    return this.#chain?.lastSnapshotAt !== undefined
  }

  /**
   * Lets a checkpoint copy the whole log into the database, so that SQLite restarts it. Must not be called during a copy. Other
   * processes cannot write meanwhile, and this process must not.
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
      if (chain === undefined || !this.#keepRest(chain)) return await checkpoint()
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
    for (const database of [this.#writer, this.#mark, this.#nextMark]) database.close()
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
    const { partialSnapshots, lastNumber } = parseNames(await folder.list())
    folder.lock()
    for (const name of partialSnapshots) await folder.remove(name)
    return {
      number: lastNumber + 2,
      header: undefined,
      copied: undefined,
      crc: 0,
      rest: undefined,
      snapshot: undefined,
      lastSnapshotAt: undefined,
    }
  }

  async #copyLogs(chain: Chain): Promise<void> {
    if (chain.rest !== undefined) {
      const { bytes, position } = chain.rest
      await this.#copyUpTo(chain, position, (start, end) => bytes.subarray(start, end))
      chain.rest = undefined
    }
    const header = this.#readHeader()
    if (header === undefined) return
    if (chain.header?.salts.equals(header.salts) !== true) await this.#followRestart(chain, header)
    this.#requireContinuation(chain, header)
    const start = chain.copied ?? startOfLog(header)
    const begin = chain.copied?.end ?? 0
    const last = lastOf(commitsAfter(start, header, this.#readLog))
    if (last === undefined) return
    // A power cut must not leave a commit in the folder that is not in the database.
    fdatasyncSync(this.#log)
    await this.#copyUpTo(chain, last, (from, to) => this.#read(begin + from, to - from))
  }

  /** `read` returns bytes after those that are copied. */
  async #copyUpTo(
    chain: Chain,
    position: LogPosition,
    read: (from: number, to: number) => Buffer,
  ): Promise<void> {
    const begin = chain.copied?.end ?? 0
    const length = position.end - begin
    let { crc } = chain
    for (let from = 0; from < length; from += CHUNK_BYTES) {
      const bytes = read(from, Math.min(from + CHUNK_BYTES, length))
      await this.#parts.folder.write(logName(chain.number), bytes, begin + from)
      if (chain !== this.#chain) throw new BackupGap('the log has become too long')
      crc = Bun.hash.crc32(bytes, crc)
    }
    chain.crc = crc
    chain.copied = position
  }

  /** SQLite has restarted the log. The mark guarantees that the whole previous log is copied. */
  async #followRestart(chain: Chain, header: LogHeader): Promise<void> {
    if (chain.header !== undefined) {
      if (header.restarts !== (chain.header.restarts + 1) >>> 0) {
        throw new BackupGap('the log was restarted before it was copied')
      }
      await this.#parts.folder.rename(logName(chain.number), logName(chain.number, chain.crc))
      chain.number++
    }
    chain.header = header
    chain.copied = undefined
    chain.crc = 0
  }

  /** Throws if a commit that was copied has been replaced, because it failed after it was written. */
  #requireContinuation({ copied }: Chain, { frameBytes }: LogHeader): void {
    if (copied === undefined) return
    const lastFrame = this.#read(copied.end - frameBytes, FRAME_HEADER_BYTES)
    if (!checksumOfFrame(lastFrame).equals(copied.checksum)) throw new BackupGap('the log has changed')
  }

  /** Reads what is not copied yet into memory. Returns false if it is too much. */
  #keepRest(chain: Chain): boolean {
    const { header, copied } = chain
    // Restarted a moment ago, or not copied at all.
    if (chain.rest !== undefined || header === undefined || copied === undefined) return false
    if (this.#readHeader()?.salts.equals(header.salts) !== true) return false
    this.#requireContinuation(chain, header)
    const position = lastOf(commitsAfter(copied, header, this.#readLog))
    if (position === undefined) return true
    if (position.end - copied.end > MAX_REST_BYTES) return false
    chain.rest = { bytes: this.#read(copied.end, position.end - copied.end), position }
    return true
  }

  async #copySnapshot(chain: Chain): Promise<void> {
    const { lastSnapshotAt = Number.NEGATIVE_INFINITY } = chain
    if (chain.snapshot === undefined && this.#clock() - lastSnapshotAt < SNAPSHOT_EVERY_MS) return
    chain.snapshot ??= { number: chain.number, position: 0, crc: 0, completedAt: undefined }
    try {
      const completedAt = await this.#continueSnapshot(chain.snapshot)
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
  async #continueSnapshot(snapshot: SnapshotCopy): Promise<number | undefined> {
    const { folder, databaseFile } = this.#parts
    const partial = partialSnapshotName(snapshot.number)
    const endsAt = performance.now() + SNAPSHOT_STEP_MS
    do {
      const bytes = readFrom(databaseFile, snapshot.position, CHUNK_BYTES)
      if (bytes.length === 0) {
        snapshot.completedAt ??= this.#clock()
        await folder.rename(partial, snapshotName(snapshot.number, snapshot.completedAt, snapshot.crc))
        return snapshot.completedAt
      }
      await folder.write(partial, bytes, snapshot.position)
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

  #readHeader(): LogHeader | undefined {
    const bytes = this.#read(0, LOG_HEADER_BYTES)
    if (bytes.length === 0) return undefined
    const header = parseLogHeader(bytes)
    if (header === undefined) throw new Error('the header of the write-ahead log cannot be read')
    return header
  }

  #read(position: number, length: number): Buffer {
    return readFrom(this.#log, position, length)
  }

  readonly #readLog = (position: number): Buffer => this.#read(position, CHUNK_BYTES)
}

function lastOf<T>(values: Iterable<T>): T | undefined {
  let last: T | undefined
  for (const value of values) last = value
  return last
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
