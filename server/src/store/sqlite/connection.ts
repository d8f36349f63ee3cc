import { Database, type SQLQueryBindings, type Statement as SqliteStatement } from 'bun:sqlite'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { ServiceError } from '../../core/values/errors.ts'
import type { Columns, Durability, LongSession, SqlDatabase, SqlValue, Statement } from '../sql.ts'
import { Checkpointer } from './checkpointer.ts'
import { DIALECT } from './dialect.ts'
import { asServiceError, isLocked, troubleText } from './failures.ts'
import { FlushQueue } from './flush-queue.ts'
import { type LogEnd, readLogEnd } from './log-end.ts'
import { createPrivateFile } from './private-file.ts'
import { BATCH, bound, nextBatch } from './row-batches.ts'
import { alignSideFiles } from './side-files.ts'
import { WalFile } from './wal-file.ts'
import { announcedSeconds } from './write-pause.ts'

/** How long a write waits for another process, such as an import, before it is refused. */
const LOCK_PATIENCE_MS = 5_000
const LOCK_RETRY_MS = 5

/**
 * How long the write-ahead log grows before a command's commit does a checkpoint. The service has a Checkpointer
 * instead.
 */
const CHECKPOINT_PAGES = 16_000
const CACHE_PAGES = 4_000
/** For a read that passes every page once. */
const PASSING_CACHE_PAGES = 1_000
/** A lock that nobody has met for so long is over, and the next one is another. */
const LOCK_FORGOTTEN_MS = 1_000

/** Bound at once. */
const ROWS_A_STATEMENT = 50

/** What the connection of the service has in addition. */
interface Serving {
  readonly queue: FlushQueue
  readonly checkpointer: Checkpointer
  readonly logEnd: () => LogEnd
  readonly totalChanges: () => number
}

/**
 * One SQLite file. bun:sqlite works synchronously, so nothing here may wait inside SQLite: a lock held by
 * another process is waited for between tries, and other requests go on meanwhile.
 *
 * The service calls `flushInBackground`: its commits are then written at once, flushed off the event loop, and visible
 * before they are flushed. Therefore each answer that a read gave is held back until every commit that the read may
 * have seen is flushed; `readLog` shows flushed commits only, and need not wait. Any other connection flushes its
 * commits before anybody sees them (`synchronous = FULL`), and flushes what the service has written before it shows
 * that to its caller.
 */
export class Connection implements SqlDatabase, LongSession {
  readonly dialect = DIALECT
  readonly database: Database
  readonly #path: string
  readonly #dataVersion
  readonly #begin
  readonly #commit
  readonly #rollback
  readonly #statements = new Map<string, SqliteStatement<unknown, SQLQueryBindings[]>>()
  #serving: Serving | undefined
  /** Where this one is a long session of the service: what the service has written and not yet flushed. */
  #queueOfService: FlushQueue | undefined
  #wal: WalFile | undefined
  #flushedDataVersion: bigint | undefined
  /** Resolves when commits of other processes can be shown without those of ours that are not flushed. */
  #othersShowable: Promise<void> | undefined
  #seenDataVersion: bigint | undefined
  #isChecked = false
  /** Nobody has read since the last commit. */
  #isAlone = true
  #version = 0
  /** Since when every write has met a lock, and when the last one did. */
  #lockedSince = 0
  #lockSeenAt = Number.NEGATIVE_INFINITY

  private constructor(database: Database, path: string) {
    this.database = database
    this.#path = path
    this.#dataVersion = database.query<{ data_version: bigint }, []>('PRAGMA data_version')
    this.#begin = database.query('BEGIN IMMEDIATE')
    this.#commit = database.query('COMMIT')
    this.#rollback = database.query('ROLLBACK')
  }

  static open(path: string, cachePages = CACHE_PAGES): Connection {
    const isNew = path !== ':memory:' && !existsSync(path)
    if (isNew) {
      mkdirSync(dirname(path), { recursive: true })
      createPrivateFile(path, { mustBeNew: false })
    } else if (path !== ':memory:') {
      alignSideFiles(path)
    }
    const database = new Database(path, { create: true, strict: true, safeIntegers: true })
    database.run(`PRAGMA busy_timeout = ${LOCK_PATIENCE_MS}`)
    // For a new file: an update touches one row in a page, and the page goes into the log whole. Smaller is quicker.
    database.run('PRAGMA page_size = 2048')
    database.run('PRAGMA journal_mode = WAL')
    database.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    database.run(`PRAGMA cache_size = ${cachePages}`)
    database.run('PRAGMA synchronous = FULL')
    database.run('PRAGMA foreign_keys = ON')
    return new Connection(database, path)
  }

  /** From here on a locked database is waited for outside SQLite. Called once the file is set up. */
  stopBlocking(): void {
    this.database.run('PRAGMA busy_timeout = 0')
  }

  /**
   * Lets commits of this connection be flushed off the event loop. The caller must be the only process that serves the
   * file. After a failed flush nothing can be read or written any more, and `onFailed` is called.
   */
  flushInBackground(onFailed: (error: Error) => void, checkpointAfterChanges?: number): void {
    this.#wal = WalFile.open(this.#path)
    if (this.#wal === undefined) return
    this.#flushLeftovers(this.#wal)
    this.database.run('PRAGMA synchronous = NORMAL')
    this.database.run('PRAGMA wal_autocheckpoint = 0')
    const queue = new FlushQueue({
      file: this.#wal,
      onFlushed: () => {
        this.#version++
      },
      onFailed: (error) => onFailed(new Error(troubleText(error, this.#path), { cause: error })),
    })
    const totalChanges = this.database.query<{ total: bigint }, []>('SELECT total_changes() AS total')
    this.#serving = {
      queue,
      checkpointer: new Checkpointer(this.#path, checkpointAfterChanges),
      logEnd: readLogEnd(this.database),
      totalChanges: () => Number(totalChanges.get()?.total ?? 0n),
    }
  }

  /** A process that was killed, or whose flush failed, has left commits that may not be on the disk. */
  #flushLeftovers(wal: WalFile): void {
    try {
      this.#begin.run()
    } catch {
      // Another process is writing, such as an import, whose commit flushes the whole file; or nobody may write to it.
      wal.flushNow()
      return
    }
    try {
      wal.rewrite()
    } finally {
      this.#rollback.run()
    }
  }

  /**
   * Another number after each `write`, and after each commit of another process. SQLite is asked (PRAGMA
   * data_version) once for each turn of the event loop: a request that was sent after somebody else's commit
   * is taken in by a later turn.
   */
  readonly version = (): number => {
    this.#isAlone = false
    if (!this.#isChecked) {
      this.#isChecked = true
      setImmediate(() => {
        this.#isChecked = false
      })
      this.#checkForOtherCommits()
    }
    return this.#version
  }

  #checkForOtherCommits(): void {
    try {
      const dataVersion = this.#dataVersion.get()?.data_version
      if (dataVersion === this.#seenDataVersion) return
      this.#version++
      this.#seenDataVersion = dataVersion
      this.#othersShowable = this.#serving?.queue.flushed()
    } catch {
      // A file in trouble cannot tell: whoever wants to know has to read, and learns of the trouble there.
      this.#version++
    }
  }

  /** A second connection to the same file: long work must not hold up this one. */
  async longSession(): Promise<Connection> {
    const session = Connection.open(this.#path, PASSING_CACHE_PAGES)
    session.stopBlocking()
    session.#queueOfService = this.#serving?.queue
    return session
  }

  async rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.read(() => this.#prepared(text).all(...values.map(bound)) as Row[])
  }

  /** Like `rows`, without waiting until what was read is flushed: for what nobody is shown. */
  rowsUnflushed<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.#readWhenUnlocked(() => this.#prepared(text).all(...values.map(bound)) as Row[])
  }

  run(text: string, ...values: readonly SqlValue[]): Promise<number> {
    return this.read(() => this.#prepared(text).run(...values.map(bound)).changes)
  }

  insert(table: string, columns: Columns, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const names = Object.keys(columns)
    const row = `(${names.map(() => '?').join()})`
    const statement = (count: number) =>
      this.#prepared(`INSERT INTO ${table} (${names}) VALUES ${Array(count).fill(row)}`)
    const work = this.database.transaction(() => {
      let from = 0
      for (; from + ROWS_A_STATEMENT <= rows.length; from += ROWS_A_STATEMENT) {
        statement(ROWS_A_STATEMENT).run(
          ...rows.slice(from, from + ROWS_A_STATEMENT).flatMap((values) => values.map(bound)),
        )
      }
      for (const values of rows.slice(from)) statement(1).run(...values.map(bound))
    })
    return this.read(work)
  }

  async beginRead(): Promise<void> {
    await this.run('BEGIN')
  }

  async *batches<Row>(text: string): AsyncGenerator<Row[]> {
    const rows = this.database.query<Row, []>(text).iterate()
    // All batches show the same moment, so that the first one waits for the flush and the others need not.
    let batch = await this.read(() => nextBatch(rows))
    for (;;) {
      if (batch.length > 0) yield batch
      if (batch.length < BATCH) return
      await new Promise((resume) => setImmediate(resume))
      batch = nextBatch(rows)
    }
  }

  /** SQLite reads temporary tables well as they are. */
  async analyze(): Promise<void> {}

  async commit(statements: readonly Statement[], durability: Durability = 'durable'): Promise<number[]> {
    const work = () =>
      statements.map(({ text, values }) => this.#prepared(text).run(...values.map(bound)).changes)
    return durability === 'durable' ? this.write(work) : this.writeUnsynced(work)
  }

  /** Kept here: bun:sqlite keeps no more than twenty. */
  #prepared(text: string): SqliteStatement<unknown, SQLQueryBindings[]> {
    let prepared = this.#statements.get(text)
    if (prepared === undefined) {
      prepared = this.database.prepare(text.replaceAll(/\$(\d+)/g, '?$1'))
      this.#statements.set(text, prepared)
    }
    return prepared
  }

  /** Gives what `work` has read once all of that is flushed. */
  async read<T>(work: () => T): Promise<T> {
    this.#isAlone = false
    const result = await this.#readWhenUnlocked(work)
    await this.untilFlushed()
    return result
  }

  /**
   * Runs `work`, which reads the log of changes up to `end` and nothing else: up to there all is flushed. Without an
   * `end` all of the log is.
   */
  async readLog<T>(work: (end: bigint | undefined) => T): Promise<T> {
    const serving = this.#serving
    if (serving === undefined) return this.read(() => work(undefined))
    serving.queue.requireUsable()
    this.#checkForOtherCommits()
    if (this.#othersShowable !== undefined) {
      await this.#othersShowable
      this.#othersShowable = undefined
    }
    return this.#readWhenUnlocked(() => work(serving.queue.logStart))
  }

  /**
   * Resolves when everything that can be read of the file at this moment is flushed. What a worker with a connection
   * of its own has read must wait for this before anybody is shown it.
   */
  async untilFlushed(): Promise<void> {
    const queue = this.#serving?.queue ?? this.#queueOfService
    if (queue !== undefined) await queue.flushed()
    else this.#flushOthersCommits()
  }

  /** Of the service, which makes them visible before they are flushed. */
  #flushOthersCommits(): void {
    if (this.#path === ':memory:') return
    const dataVersion = this.#dataVersion.get()?.data_version
    if (dataVersion === this.#flushedDataVersion) return
    this.#wal ??= WalFile.open(this.#path)
    this.#wal?.flushNow()
    this.#flushedDataVersion = dataVersion
  }

  /** Runs `work` in one transaction that is on disk when the promise resolves. */
  async write<T>(work: () => T): Promise<T> {
    const result = await this.#writeInTurn(work, 'durable')
    await this.#serving?.queue.flushed()
    return result
  }

  /**
   * Like `write`, for work that pauses. Whatever else this connection did meanwhile would be part of the
   * transaction: it must be the work's alone.
   */
  async writeInSteps<T>(work: () => Promise<T>): Promise<T> {
    await this.#writeWhenUnlocked(() => this.#begin.run())
    try {
      const result = await work()
      this.#commit.run()
      return result
    } catch (error) {
      this.#giveUp()
      throw asServiceError(error, this.#path)
    } finally {
      this.#version++
    }
  }

  /**
   * Like `write`, but without waiting for the disk: what it wrote survives the end of the process, not a
   * power cut. For counters that are written many times a second.
   */
  async writeUnsynced<T>(work: () => T): Promise<T> {
    if (this.#serving !== undefined) return this.#writeInTurn(work, 'forgettable')
    return this.#writeWhenUnlocked(() => {
      this.database.run('PRAGMA synchronous = NORMAL')
      try {
        return this.#inTransaction(work)
      } finally {
        this.database.run('PRAGMA synchronous = FULL')
      }
    })
  }

  async #writeInTurn<T>(work: () => T, durability: Durability): Promise<T> {
    const serving = this.#serving
    if (serving === undefined) {
      return this.#writeWhenUnlocked(() => {
        try {
          return this.#inTransaction(work)
        } finally {
          this.#version++
        }
      })
    }
    while (serving.checkpointer.pause !== undefined) await serving.checkpointer.pause
    return this.#writeWhenUnlocked(() => this.#commitUnflushed(serving, work, durability))
  }

  #commitUnflushed<T>(serving: Serving, work: () => T, durability: Durability): T {
    const { queue, checkpointer, logEnd, totalChanges } = serving
    queue.requireUsable()
    let logStart = 0n
    const before = totalChanges()
    try {
      const result = this.#inTransaction(() => {
        if (durability === 'durable') logStart = logEnd().position
        return work()
      })
      const changes = totalChanges() - before
      if (changes === 0) return result
      if (durability === 'durable') {
        queue.add(logStart, this.#isAlone)
        this.#isAlone = true
      }
      checkpointer.add(changes)
      return result
    } catch (error) {
      // A commit that failed may have been made for all that is known.
      this.#version++
      throw error
    }
  }

  /** With statements left, SQLite would keep the file open, and the write-ahead log beside it. */
  async close(): Promise<void> {
    if (this.#serving !== undefined) {
      await this.#serving.checkpointer.close()
      // After a failed flush the file stays as it is: closing would copy the log into the database.
      if (!(await isFlushed(this.#serving.queue))) return
    }
    for (const statement of this.#statements.values()) statement.finalize()
    this.database.close()
    this.#wal?.close()
  }

  /** Like `transaction` of bun:sqlite, which is made anew for each piece of work. */
  #inTransaction<T>(work: () => T): T {
    this.#begin.run()
    try {
      const result = work()
      this.#commit.run()
      return result
    } catch (error) {
      this.#giveUp()
      throw error
    }
  }

  /** Some failures, such as a full disk, have ended the transaction already. */
  #giveUp(): void {
    if (this.database.inTransaction) this.#rollback.run()
  }

  #readWhenUnlocked<T>(work: () => T): Promise<T> {
    const began = performance.now()
    return this.#whenUnlocked(work, () => began)
  }

  /** `lockedSince` is asked each time that it finds a lock. */
  async #whenUnlocked<T>(work: () => T, lockedSince: () => number): Promise<T> {
    for (;;) {
      try {
        return work()
      } catch (error) {
        if (!isLocked(error)) throw asServiceError(error, this.#path)
        if (performance.now() >= lockedSince() + LOCK_PATIENCE_MS) throw lockedError(error, this.#path)
        await Bun.sleep(LOCK_RETRY_MS)
      }
    }
  }

  /**
   * The patience with a lock is shared by all who meet it. Updates wait one batch behind the other, and with a
   * patience of its own for each batch the last would wait for all of them, until its connection is closed.
   */
  async #writeWhenUnlocked<T>(work: () => T): Promise<T> {
    const result = await this.#whenUnlocked(work, () => {
      const now = performance.now()
      if (now - this.#lockSeenAt > LOCK_FORGOTTEN_MS) this.#lockedSince = now
      this.#lockSeenAt = now
      return this.#lockedSince
    })
    this.#lockSeenAt = Number.NEGATIVE_INFINITY
    return result
  }
}

/** If an import holds the lock, the caller learns when it can write again. */
function lockedError(error: unknown, path: string): unknown {
  const seconds = announcedSeconds(path)
  const plain = asServiceError(error, path)
  if (seconds === undefined || !(plain instanceof ServiceError)) return plain
  return new ServiceError(
    'service_unavailable',
    `an import is being written, for about ${seconds} s more; only reads are answered until then`,
    { cause: plain.cause, retryAfterSeconds: seconds },
  )
}

async function isFlushed(queue: FlushQueue): Promise<boolean> {
  try {
    await queue.flushed()
    return true
  } catch {
    return false
  }
}
