import type {
  ApplyOptions,
  DuplicateRow,
  ImportCounts,
  ImportPreview,
  StagedImport,
  StagedRow,
  Tally,
} from '../../core/transfer/staged-import.ts'
import { columnOf } from './columns.ts'
import type { Connection, Session } from './connection.ts'
import type { ImportPlan, PlainRow } from './import-plan.ts'

/** Some 200 ms of work, then a signal is heard. */
const ROWS_A_STEP = 20_000
const LOWEST_ID = -(2n ** 63n)
/** One import writes at a time: two that bring the same new pets would wait for each other crosswise. */
export const IMPORT_LOCK = 0x696d706f7274n

/**
 * Rows go into temporary tables of a connection of their own, are sorted there by id and compared with the store.
 * What differs is written in one transaction: first what the store has never had; then what it has is locked, in the
 * order of the ids, compared again and written. A row that was found equal is not locked: a change to it that comes while
 * the import is written comes after it.
 */
export class PostgresStagedImport<Value> implements StagedImport<Value> {
  readonly #connection: Connection
  readonly #session: Session
  readonly #close: () => Promise<void>
  readonly #plan: ImportPlan<Value>
  #rows = 0

  static async open<Value>(
    connection: Connection,
    plan: ImportPlan<Value>,
  ): Promise<PostgresStagedImport<Value>> {
    const { session, close } = await connection.separateSession()
    const staged = new PostgresStagedImport(connection, session, close, plan)
    await connection.guard(() => createTables(session, plan))
    return staged
  }

  private constructor(
    connection: Connection,
    session: Session,
    close: () => Promise<void>,
    plan: ImportPlan<Value>,
  ) {
    this.#connection = connection
    this.#session = session
    this.#close = close
    this.#plan = plan
  }

  async add(rows: readonly StagedRow<Value>[]): Promise<void> {
    if (rows.length === 0) return
    const { columns, idOf } = this.#plan
    this.#rows += rows.length
    await this.#run(async (session) => {
      const arrays = [
        columnOf(session, rows, 'BIGINT', ({ line }) => line),
        columnOf(session, rows, 'BIGINT', ({ value }) => idOf(value)),
        ...columns.map(([, type, pick]) => columnOf(session, rows, type, ({ value }) => pick(value))),
      ]
      const places = ['BIGINT', 'BIGINT', ...columns.map(([, type]) => type)]
        .map((type, index) => `$${index + 1}::${type}[]`)
        .join()
      await session.unsafe(`INSERT INTO staged SELECT * FROM unnest(${places})`, arrays)
    })
  }

  seal(examples: number): Promise<Tally<DuplicateRow>> {
    return this.#run(async (session) => {
      const columns = this.#plan.columns.map(([name]) => name).join()
      await session.unsafe(
        `INSERT INTO sorted SELECT DISTINCT ON (id) id, line, ${columns} FROM staged ORDER BY id, line`,
      )
      await session`ANALYZE sorted`
      const count = this.#rows - (await this.#count('sorted'))
      const first = count === 0 ? [] : await this.#duplicates(examples)
      this.#rows -= count
      await session`DROP TABLE staged`
      return { count, first }
    })
  }

  async #duplicates(limit: number): Promise<DuplicateRow[]> {
    const rows = await this.#session<{ line: bigint; first_line: bigint; id: bigint }[]>`
      SELECT staged.line, sorted.line AS first_line, id FROM staged JOIN sorted USING (id)
      WHERE staged.line <> sorted.line ORDER BY staged.line LIMIT ${limit}::bigint`
    return rows.map(({ line, first_line, id }) => ({
      line: Number(line),
      firstLine: Number(first_line),
      id,
    }))
  }

  preview(examples: number): Promise<ImportPreview<Value>> {
    return this.#run(async (session) => {
      await this.#compareAll()
      const first = (isNew: boolean) => session<PlainRow[]>`
        SELECT * FROM differing WHERE is_new = ${isNew} ORDER BY line LIMIT ${examples}::bigint`
      const toRow = (row: PlainRow) => ({ line: Number(row.line), value: this.#plan.toValue(row, '') })
      const added = await this.#count('differing', 'is_new')
      const changed = await this.#count('differing', 'NOT is_new')
      return {
        added: { count: added, first: (await first(true)).map(toRow) },
        changed: {
          count: changed,
          first: (await first(false)).map((row) => ({
            ...toRow(row),
            before: this.#plan.toValue(row, 'old_'),
          })),
        },
        unchanged: this.#rows - added - changed,
      }
    })
  }

  apply(options: ApplyOptions): Promise<ImportCounts> {
    return this.#run(async (session) => {
      options.signal?.throwIfAborted()
      await session`BEGIN`
      try {
        await session`SELECT pg_advisory_xact_lock(${IMPORT_LOCK})`
        const written = await this.#write(options)
        const { entries } = this.#plan
        if (entries !== undefined) await session.unsafe(entries, [options.at, options.keyId])
        await session`COMMIT`
        return written
      } catch (error) {
        await session`ROLLBACK`.catch(() => {})
        throw error
      }
    })
  }

  /** The temporary tables go with the connection. */
  async discard(): Promise<void> {
    await this.#close()
  }

  async #compareAll(): Promise<number> {
    await this.#session`TRUNCATE differing`
    await this.#session.unsafe(this.#plan.compare('true', true))
    await this.#session`ANALYZE differing`
    return this.#count('differing')
  }

  /** What the store has never had goes first: nobody else knows of it yet, so nobody has to wait while it is written. */
  async #write({ at, keyId, signal, onProgress }: ApplyOptions): Promise<ImportCounts> {
    const { additions, changes, quantities } = this.#plan
    let total = await this.#compareAll()
    let done = 0
    const step = async (isFresh: boolean, write: (from: bigint, to: bigint) => Promise<void>) => {
      for await (const { from, to, rows } of this.#steps(isFresh)) {
        signal?.throwIfAborted()
        for (const sql of additions) await this.#session.unsafe(sql, [from, to, isFresh])
        await write(from, to)
        done += rows
        onProgress?.(done, total)
      }
      signal?.throwIfAborted()
    }
    await step(true, async () => {})
    total = await this.#lockAndCompareAgain()
    await step(false, async (from, to) => {
      for (const sql of changes) await this.#session.unsafe(sql, [from, to])
      if (quantities !== undefined) await this.#session.unsafe(quantities, [from, to, at, keyId])
    })
    const added = await this.#count('differing', 'is_new')
    return { added, changed: total - added, unchanged: this.#rows - total }
  }

  async *#steps(isFresh: boolean): AsyncGenerator<{ from: bigint; to: bigint; rows: number }> {
    for (let from = LOWEST_ID; ; ) {
      const [range] = await this.#session<{ last: bigint | null; rows: bigint }[]>`
        SELECT max(id) AS last, count(*) AS rows FROM (
          SELECT id FROM differing WHERE id >= ${from} AND is_fresh = ${isFresh} ORDER BY id LIMIT ${ROWS_A_STEP}
        ) AS step`
      if (range === undefined || range.last === null) return
      yield { from, to: range.last, rows: Number(range.rows) }
      from = range.last + 1n
    }
  }

  async #lockAndCompareAgain(): Promise<number> {
    const { locks, compare } = this.#plan
    await this.#session`TRUNCATE touched`
    await this.#session`INSERT INTO touched SELECT id FROM differing WHERE NOT is_fresh`
    await this.#session`ANALYZE touched`
    for (const sql of locks) await this.#session.unsafe(sql)
    await this.#session`DELETE FROM differing WHERE NOT is_fresh`
    await this.#session.unsafe(compare('sorted.id IN (SELECT id FROM touched)', false))
    await this.#session`ANALYZE differing`
    return this.#count('differing')
  }

  async #count(table: 'sorted' | 'differing', condition = 'true'): Promise<number> {
    const [row] = await this.#session.unsafe<{ rows: bigint }[]>(
      `SELECT count(*) AS rows FROM ${table} WHERE ${condition}`,
    )
    return Number(row?.rows ?? 0)
  }

  #run<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#connection.guard(() => work(this.#session))
  }
}

async function createTables<Value>(session: Session, { columns }: ImportPlan<Value>): Promise<void> {
  const now = columns.map(([name, type]) => `${name} ${type}`)
  const old = columns.map(([name, type]) => `old_${name} ${type}`)
  await session.unsafe(`
    SET statement_timeout = 0;
    SET idle_in_transaction_session_timeout = 0;
    SET temp_buffers = '64MB';
    SET work_mem = '64MB';
    CREATE TEMP TABLE staged (line bigint, id bigint, ${now.join()});
    CREATE TEMP TABLE sorted (id bigint PRIMARY KEY, line bigint, ${now.join()});
    CREATE TEMP TABLE differing (
      id bigint PRIMARY KEY, line bigint, is_new boolean, is_fresh boolean, ${[...now, ...old].join()}
    );
    CREATE TEMP TABLE touched (id bigint);
  `)
}
