import type { SQL } from 'bun'
import type { QuantityChange, QuantityOutcome } from '../../core/stock/inventory.ts'
import type { Connection } from './connection.ts'
import type { Batch, KnownLog, Made } from './known-log.ts'
import { readLogAfter } from './log.ts'
import { Settler } from './settle.ts'

/** So many that even the largest store is loaded before more than these have come. */
const MOST_TO_CATCH_UP = 200_000

/**
 * An update writes its row of the history and nothing else; the stock is settled later. What it finds is known, up to a
 * place in the log, and is worked out in memory. One statement then writes a whole batch if the log still ends there. If
 * not, another instance has written: the end of the log is locked, what the other did is read, the batch is worked
 * out anew and written before the lock is let go. While others write, that is done at once.
 */
export class StockWriter {
  readonly #connection: Connection
  readonly #known: KnownLog
  /** Reads the whole stock, so that it is known. */
  readonly #load: () => Promise<unknown>
  readonly #settler: Settler
  #othersWrite = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(connection: Connection, known: KnownLog, load: () => Promise<unknown>, mostLate?: number) {
    this.#connection = connection
    this.#known = known
    this.#load = load
    this.#settler = new Settler(connection, mostLate)
  }

  /** Sets the quantities, one batch after the other. */
  write(changes: readonly QuantityChange[]): Promise<QuantityOutcome[]> {
    const turn = this.#last.then(() => this.#write(changes))
    this.#last = turn.catch(() => {})
    return turn
  }

  async #write(changes: readonly QuantityChange[]): Promise<QuantityOutcome[]> {
    let outcomes = this.#othersWrite ? undefined : await this.#writeAfterKnown(changes)
    for (;;) {
      outcomes ??= await this.#catchUpAndWrite(changes)
      if (outcomes !== undefined) return outcomes
      // Let go of first: the old and the new together may be large.
      this.#known.forget()
      await this.#load()
    }
  }

  /** Nothing where the log does not end where it is known. */
  async #writeAfterKnown(changes: readonly QuantityChange[]): Promise<QuantityOutcome[] | undefined> {
    const { end } = this.#known
    if (end === undefined) return undefined
    const batch = this.#known.workOut(changes, end)
    let isWritten = false
    try {
      const rows = await this.#connection.run((sql) => write(sql, batch))
      isWritten = rows.length > 0
    } finally {
      this.#decide(batch, isWritten)
    }
    return isWritten ? batch.outcomes : undefined
  }

  /** Nothing where too much has happened to catch up with, or nothing is known. */
  async #catchUpAndWrite(changes: readonly QuantityChange[]): Promise<QuantityOutcome[] | undefined> {
    const known = this.#known.end
    if (known === undefined) return undefined
    let batch: Batch | undefined
    let isWritten = false
    try {
      await this.#connection.readThenWrite(
        'durable',
        async (sql) => {
          const [, log] = await Promise.all([
            sql`SELECT position FROM log_head FOR UPDATE`.execute(),
            // Begins when the row is locked, and so sees everything up to it.
            readLogAfter(sql, known, MOST_TO_CATCH_UP),
          ])
          return log
        },
        (sql, { end, rows }) => {
          this.#othersWrite = end.position !== known.position
          if (rows === undefined) return undefined
          this.#known.learn(known, rows, end)
          batch = this.#known.workOut(changes, end)
          return write(sql, batch).execute()
        },
      )
      isWritten = true
    } finally {
      if (batch !== undefined) this.#decide(batch, isWritten)
    }
    return batch?.outcomes
  }

  /** What is not written, or may be and nobody said so, is undone: if it is written, the log will tell. */
  #decide(batch: Batch, isWritten: boolean): void {
    if (isWritten) this.#settler.noteEnd(this.#known.accept(batch).position)
    else this.#known.undo(batch)
  }
}

/** One statement for the whole batch. It gives a row if the log ended where the batch was worked out, and none if not. */
function write(sql: SQL, { after: { position, database }, made }: Batch) {
  if (made.length === 0) {
    return sql`
      SELECT 1 FROM log_end WHERE position = ${position}::bigint AND database = ${database}`
  }
  return sql`
    WITH moved AS (
      UPDATE log_head SET position = position + ${made.length}::bigint
      WHERE position = ${position}::bigint AND (SELECT database FROM log_end) = ${database}
      RETURNING position
    ), recorded AS (
      INSERT INTO history (id, pet_id, before, after, at, key_id, status)
      SELECT ${position}::bigint + number, pet_id, before, after, at, key_id, status
      FROM moved, unnest(
        ${arrayOf(made, ({ change }) => change.petId)}::bigint[],
        ${arrayOf(made, ({ before }) => before)}::bigint[],
        ${arrayOf(made, ({ change }) => change.quantity)}::bigint[],
        ${arrayOf(made, ({ change }) => change.at)}::bigint[],
        ${arrayOf(made, ({ change }) => quoted(change.keyId))}::text[],
        ${arrayOf(made, ({ status }) => status)}::text[]
      ) WITH ORDINALITY AS made (pet_id, before, after, at, key_id, status, number)
    )
    SELECT 1 FROM moved`
}

/** In PostgreSQL's own words: what Bun makes of an array takes several times as long. */
function arrayOf(made: readonly Made[], pick: (made: Made) => bigint | number | string): string {
  return `{${made.map(pick).join()}}`
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
