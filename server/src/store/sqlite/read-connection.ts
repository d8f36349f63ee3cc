import { Database } from 'bun:sqlite'
import { fromCursor, toCursor } from '../../core/stock/log-cursor.ts'
import {
  INDEXED_COLUMNS,
  type IndexedPetRow,
  MAX_CHANGED_PETS,
  PetSearch,
  type SearchSnapshot,
} from '../search.ts'
import type { SqlValue } from '../sql.ts'
import { answerRequests, type ReaderParts, type ReaderPort } from '../workers.ts'
import { openBackupFolder } from './backup-folder.ts'
import {
  CACHE_PAGES,
  LOCK_TIMEOUT_MS,
  LOG_END,
  type LogEnd,
  nextBatch,
  PreparedStatements,
  ROWS_PER_BATCH,
} from './connection.ts'
import { DIALECT } from './dialect.ts'
import { toServiceError } from './failures.ts'
import { LogCopy } from './log-copy.ts'
import { CHECKPOINT } from './write-ahead-log.ts'

const CHANGED_PETS = `
  SELECT changed.pet_id AS id, ${INDEXED_COLUMNS}
  FROM (SELECT DISTINCT pet_id FROM log WHERE id > $1 AND pet_id IS NOT NULL) AS changed
  LEFT JOIN stock ON stock.pet_id = changed.pet_id LEFT JOIN pets ON pets.id = changed.pet_id`

export interface SqliteReaderData {
  readonly path: string
  /** Lets statements copy the write-ahead log into the database. */
  readonly copiesLog?: boolean
  /** Where the log is copied to, and an open descriptor of the database. */
  readonly backup?: { readonly folder: string; readonly databaseFile: number } | undefined
  /** See `OpenOptions.readerStartSignal`. */
  readonly startSignal?: Int32Array<SharedArrayBuffer> | undefined
}

/** Runs in the reader worker. A test passes the port of a simulated worker. */
export function answerReads({ path, copiesLog = false, backup }: SqliteReaderData, port?: ReaderPort): void {
  const searchConnection = new ReadConnection(path)
  const statementConnection = new ReadConnection(path, { copiesLog })
  const logCopy =
    backup && new LogCopy({ ...backup, databasePath: path, folder: openBackupFolder(backup.folder) })
  const reads = {
    search: new PetSearch({
      dialect: DIALECT,
      clock: { nowSql: (processTime) => processTime },
      snapshot: () => searchConnection.snapshot(),
    }),
    rows: ({ text, values }) => statementConnection.rows(text, ...values),
    log: async (step) => {
      switch (step) {
        case 'copy':
          return logCopy?.copy()
        case 'restart':
          return logCopy?.restartLog(() => statementConnection.rows(CHECKPOINT))
        case 'discard':
          return logCopy?.discard()
      }
    },
    close: async () => {
      logCopy?.close()
      searchConnection.close()
      statementConnection.close()
    },
  } satisfies ReaderParts
  answerRequests(reads, port)
}

/**
 * A connection for a worker thread. It needs the write-ahead log, which the main thread keeps open. It is read-only unless it
 * copies that log into the database.
 */
export class ReadConnection {
  readonly #database: Database
  readonly #path: string
  readonly #statements

  constructor(path: string, { copiesLog = false } = {}) {
    this.#path = path
    const access = copiesLog ? { readwrite: true, create: false } : { readonly: true }
    this.#database = new Database(path, { ...access, strict: true, safeIntegers: true })
    this.#statements = new PreparedStatements(this.#database)
    // The worker may wait inside SQLite, because this blocks only its own thread.
    this.#database.run(`PRAGMA busy_timeout = ${LOCK_TIMEOUT_MS}`)
    this.#database.run(`PRAGMA cache_size = ${CACHE_PAGES}`)
    // With FULL, a checkpoint flushes both the log and the database.
    this.#database.run('PRAGMA synchronous = FULL')
  }

  async rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    // The caller names the type of the rows that its statement selects.
    return this.#withServiceErrors(() => this.#statements.get(text).all(...values) as Row[])
  }

  async *batches<Row>(text: string): AsyncGenerator<Row[]> {
    const rows = this.#database.query<Row, []>(text).iterate()
    for (;;) {
      const batch = this.#withServiceErrors(() => nextBatch(rows))
      if (batch.length > 0) yield batch
      if (batch.length < ROWS_PER_BATCH) return
      await new Promise((resume) => setImmediate(resume))
    }
  }

  async snapshot(): Promise<SearchSnapshot> {
    // If the last search failed to roll back, its snapshot is still open.
    if (this.#database.inTransaction) await this.rows('ROLLBACK')
    await this.rows('BEGIN')
    const [end] = await this.rows<LogEnd>(LOG_END)
    if (end === undefined) throw new Error('the database has no identity: log_state is empty')
    return {
      rows: (text, ...values) => this.rows(text, ...values),
      batches: (text) => this.batches(text),
      cursor: async () => toCursor(end),
      changedSince: (cursor) => this.#changedSince(end, cursor),
      close: async () => void (await this.rows('ROLLBACK')),
    }
  }

  close(): void {
    this.#statements.finalize()
    this.#database.close()
  }

  async #changedSince(end: LogEnd, cursor: string): Promise<IndexedPetRow[] | 'reload'> {
    const start = fromCursor(cursor)
    if (start === undefined || start.identity !== end.identity || start.position < end.pruned) return 'reload'
    if (end.position - start.position > BigInt(MAX_CHANGED_PETS)) return 'reload'
    const relists = await this.rows(
      "SELECT 1 FROM log WHERE id > $1 AND kind = 'relist' LIMIT 1",
      start.position,
    )
    return relists.length > 0 ? 'reload' : this.rows<IndexedPetRow>(CHANGED_PETS, start.position)
  }

  #withServiceErrors<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw toServiceError(error, this.#path)
    }
  }
}
