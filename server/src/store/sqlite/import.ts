import type { Database, SQLQueryBindings } from 'bun:sqlite'
import type {
  ApplyOptions,
  DuplicateRow,
  ImportCounts,
  ImportPreview,
  StagedImport,
  StagedRow,
  Tally,
} from '../../core/transfer/staged-import.ts'
import type { Connection } from './connection.ts'
import { type DifferingRow, type ImportPlan, MAX_LOGGED } from './import-plan.ts'
import { readLogEnd } from './log.ts'

/** Bound at once: a statement for each row takes twice as long. */
const ROWS_A_STATEMENT = 50
/** Some 40 ms of work, then others get a turn and a signal is heard. */
const ROWS_A_STEP = 20_000
const LOWEST_ID = -(2n ** 63n)

/**
 * Rows go into temporary tables on a connection of their own, so that nothing is locked while a file is read, and
 * little is in memory. Once sorted by id they are compared with the store, still without a lock. What differs is
 * written in one transaction, which first compares again what others have changed since.
 */
export class SqliteStagedImport<Value> implements StagedImport<Value> {
  readonly #connection: Connection
  readonly #database: Database
  readonly #plan: ImportPlan<Value>
  readonly #addMany
  readonly #addOne
  readonly #logEnd
  #rows = 0

  constructor(main: Connection, plan: ImportPlan<Value>) {
    this.#connection = main.another()
    this.#connection.stopBlocking()
    this.#database = this.#connection.database
    this.#plan = plan
    this.#logEnd = readLogEnd(this.#database)
    createTables(this.#database, plan.columns)
    const places = `(${['line', 'id', ...plan.columns].map(() => '?').join()})`
    const insert = (rows: number) =>
      this.#database.query<unknown, SQLQueryBindings[]>(
        `INSERT INTO staged VALUES ${Array(rows).fill(places).join()}`,
      )
    this.#addMany = insert(ROWS_A_STATEMENT)
    this.#addOne = insert(1)
  }

  add(rows: readonly StagedRow<Value>[]): Promise<void> {
    const bind = ({ line, value }: StagedRow<Value>) => [line, ...this.#plan.bind(value)]
    const work = this.#database.transaction(() => {
      let at = 0
      for (; at + ROWS_A_STATEMENT <= rows.length; at += ROWS_A_STATEMENT) {
        this.#addMany.run(...rows.slice(at, at + ROWS_A_STATEMENT).flatMap(bind))
      }
      for (const row of rows.slice(at)) this.#addOne.run(...bind(row))
    })
    this.#rows += rows.length
    return this.#connection.read(work)
  }

  /** Sorting once costs far less than keeping a million rows in order while they arrive in none. */
  seal(examples: number): Promise<Tally<DuplicateRow>> {
    return this.#connection.read(() => {
      const columns = ['id', 'line', ...this.#plan.columns].join()
      const { changes } = this.#database.run(
        `INSERT OR IGNORE INTO sorted SELECT ${columns} FROM staged ORDER BY id, line`,
      )
      const count = this.#rows - Number(changes)
      const first = count === 0 ? [] : this.#duplicates(examples)
      this.#rows -= count
      this.#database.run('DROP TABLE staged')
      return { count, first }
    })
  }

  #duplicates(limit: number): DuplicateRow[] {
    return this.#database
      .query<{ line: bigint; first_line: bigint; id: bigint }, [number]>(`
        SELECT staged.line, sorted.line AS first_line, id FROM staged JOIN sorted USING (id)
        WHERE staged.line <> sorted.line ORDER BY staged.line LIMIT ?
      `)
      .all(limit)
      .map(({ line, first_line, id }) => ({ line: Number(line), firstLine: Number(first_line), id }))
  }

  async preview(examples: number): Promise<ImportPreview<Value>> {
    await this.#compareAll()
    return this.#connection.read(() => {
      const first = (isNew: 0 | 1) =>
        this.#database
          .query<DifferingRow, [number, number]>(
            'SELECT * FROM differing WHERE is_new = ? ORDER BY line LIMIT ?',
          )
          .all(isNew, examples)
      const toRow = (row: DifferingRow) => ({ line: Number(row.line), value: this.#plan.toValue(row, '') })
      const added = this.#countDiffering('is_new')
      const changed = this.#countDiffering('NOT is_new')
      return {
        added: { count: added, first: first(1).map(toRow) },
        changed: {
          count: changed,
          first: first(0).map((row) => ({ ...toRow(row), before: this.#plan.toValue(row, 'old_') })),
        },
        unchanged: this.#rows - added - changed,
      }
    })
  }

  async apply(options: ApplyOptions): Promise<ImportCounts> {
    const logged = await this.#compareAll()
    options.signal?.throwIfAborted()
    const counts = await this.#connection.writeInSteps(async () => {
      this.#compareChanged(logged)
      const written = await this.#write(options)
      this.#recordEntries(options)
      return written
    })
    this.#shrinkLog()
    return counts
  }

  async discard(): Promise<void> {
    this.#connection.close()
  }

  /** Compares every row as of one moment, and tells where the log stood then. */
  #compareAll(): Promise<bigint> {
    return this.#connection.read(
      this.#database.transaction(() => {
        this.#database.run('DELETE FROM differing')
        this.#database.run(this.#plan.compare('true'))
        return this.#logEnd().position
      }),
    )
  }

  /** Under the lock: compares again what was changed after this row of the log, and everything where no log can tell. */
  #compareChanged(logged: bigint): void {
    const { log, compare } = this.#plan
    if (log !== undefined && logged >= this.#logEnd().prunedUpTo) {
      this.#database.run('DELETE FROM touched')
      this.#database.run(log.touched, [logged])
      if (this.#database.query('SELECT 1 FROM touched WHERE id IS NULL').get() === null) {
        this.#database.run('DELETE FROM differing WHERE id IN (SELECT id FROM touched)')
        this.#database.run(compare('sorted.id IN (SELECT id FROM touched)'))
        return
      }
    }
    this.#database.run('DELETE FROM differing')
    this.#database.run(compare('true'))
  }

  async #write({ at, keyId, signal, onProgress }: ApplyOptions): Promise<ImportCounts> {
    const added = this.#countDiffering('is_new')
    const total = this.#countDiffering('true')
    const step = this.#database.query<{ last: bigint | null; rows: bigint }, [bigint, number]>(`
      SELECT max(id) AS last, count(*) AS rows FROM (SELECT id FROM differing WHERE id >= ? ORDER BY id LIMIT ?)
    `)
    const { log } = this.#plan
    const changes = log === undefined ? undefined : this.#database.query(log.changes)
    const quantities = log === undefined ? undefined : this.#database.query(log.quantities)
    const writes = this.#plan.writes.map((sql) => this.#database.query(sql))
    let from = LOWEST_ID
    for (let done = 0; done < total; ) {
      signal?.throwIfAborted()
      const range = step.get(from, ROWS_A_STEP)
      if (range === null || range.last === null) throw new Error('rows went missing while they were written')
      const { position } = this.#logEnd()
      for (const write of writes) write.run(from, range.last)
      changes?.run(from, range.last, at, keyId, position)
      quantities?.run(position)
      from = range.last + 1n
      done += Number(range.rows)
      onProgress?.(done, total)
      await new Promise((resume) => setImmediate(resume))
    }
    signal?.throwIfAborted()
    return { added, changed: total - added, unchanged: this.#rows - total }
  }

  /** Tells those who follow the stock what else is new. */
  #recordEntries({ at, keyId }: ApplyOptions): void {
    const { log } = this.#plan
    if (log === undefined) return
    const { position } = this.#logEnd()
    const entries = Number(this.#database.query<{ rows: bigint }, []>(log.countEntries).get()?.rows ?? 0)
    if (entries === 0) return
    this.#database.run(entries > MAX_LOGGED ? log.relist : log.entries, [at, keyId, position])
    this.#database.run(log.lastChanges, [position])
  }

  #countDiffering(condition: string): number {
    const row = this.#database
      .query<{ rows: bigint }, []>(`SELECT count(*) AS rows FROM differing WHERE ${condition}`)
      .get()
    return Number(row?.rows ?? 0)
  }

  /** A big commit leaves a big write-ahead log. Where others are reading it, it stays, and is written over later. */
  #shrinkLog(): void {
    try {
      this.#database.run('PRAGMA wal_checkpoint(PASSIVE)')
      this.#database.run('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch {
      // The import is on disk; this was housekeeping.
    }
  }
}

function createTables(database: Database, columns: readonly string[]): void {
  database.run('PRAGMA temp_store = FILE')
  // Enough that a page is written once, and not each time that it is touched.
  database.run('PRAGMA cache_size = -32768')
  // Each pet is written right before its stock, and nothing is removed: to look for it again, a million times under
  // the lock, takes half a second.
  database.run('PRAGMA foreign_keys = OFF')
  const old = columns.map((column) => `old_${column}`)
  database.run(`CREATE TEMP TABLE staged (line INTEGER PRIMARY KEY, id, ${columns})`)
  database.run(`CREATE TEMP TABLE sorted (id INTEGER PRIMARY KEY, line, ${columns})`)
  database.run(`CREATE TEMP TABLE differing (id INTEGER PRIMARY KEY, line, is_new, ${[...columns, ...old]})`)
  database.run('CREATE TEMP TABLE touched (id)')
}
