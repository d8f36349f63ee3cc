import { Database, type SQLQueryBindings, type Statement as SqliteStatement } from 'bun:sqlite'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { LogCursor } from '../../core/stock/log-cursor.ts'
import { ServiceError } from '../../core/values/errors.ts'
import type { Columns, Durability, LongSession, SqlDatabase, SqlValue, Statement } from '../sql.ts'
import type { Reader } from '../workers.ts'
import { copyPermissionsToSideFiles, createPrivateFile, inodeOf, isLost } from './database-files.ts'
import { DIALECT, LAST_LOG_ID, toSqlite } from './dialect.ts'
import { isLocked, problemText, toServiceError } from './failures.ts'
import { freeSpaceCheck } from './free-space.ts'
import type { LogBackup } from './log-backup.ts'
import { Checkpointer, FlushQueue, type LogFile, MAX_LOG_BYTES, WalFile } from './write-ahead-log.ts'

/** How long a statement waits for the lock of another process, such as an import. */
export const LOCK_TIMEOUT_MS = 5_000
const LOCK_RETRY_MS = 5
/** Two writes that find the database locked within this time count as waiting for the same lock. */
const SAME_LOCK_MS = 1_000

const PAGE_BYTES = 2_048
export const CACHE_PAGES = 4_000
/** Long sessions read most pages only once, so a large cache would be wasted. */
const LONG_SESSION_CACHE_PAGES = 1_000

const ROWS_PER_INSERT = 50
/** The number of rows that are read before the event loop gets a turn. */
export const ROWS_PER_BATCH = 5_000

/** The last position of the log, and the position up to which it has been pruned. */
export interface LogEnd extends LogCursor {
  readonly pruned: bigint
}

/** A position is the id of a row. Ids are in the order of the commits, because there is one writer at a time. */
export const LOG_END = `SELECT identity, ${LAST_LOG_ID} AS position, pruned_up_to AS pruned FROM log_state`

/** The parts that only the connection of the service has. */
interface ServingParts {
  /** Identifies the file that was opened. */
  readonly inode: number | undefined
  /** Saves the contents of a file that is gone. Resolves to whether it succeeded. */
  readonly onFileLost: () => Promise<boolean>
  readonly queue: FlushQueue
  readonly checkpointer: Checkpointer
  readonly wal: LogFile
  readonly maxLogBytes: number
  readonly disk: Disk
  readonly requireFreeSpace: () => void
}

/** The disk below the file of the service, which tests replace. */
export interface Disk {
  openLog(databasePath: string): LogFile | undefined
  /** Throws if the next commit must fail. */
  beforeCommit?(): void
}

const WAL_DISK: Disk = { openLog: (databasePath) => WalFile.open(databasePath) }

interface WriteOptions<T> {
  /** `durable` by default. */
  readonly durability?: Durability | undefined
  /** Whether a commit with this result has changed something, so that it has to be flushed. By default, every commit has. */
  readonly isChange?: ((result: T) => boolean) | undefined
}

interface ServingOptions {
  readonly disk?: Disk | undefined
  readonly onFlushFailure: (error: Error) => void
  readonly onFileLost: ServingParts['onFileLost']
  /** A worker that can write to the database. */
  readonly checkpointWorker: Reader
  readonly maxLogBytes?: number | undefined
  readonly backup?: LogBackup | undefined
  readonly minFreeBytes?: number | undefined
}

/**
 * The connection of the main thread to a SQLite file. bun:sqlite is synchronous, so waiting for a lock inside SQLite would
 * block the event loop. Instead, a statement that finds the database locked is retried, and other requests run between the
 * attempts.
 *
 * The service calls `flushInBackground`. From then on its commits can be read before they are flushed. If other requests may be
 * active, a commit is flushed off the event loop, otherwise on it, which is faster. The result of a read is held back until
 * every commit that the read may have seen is flushed. `readLog` stops before the first unflushed commit instead of waiting. It
 * waits only if another process has committed after that commit.
 *
 * All other connections flush each durable commit before it returns (`synchronous = FULL`). They may read commits of the
 * service that are not flushed yet. A long session of the service waits for the flush queue before it returns a
 * result. A connection of another process flushes the write-ahead log itself before it returns a result.
 */
export class Connection implements SqlDatabase, LongSession {
  readonly dialect = DIALECT
  readonly database: Database
  readonly #path: string
  readonly #dataVersionQuery
  readonly #begin
  readonly #commit
  readonly #rollback
  readonly #statements
  #serving: ServingParts | undefined
  /** Set when the file is gone; resolves to whether its contents are saved. */
  #savedLostFile: Promise<boolean> | undefined
  /** The flush queue of the service, if this connection is one of its long sessions. */
  #serviceQueue: FlushQueue | undefined
  #wal: LogFile | undefined
  /** The value of PRAGMA data_version when this connection last made sure that all commits of the service were flushed. */
  #flushedDataVersion: bigint | undefined
  #lastDataVersion: bigint | undefined
  #wasDataVersionReadThisTurn = false
  /**
   * A read since the last commit is a sign that other requests are active, which a flush on the event loop would block. Without
   * such a read, the flush may run on the event loop, which is faster.
   */
  #hasReadSinceCommit = false
  #version = 0
  #erasures = 0
  /** How many of the erasures have left the write-ahead log. */
  #finishedErasures = 0
  /** The time at which the waiting writes first found the database locked. */
  #lockedSince = 0
  #lastLockedAt = Number.NEGATIVE_INFINITY

  private constructor(database: Database, path: string) {
    this.database = database
    this.#path = path
    this.#statements = new PreparedStatements(database)
    this.#dataVersionQuery = database.query<{ data_version: bigint }, []>('PRAGMA data_version')
    this.#begin = database.query('BEGIN IMMEDIATE')
    this.#commit = database.query('COMMIT')
    this.#rollback = database.query('ROLLBACK')
  }

  static open(path: string, cachePages = CACHE_PAGES): Connection {
    if (existsSync(path)) {
      copyPermissionsToSideFiles(path)
    } else {
      mkdirSync(dirname(path), { recursive: true })
      createPrivateFile(path, { mustBeNew: false })
    }
    const database = new Database(path, { create: true, strict: true, safeIntegers: true })
    database.run(`PRAGMA busy_timeout = ${LOCK_TIMEOUT_MS}`)
    // Takes effect only in a new file. An update of one row appends a whole page to the write-ahead log, so small pages are
    // faster.
    database.run(`PRAGMA page_size = ${PAGE_BYTES}`)
    database.run('PRAGMA journal_mode = WAL')
    // The service has a Checkpointer instead.
    database.run(`PRAGMA wal_autocheckpoint = ${MAX_LOG_BYTES / PAGE_BYTES}`)
    database.run(`PRAGMA cache_size = ${cachePages}`)
    database.run('PRAGMA synchronous = FULL')
    database.run('PRAGMA foreign_keys = ON')
    // Erased personal data must not stay in the free space of pages.
    database.run('PRAGMA secure_delete = ON')
    return new Connection(database, path)
  }

  /** Makes statements fail at once if the database is locked. Called after the tables are migrated. */
  disableLockWait(): void {
    this.database.run('PRAGMA busy_timeout = 0')
  }

  /**
   * From now on, a FlushQueue flushes the commits of this connection. The caller must be the only process that serves the
   * file. After a failed flush every read and write fails, and `onFlushFailure` is called. If the file is deleted or replaced,
   * writes fail, and `onFileLost` must save the contents, which can still be read.
   */
  flushInBackground(options: ServingOptions): void {
    const { onFlushFailure, onFileLost, checkpointWorker, disk = WAL_DISK } = options
    const { maxLogBytes = MAX_LOG_BYTES, minFreeBytes = 0, backup } = options
    this.#wal = disk.openLog(this.#path)
    if (this.#wal === undefined) return
    this.#flushCommitsOfEarlierRun(this.#wal)
    this.database.run('PRAGMA synchronous = NORMAL')
    this.database.run('PRAGMA wal_autocheckpoint = 0')
    this.#keepLog(maxLogBytes)
    const queue = new FlushQueue({
      file: this.#wal,
      onFlushed: () => {
        this.#version++
      },
      onFailed: (error) => onFlushFailure(new Error(problemText(error, this.#path), { cause: error })),
    })
    this.#serving = {
      inode: inodeOf(this.#path),
      onFileLost,
      queue,
      checkpointer: new Checkpointer(checkpointWorker, this.#wal, maxLogBytes, backup),
      wal: this.#wal,
      maxLogBytes,
      disk,
      requireFreeSpace: freeSpaceCheck(this.#path, minFreeBytes),
    }
  }

  /**
   * The last commits of the previous process may not be on disk. If a flush has failed, another flush may skip the lost pages,
   * so the log is rewritten.
   */
  #flushCommitsOfEarlierRun(wal: LogFile): void {
    try {
      this.#begin.run()
    } catch {
      // `rewrite` needs the write lock, which is not available: the file is read-only, or another process, such as an import, is
      // writing. A flush is the best that is left. The commit of the other process flushes the log, too.
      wal.flushNow()
      return
    }
    try {
      wal.rewrite()
    } finally {
      this.#rollback.run()
    }
    this.#emptyLog()
  }

  /**
   * Shortens the file after it has become much longer than usual. A checkpoint leaves the commits of its last moments; SQLite
   * overwrites them faster than it would append them again.
   */
  #keepLog(maxLogBytes: number): void {
    this.database.run(`PRAGMA journal_size_limit = ${2 * maxLogBytes}`)
  }

  /** Must be called after a commit that has erased personal data, which is still in earlier pages of the write-ahead log. */
  noteErasure(): void {
    this.#erasures++
  }

  /**
   * Removes the earlier pages after an erasure: copies the whole log into the database, and lets SQLite restart the log in an
   * empty file. Must be called again later, because a long read can keep SQLite from restarting it.
   */
  async finishErasures(): Promise<void> {
    const erasures = this.#erasures
    if (this.#serving === undefined || erasures === this.#finishedErasures) return
    const { checkpointer, wal, maxLogBytes } = this.#serving
    const salts = wal.salts()
    this.database.run('PRAGMA journal_size_limit = 0')
    try {
      await checkpointer.run()
      // SQLite restarts the log and shortens the file with the next commit.
      await this.write(() => this.rewritePage())
      if (wal.salts() !== salts) this.#finishedErasures = erasures
    } finally {
      this.#keepLog(maxLogBytes)
    }
  }

  /** Writes a page of the database as it is. An UPDATE that keeps all values would write none. */
  rewritePage(): void {
    // A newer program may have migrated the file in the meantime, so the version is read each time.
    const row = this.#statements.get('PRAGMA user_version').get() as { readonly user_version: bigint } | null
    this.database.run(`PRAGMA user_version = ${row?.user_version ?? 0n}`)
  }

  /** Copies the log into the database. Processes that are killed would otherwise leave a longer log each time. */
  #emptyLog(): void {
    this.disableLockWait()
    try {
      this.database.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // The disk may be full. The log stays, and a later checkpoint copies it.
    }
  }

  /**
   * Changes with each `write` and with each commit of another process. PRAGMA data_version is read at most once per turn of
   * the event loop. This is enough: a request that was sent after a commit of another process arrives in a later turn.
   */
  readonly version = (): number => {
    this.#hasReadSinceCommit = true
    if (!this.#wasDataVersionReadThisTurn) {
      this.#wasDataVersionReadThisTurn = true
      setImmediate(() => {
        this.#wasDataVersionReadThisTurn = false
      })
      try {
        const dataVersion = this.#dataVersion()
        if (dataVersion !== this.#lastDataVersion) this.#version++
        this.#lastDataVersion = dataVersion
      } catch {
        // The new version makes the caller read the file, and that read reports the problem.
        this.#version++
      }
    }
    return this.#version
  }

  /** Must be called inside a transaction if its caller reads the log, too. */
  logEnd(): LogEnd {
    const end = this.#statements.get(LOG_END).get() as LogEnd | null
    if (end === null) throw new Error('the database has no identity: log_state is empty')
    return end
  }

  /** Changes with each commit of another connection. */
  #dataVersion(): bigint | undefined {
    return this.#dataVersionQuery.get()?.data_version
  }

  /**
   * Throws if the file of the service was deleted or replaced. A commit would be on the disk, but only until the process ends.
   * So the contents are saved at once.
   */
  requireFile(): void {
    if (this.#serving === undefined || !this.#isFileLost(this.#serving)) return
    this.#savedLostFile ??= this.#saveLostFile(this.#serving)
    throw new ServiceError(
      'service_unavailable',
      'the database file was deleted or replaced, so nothing can be changed; the log of the service names the file to which everything was saved',
      { cause: new Error(`${this.#path} was deleted or replaced while the service was running`) },
    )
  }

  #isFileLost({ inode }: ServingParts): boolean {
    return this.#savedLostFile !== undefined || isLost(this.#path, inode)
  }

  /** Opens a second connection to the same file, so that long work does not block this connection. */
  async openLongSession(): Promise<Connection> {
    this.requireFile()
    const session = Connection.open(this.#path, LONG_SESSION_CACHE_PAGES)
    session.disableLockWait()
    session.#serviceQueue = this.#serving?.queue
    return session
  }

  async rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.read(() => this.#statements.get(text).all(...values) as Row[])
  }

  /** Like `rows`, but may return commits that are not flushed yet. The result must not be shown to clients. */
  rowsUnflushed<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.#readWhenUnlocked(() => this.#statements.get(text).all(...values) as Row[])
  }

  /** Waits like `read` until all earlier commits are flushed, because the number of changed rows may depend on them. */
  run(text: string, ...values: readonly SqlValue[]): Promise<number> {
    return this.read(() => this.#statements.get(text).run(...values).changes)
  }

  insert(table: string, columns: Columns, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const names = Object.keys(columns)
    const placeholders = `(${names.map(() => '?').join()})`
    const insertRows = (batch: readonly (readonly SqlValue[])[]) => {
      const text = `INSERT INTO ${table} (${names}) VALUES ${batch.map(() => placeholders)}`
      this.#statements.get(text).run(...batch.flat())
    }
    const insertAll = this.database.transaction(() => {
      let next = 0
      for (; next + ROWS_PER_INSERT <= rows.length; next += ROWS_PER_INSERT) {
        insertRows(rows.slice(next, next + ROWS_PER_INSERT))
      }
      // The remaining rows are inserted one by one, so that there are only two prepared statements.
      for (const row of rows.slice(next)) insertRows([row])
    })
    // Not `write`: callers insert into temporary tables, or inside `writeInTransaction`, which flushes.
    return this.read(insertAll)
  }

  async beginRead(): Promise<void> {
    await this.run('BEGIN')
  }

  async *batches<Row>(text: string): AsyncGenerator<Row[]> {
    const rows = this.database.query<Row, []>(text).iterate()
    // All batches are read from one snapshot, so only the first one waits for the flush.
    let batch = await this.read(() => nextBatch(rows))
    for (;;) {
      if (batch.length > 0) yield batch
      if (batch.length < ROWS_PER_BATCH) return
      await new Promise((resume) => setImmediate(resume))
      batch = nextBatch(rows)
    }
  }

  async commit(statements: readonly Statement[], durability?: Durability): Promise<number[]> {
    const work = () => statements.map(({ text, values }) => this.#statements.get(text).run(...values).changes)
    const isChange = (changes: readonly number[]) => changes.some((count) => count > 0)
    return this.write(work, { durability, isChange })
  }

  /** Returns the result of `work` when every commit that it may have read is flushed. */
  async read<T>(work: () => T): Promise<T> {
    this.#hasReadSinceCommit = true
    const result = await this.#readWhenUnlocked(work)
    await this.untilFlushed()
    return result
  }

  /** `work` reads one snapshot, but only log rows up to `end`: later rows may not be flushed yet. */
  async readLog<T>(work: (end: LogEnd) => T): Promise<T> {
    const queue = this.#serving?.queue
    const readFlushed = this.database.transaction(() => {
      const end = this.logEnd()
      return work({ ...end, position: queue?.flushedUpTo ?? end.position })
    })
    if (queue === undefined) return this.read(readFlushed)
    queue.requireUsable()
    const dataVersion = await this.#readWhenUnlocked(() => this.#dataVersion())
    if (dataVersion !== this.#flushedDataVersion) {
      // Another process has committed. Its commit must be read, but may follow commits of this process.
      await queue.untilFlushed()
      this.#flushedDataVersion = dataVersion
    }
    return this.#readWhenUnlocked(readFlushed)
  }

  /** Resolves when every commit that is visible now is flushed. */
  async untilFlushed(): Promise<void> {
    const queue = this.#serving?.queue ?? this.#serviceQueue
    if (queue !== undefined) await queue.untilFlushed()
    else this.#flushCommitsOfService()
  }

  /** For connections outside the service, which can see its commits before they are flushed. */
  #flushCommitsOfService(): void {
    const dataVersion = this.#dataVersion()
    if (dataVersion === this.#flushedDataVersion) return
    this.#wal ??= WalFile.open(this.#path)
    this.#wal?.flushNow()
    this.#flushedDataVersion = dataVersion
  }

  /**
   * Runs `work` in one transaction. If it is durable, it is on disk when the promise resolves. `work` gets the end of the log
   * before the commit.
   */
  async write<T>(work: (logEnd: LogEnd) => T, options: WriteOptions<T> = {}): Promise<T> {
    const { durability = 'durable' } = options
    const serving = this.#serving
    if (serving === undefined) {
      return this.#writeWhenUnlocked(() => {
        try {
          return this.#inTransaction(() => work(this.logEnd()))
        } finally {
          this.#version++
        }
      })
    }
    while (serving.checkpointer.pause !== undefined) await serving.checkpointer.pause
    const result = await this.#writeWhenUnlocked(() => this.#commitInService(serving, work, options))
    if (durability === 'durable') await serving.queue.untilFlushed()
    return result
  }

  /** Like `write`, for asynchronous work. Nothing else may use this connection meanwhile, or it would join the transaction. */
  async writeInTransaction<T>(work: () => Promise<T>): Promise<T> {
    await this.#writeWhenUnlocked(() => this.#begin.run())
    try {
      const result = await work()
      this.#commit.run()
      return result
    } catch (error) {
      this.#rollBackIfOpen()
      throw toServiceError(error, this.#path)
    } finally {
      this.#version++
    }
  }

  /**
   * Flushes the pages that the current transaction has already written, off the event loop, so that its commit is short. Outside the
   * service, nothing waits for the event loop.
   */
  async flushWritten(): Promise<void> {
    if (this.#serviceQueue === undefined) return
    this.#wal ??= WalFile.open(this.#path)
    await this.#wal?.flush()
  }

  /** Shortens the write-ahead log after a large commit. In the service, its Checkpointer does so. */
  async shrinkLog(): Promise<void> {
    if (this.#serviceQueue !== undefined) return
    try {
      await this.run('PRAGMA wal_checkpoint(PASSIVE)')
      await this.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // The commit is already on disk. Later commits reuse the space of the write-ahead log.
    }
  }

  #commitInService<T>(
    serving: ServingParts,
    work: (logEnd: LogEnd) => T,
    { durability = 'durable', isChange = () => true }: WriteOptions<T>,
  ): T {
    const { queue, checkpointer, disk, requireFreeSpace } = serving
    queue.requireUsable()
    this.requireFile()
    // The counts of limits and deliveries replace earlier rows, and reads need them.
    if (durability === 'durable') requireFreeSpace()
    try {
      const { result, logEnd } = this.#inTransaction(() => {
        const end = this.logEnd()
        const decided = work(end)
        disk.beforeCommit?.()
        return { result: decided, logEnd: end }
      })
      if (!isChange(result)) return result
      if (durability === 'durable') {
        const mayBlockEventLoop = !this.#hasReadSinceCommit
        queue.add(logEnd.position, mayBlockEventLoop)
        this.#hasReadSinceCommit = false
      }
      checkpointer.startIfLong()
      return result
    } catch (error) {
      // A commit that reports an error may still have taken effect.
      this.#version++
      throw error
    }
  }

  async close(): Promise<void> {
    if (this.#serving !== undefined) {
      await this.#serving.checkpointer.close()
      try {
        await this.#serving.queue.untilFlushed()
      } catch {
        // After a failed flush, the file must not change. Closing the database would copy the write-ahead log into it.
        return
      }
      if (this.#isFileLost(this.#serving)) {
        // The database stays open, because SQLite would remove the write-ahead log of the other database.
        if (!(await this.#savedLostFile)) await this.#saveLostFile(this.#serving)
        return
      }
    }
    this.#statements.finalize()
    this.database.close()
    this.#wal?.close()
  }

  /** Also removes the write-ahead log, which would damage another database with the name of the lost one. */
  async #saveLostFile({ onFileLost }: ServingParts): Promise<boolean> {
    const isSaved = await onFileLost()
    if (isSaved && this.#wal?.isAt(`${this.#path}-wal`)) {
      for (const suffix of ['-wal', '-shm']) rmSync(this.#path + suffix, { force: true })
    }
    return isSaved
  }

  /** Replaces bun:sqlite's `transaction`, which would create a new function for each call. */
  #inTransaction<T>(work: () => T): T {
    this.#begin.run()
    try {
      const result = work()
      this.#commit.run()
      return result
    } catch (error) {
      this.#rollBackIfOpen()
      throw error
    }
  }

  /** After some failures, such as a full disk, SQLite has already rolled back. */
  #rollBackIfOpen(): void {
    if (this.database.inTransaction) this.#rollback.run()
  }

  #readWhenUnlocked<T>(work: () => T): Promise<T> {
    const startedAt = performance.now()
    return this.#whenUnlocked(work, () => startedAt)
  }

  /**
   * Retries `work` while the database is locked. After each failed attempt, `timeoutStart` returns the start time of the timeout.
   */
  async #whenUnlocked<T>(work: () => T, timeoutStart: () => number): Promise<T> {
    for (;;) {
      try {
        return work()
      } catch (error) {
        if (!isLocked(error)) throw toServiceError(error, this.#path)
        if (performance.now() >= timeoutStart() + LOCK_TIMEOUT_MS) throw toServiceError(error, this.#path)
        await Bun.sleep(LOCK_RETRY_MS)
      }
    }
  }

  /**
   * All writes that wait for the same lock share one timeout. Batches of updates run one after the other, so with a timeout
   * for each, the last batch would wait for the sum of all.
   */
  async #writeWhenUnlocked<T>(work: () => T): Promise<T> {
    const result = await this.#whenUnlocked(work, () => {
      const now = performance.now()
      if (now - this.#lastLockedAt > SAME_LOCK_MS) this.#lockedSince = now
      this.#lastLockedAt = now
      return this.#lockedSince
    })
    this.#lastLockedAt = Number.NEGATIVE_INFINITY
    return result
  }
}

/** Caches all prepared statements. bun:sqlite caches at most twenty. */
export class PreparedStatements {
  readonly #database: Database
  readonly #byText = new Map<string, SqliteStatement<unknown, SQLQueryBindings[]>>()

  constructor(database: Database) {
    this.#database = database
  }

  get(text: string): SqliteStatement<unknown, SQLQueryBindings[]> {
    let statement = this.#byText.get(text)
    if (statement === undefined) {
      statement = this.#database.prepare(toSqlite(text))
      this.#byText.set(text, statement)
    }
    return statement
  }

  /** SQLite keeps the file open until all statements are finalized. */
  finalize(): void {
    for (const statement of this.#byText.values()) statement.finalize()
    this.#byText.clear()
  }
}

export function nextBatch<Row>(rows: Iterator<Row>): Row[] {
  const batch: Row[] = []
  while (batch.length < ROWS_PER_BATCH) {
    const { value, done } = rows.next()
    if (done === true) break
    batch.push(value)
  }
  return batch
}
