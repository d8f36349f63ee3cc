import { Database, SQLiteError } from 'bun:sqlite'
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { ServiceError } from '../../core/errors.ts'

/** How long a write waits for another process, such as an import, before it is refused. */
const LOCK_PATIENCE_MS = 5_000
const LOCK_RETRY_MS = 5

/** Errors that say our own SQL or data is wrong: bugs, not a database in trouble. */
const OUR_FAULT = /^SQLITE_(CONSTRAINT|MISUSE|RANGE|MISMATCH)/

/**
 * One SQLite file. bun:sqlite works synchronously, so nothing here may wait inside SQLite: a lock held by
 * another process is waited for between tries, and other requests go on meanwhile.
 */
export class Connection {
  readonly database: Database
  readonly #path: string
  readonly #dataVersion
  #seenDataVersion: bigint | undefined
  #isChecked = false
  #version = 0

  private constructor(database: Database, path: string) {
    this.database = database
    this.#path = path
    this.#dataVersion = database.query<{ data_version: bigint }, []>('PRAGMA data_version')
  }

  static open(path: string): Connection {
    const isNew = path !== ':memory:' && !existsSync(path)
    if (isNew) mkdirSync(dirname(path), { recursive: true })
    const database = new Database(path, { create: true, strict: true, safeIntegers: true })
    // It holds key hashes and a shop's figures: nobody but the owner reads it. SQLite gives the -wal and
    // -shm files beside it the same rights.
    if (isNew) chmodSync(path, 0o600)
    database.run(`PRAGMA busy_timeout = ${LOCK_PATIENCE_MS}`)
    // For a new file: an update touches one row in a page, and the page goes into the log whole. Half of SQLite's
    // default took a fifth off the time of an update in a trial.
    database.run('PRAGMA page_size = 2048')
    database.run('PRAGMA journal_mode = WAL')
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
   * data_version, 2 µs) once for each turn of the event loop: a request that was sent after somebody else's commit
   * is taken in by a later turn.
   */
  version(): number {
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

  /** A second connection to the same file, for a long read that must not hold up this one. */
  another(): Connection {
    return Connection.open(this.#path)
  }

  async read<T>(work: () => T): Promise<T> {
    return this.#whenUnlocked(work)
  }

  /** Runs `work` in one transaction that is on disk when the promise resolves. */
  async write<T>(work: () => T): Promise<T> {
    const transaction = this.database.transaction(work)
    return this.#whenUnlocked(() => {
      try {
        return transaction.immediate()
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
    await this.#whenUnlocked(() => this.database.run('BEGIN IMMEDIATE'))
    try {
      const result = await work()
      this.database.run('COMMIT')
      return result
    } catch (error) {
      if (this.database.inTransaction) this.database.run('ROLLBACK')
      throw asServiceError(error)
    } finally {
      this.#version++
    }
  }

  /**
   * Like `write`, but without waiting for the disk: what it wrote survives the end of the process, not a
   * power cut. For counters that are written many times a second.
   */
  async writeUnsynced<T>(work: () => T): Promise<T> {
    const transaction = this.database.transaction(work)
    return this.#whenUnlocked(() => {
      this.database.run('PRAGMA synchronous = NORMAL')
      try {
        return transaction.immediate()
      } finally {
        this.database.run('PRAGMA synchronous = FULL')
      }
    })
  }

  close(): void {
    this.database.close()
  }

  async #whenUnlocked<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + LOCK_PATIENCE_MS
    for (;;) {
      try {
        return work()
      } catch (error) {
        if (!isLocked(error) || performance.now() >= deadline) throw asServiceError(error)
        await Bun.sleep(LOCK_RETRY_MS)
      }
    }
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code ?? '').startsWith('SQLITE_BUSY')
}

function asServiceError(error: unknown): unknown {
  if (!isDatabaseTrouble(error)) return error
  return new ServiceError(
    'service_unavailable',
    'the database cannot answer at the moment; try again shortly',
    {
      cause: error,
    },
  )
}

function isDatabaseTrouble(error: unknown): boolean {
  if (error instanceof SQLiteError) return !OUR_FAULT.test(error.code ?? '')
  return error instanceof Error && /closed database|Database has closed/.test(error.message)
}
