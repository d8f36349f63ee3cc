import type { SQL } from 'bun'
import type { Columns, LongSession, SqlValue, Statement } from '../sql.ts'
import { columnArrays, insertSql, toParameter } from './dialect.ts'
import { ReadOnly } from './failures.ts'
import type { Session } from './session-pool.ts'

/** The number of rows that one FETCH returns. */
const ROWS_PER_BATCH = 5_000

interface SessionParts {
  /** Runs `work` and turns its errors into ServiceErrors. */
  readonly withSession: <T>(work: (session: Session) => Promise<T>) => Promise<T>
  readonly close: () => Promise<void>
  /**
   * How long a writing transaction may pause between two statements before the server rolls it back, so that it does not keep
   * its locks.
   */
  readonly maxPauseMs: number
  readonly hasStatementTimeout: boolean
}

/** For transactions that may pause for any time. */
export const NO_MAX_PAUSE = 0

/** Settings for a transaction that may read whole tables. */
const WHOLE_TABLES = 'SET LOCAL enable_seqscan = on'
/** Settings for a transaction whose statements may also take any time. */
const longTransactionSettings = (maxPauseMs: number) =>
  `SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = ${maxPauseMs}; ${WHOLE_TABLES}`

/** A connection for work that takes many statements. Closing it rolls back uncommitted changes. */
export class PostgresLongSession implements LongSession {
  /** Runs `work` in the current transaction, if there is one. Statements that it sends without waiting share one round trip. */
  readonly withSession: SessionParts['withSession']
  readonly close: SessionParts['close']
  readonly #readSettings: string
  readonly #writeSettings: string
  #cursorCount = 0

  constructor({ withSession, close, maxPauseMs, hasStatementTimeout }: SessionParts) {
    this.withSession = withSession
    this.close = close
    this.#readSettings = hasStatementTimeout ? WHOLE_TABLES : longTransactionSettings(NO_MAX_PAUSE)
    this.#writeSettings = hasStatementTimeout ? WHOLE_TABLES : longTransactionSettings(maxPauseMs)
  }

  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.withSession((session) => session.unsafe<Row[]>(text, values.map(toParameter)))
  }

  async run(text: string, ...values: readonly SqlValue[]): Promise<number> {
    const { count } = await this.withSession((session) => {
      // Without values, the text may contain several statements.
      if (values.length === 0) return session.unsafe(text)
      return session.unsafe(text, values.map(toParameter))
    })
    return count
  }

  async insert(table: string, columns: Columns, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const text = insertSql(table, columns)
    await this.withSession((session) => session.unsafe(text, columnArrays(columns, rows)))
  }

  async beginRead(): Promise<void> {
    await this.run(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${this.#readSettings}`)
  }

  async *batches<Row>(text: string): AsyncGenerator<Row[]> {
    const cursor = `batches_${++this.#cursorCount}`
    await this.run(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${text}`)
    for (;;) {
      const rows = await this.rows<Row>(`FETCH ${ROWS_PER_BATCH} FROM ${cursor}`)
      if (rows.length > 0) yield rows
      if (rows.length < ROWS_PER_BATCH) return
    }
  }

  async writeInTransaction<T>(work: () => Promise<T>): Promise<T> {
    await this.run(`BEGIN; ${this.#writeSettings}`)
    try {
      const result = await work()
      await this.run('COMMIT')
      return result
    } catch (error) {
      await this.run('ROLLBACK').catch(() => {})
      throw error
    }
  }
}

/** Runs the statements in order, in one round trip. Returns the number of rows that each statement changed. */
export function runAll(session: SQL, statements: readonly Statement[]): Promise<number[]> {
  // All values are converted first: if a value is invalid, nothing is sent.
  const queries = statements.map(({ text, values }) => session.unsafe(text, values.map(toParameter)))
  return Promise.all(queries.map(async (query) => (await query.execute()).count))
}

/**
 * Throws if the server is read-only, because a standby may return stale data. A server does not become a standby while a
 * connection is open, so one check per connection is enough.
 */
export async function checkAcceptsWrites(session: Session): Promise<void> {
  const [row] = await session<{ isReadOnly: boolean }[]>`
    SELECT current_setting('transaction_read_only')::boolean AS "isReadOnly"`
  if (row?.isReadOnly !== false) throw new ReadOnly()
}
