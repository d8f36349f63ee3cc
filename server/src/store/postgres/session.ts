import type { Columns, LongSession, SqlValue } from '../sql.ts'
import { DIALECT } from './dialect.ts'
import { bound, columnOf } from './parameters.ts'
import type { Session } from './session-pool.ts'

/** Rows that come in one piece. */
const BATCH = 5_000

/** Turns what a session failed with into what callers understand. */
type Guard = <T>(work: () => Promise<T>) => Promise<T>

interface SessionParts {
  readonly session: Session
  readonly guard: Guard
  readonly close: () => Promise<void>
  /**
   * For how long a transaction that writes may stand still between two of its statements, in which others wait for what it has
   * locked; then the server ends it, and undoes it. 0 stands for ever.
   */
  readonly maxPauseMs: number
}

/** For transactions that may take their time, and read whole tables. */
const patient = (maxPauseMs: number) => `SET LOCAL statement_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = ${maxPauseMs}; SET LOCAL enable_seqscan = on`

/** One connection, for work of many statements. What was not committed by its end is undone. */
export class PostgresSession implements LongSession {
  readonly #session: Session
  readonly #guard: Guard
  readonly #maxPauseMs: number
  readonly close: () => Promise<void>
  #cursors = 0

  constructor({ session, guard, close, maxPauseMs }: SessionParts) {
    this.#session = session
    this.#guard = guard
    this.close = close
    this.#maxPauseMs = maxPauseMs
  }

  rows<Row>(text: string, ...values: readonly SqlValue[]): Promise<Row[]> {
    return this.#guard(() => this.#session.unsafe<Row[]>(text, values.map(bound)))
  }

  async run(text: string, ...values: readonly SqlValue[]): Promise<number> {
    // Without values it may be several statements.
    const query = () =>
      values.length === 0 ? this.#session.unsafe(text) : this.#session.unsafe(text, values.map(bound))
    const { count } = await this.#guard(query)
    return count
  }

  /** Statements that go out together, in the transaction that is under way. */
  together<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#guard(() => work(this.#session))
  }

  async insert(table: string, columns: Columns, rows: readonly (readonly SqlValue[])[]): Promise<void> {
    const types = Object.values(columns)
    const arrays = types.map((type, index) =>
      columnOf(this.#session, rows, DIALECT.types[type], (row) => row[index]),
    )
    const values = types.map((type, index) => `$${index + 1}::${DIALECT.types[type]}[]`)
    const text = `INSERT INTO ${table} (${Object.keys(columns)}) SELECT * FROM unnest(${values})`
    await this.#guard(() => this.#session.unsafe(text, arrays))
  }

  async beginRead(): Promise<void> {
    await this.run(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${patient(0)}`)
  }

  async *batches<Row>(text: string): AsyncGenerator<Row[]> {
    const cursor = `batches_${++this.#cursors}`
    await this.run(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${text}`)
    for (;;) {
      const rows = await this.rows<Row>(`FETCH ${BATCH} FROM ${cursor}`)
      if (rows.length > 0) yield rows
      if (rows.length < BATCH) return
    }
  }

  async writeInSteps<T>(work: () => Promise<T>): Promise<T> {
    await this.run(`BEGIN; ${patient(this.#maxPauseMs)}`)
    try {
      const result = await work()
      await this.run('COMMIT')
      return result
    } catch (error) {
      await this.run('ROLLBACK').catch(() => {})
      throw error
    }
  }

  async analyze(table: string): Promise<void> {
    await this.run(`ANALYZE ${table}`)
  }
}
