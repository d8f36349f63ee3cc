import { Database, type SQLQueryBindings, type Statement } from 'bun:sqlite'
import { fromCursor, toCursor } from '../cursor.ts'
import { type ChangedPet, INDEXED_COLUMNS, MAX_CHANGED_PETS, type SearchSnapshot } from '../search.ts'
import type { SqlValue } from '../sql.ts'
import { asServiceError } from './failures.ts'
import { LOG_END, type LogEnd } from './log-end.ts'
import { BATCH, bound, nextBatch } from './row-batches.ts'

/** The worker may wait inside SQLite: nobody else runs on its thread. */
const LOCK_PATIENCE_MS = 5_000
const CACHE_PAGES = 4_000

const CHANGED_PETS = `
  SELECT changed.pet_id AS id, ${INDEXED_COLUMNS}
  FROM (SELECT DISTINCT pet_id FROM log WHERE id > $1 AND pet_id IS NOT NULL) AS changed
  LEFT JOIN stock ON stock.pet_id = changed.pet_id LEFT JOIN pets ON pets.id = changed.pet_id`

/** A connection that only reads, for a worker. The main thread has the file open, with its write-ahead log. */
export class ReadConnection {
  readonly #database: Database
  readonly #path: string
  readonly #statements = new Map<string, Statement<unknown, SQLQueryBindings[]>>()

  constructor(path: string) {
    this.#path = path
    this.#database = new Database(path, { readonly: true, strict: true, safeIntegers: true })
    this.#database.run(`PRAGMA busy_timeout = ${LOCK_PATIENCE_MS}`)
    this.#database.run(`PRAGMA cache_size = ${CACHE_PAGES}`)
  }

  async rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    // The statement decides what a row is.
    return this.#guarded(() => this.#prepared(text).all(...values.map(bound)) as Row[])
  }

  async *batches<Row>(text: string): AsyncGenerator<Row[]> {
    const rows = this.#database.query<Row, []>(text).iterate()
    for (;;) {
      const batch = this.#guarded(() => nextBatch(rows))
      if (batch.length > 0) yield batch
      if (batch.length < BATCH) return
      await new Promise((resume) => setImmediate(resume))
    }
  }

  async snapshot(): Promise<SearchSnapshot> {
    // A search that failed to roll back must not leave the next one in its state of the database.
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

  /** SQLite would keep the file open for statements that are left. */
  close(): void {
    for (const statement of this.#statements.values()) statement.finalize()
    this.#statements.clear()
    this.#database.close()
  }

  async #changedSince(end: LogEnd, cursor: string): Promise<ChangedPet[] | 'too_many'> {
    const seen = fromCursor(cursor)
    if (seen === undefined || seen.identity !== end.identity || seen.position < end.pruned) return 'too_many'
    if (end.position - seen.position > BigInt(MAX_CHANGED_PETS)) return 'too_many'
    const isReplaced = await this.rows(
      "SELECT 1 FROM log WHERE id > $1 AND kind = 'relist' LIMIT 1",
      seen.position,
    )
    return isReplaced.length > 0 ? 'too_many' : this.rows<ChangedPet>(CHANGED_PETS, seen.position)
  }

  #prepared(text: string): Statement<unknown, SQLQueryBindings[]> {
    let prepared = this.#statements.get(text)
    if (prepared === undefined) {
      prepared = this.#database.prepare(text.replaceAll(/\$(\d+)/g, '?$1'))
      this.#statements.set(text, prepared)
    }
    return prepared
  }

  #guarded<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw asServiceError(error, this.#path)
    }
  }
}
