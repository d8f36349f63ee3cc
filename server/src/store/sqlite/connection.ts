import { Database, type SQLQueryBindings, type Statement as SqliteStatement } from 'bun:sqlite'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Columns, Durability, LongSession, SqlDatabase, SqlValue, Statement } from '../sql.ts'
import { DIALECT } from './dialect.ts'
import { asServiceError, isLocked } from './failures.ts'
import { createPrivateFile } from './private-file.ts'
import { alignSideFiles } from './side-files.ts'

/** How long a write waits for another process, such as an import, before it is refused. */
const LOCK_PATIENCE_MS = 5_000
const LOCK_RETRY_MS = 5

/** How long the write-ahead log grows before a checkpoint: a page that changed many times is then copied once. */
const CHECKPOINT_PAGES = 16_000
const CACHE_PAGES = 4_000
/** For a read that passes every page once. */
const PASSING_CACHE_PAGES = 1_000
/** A lock that nobody has met for so long is over, and the next one is another. */
const LOCK_FORGOTTEN_MS = 1_000

/** Bound at once. */
const ROWS_A_STATEMENT = 50
/** Rows read before others get a turn. */
const BATCH = 5_000

/**
 * One SQLite file. bun:sqlite works synchronously, so nothing here may wait inside SQLite: a lock held by
 * another process is waited for between tries, and other requests go on meanwhile.
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
  #seenDataVersion: bigint | undefined
  #isChecked = false
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
   * Another number after each `write`, and after each commit of another process. SQLite is asked (PRAGMA
   * data_version) once for each turn of the event loop: a request that was sent after somebody else's commit
   * is taken in by a later turn.
   */
  readonly version = (): number => {
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
      if (dataVersion !== this.#seenDataVersion) this.#version++
      this.#seenDataVersion = dataVersion
    } catch {
      // A file in trouble cannot tell: whoever wants to know has to read, and learns of the trouble there.
      this.#version++
    }
  }

  /** A second connection to the same file: long work must not hold up this one. */
  async longSession(): Promise<Connection> {
    const session = Connection.open(this.#path, PASSING_CACHE_PAGES)
    session.stopBlocking()
    return session
  }

  async rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.read(() => this.#prepared(text).all(...values.map(bound)) as Row[])
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
    for (;;) {
      const batch = await this.read(() => nextBatch(rows))
      if (batch.length > 0) yield batch
      if (batch.length < BATCH) return
      await new Promise((resume) => setImmediate(resume))
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

  async read<T>(work: () => T): Promise<T> {
    const began = performance.now()
    return this.#whenUnlocked(work, () => began)
  }

  /** Runs `work` in one transaction that is on disk when the promise resolves. */
  async write<T>(work: () => T): Promise<T> {
    return this.#writeWhenUnlocked(() => {
      try {
        return this.#inTransaction(work)
      } finally {
        this.#version++
      }
    })
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
    return this.#writeWhenUnlocked(() => {
      this.database.run('PRAGMA synchronous = NORMAL')
      try {
        return this.#inTransaction(work)
      } finally {
        this.database.run('PRAGMA synchronous = FULL')
      }
    })
  }

  /** With statements left, SQLite would keep the file open, and the write-ahead log beside it. */
  async close(): Promise<void> {
    for (const statement of this.#statements.values()) statement.finalize()
    this.database.close()
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

  /** `lockedSince` is asked each time that it finds a lock. */
  async #whenUnlocked<T>(work: () => T, lockedSince: () => number): Promise<T> {
    for (;;) {
      try {
        return work()
      } catch (error) {
        if (!isLocked(error) || performance.now() >= lockedSince() + LOCK_PATIENCE_MS)
          throw asServiceError(error, this.#path)
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

function nextBatch<Row>(rows: Iterator<Row>): Row[] {
  const batch: Row[] = []
  while (batch.length < BATCH) {
    const { value, done } = rows.next()
    if (done === true) break
    batch.push(value)
  }
  return batch
}

export function bound(value: SqlValue): SQLQueryBindings {
  return typeof value === 'boolean' ? Number(value) : value
}
