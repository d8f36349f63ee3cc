import type { ChangeOrigin } from '../core/stock/command.ts'
import { ALL_IDS } from './import-staging.ts'
import { isOwnId } from './own-ids.ts'
import type { Dialect, LongSession, OwnIds } from './sql.ts'

/** Written at once. */
export const ROWS_A_STEP = 20_000

/** Rows of a table, by their ids. */
export interface Step {
  readonly from: bigint
  readonly to: bigint
  readonly rows: number
}

/** The rows of a temporary table for which `which` holds, so many at a time, in the order of their ids. */
interface Steps {
  readonly table: 'sorted' | 'differing'
  readonly which: string
  readonly size: number
  readonly signal?: AbortSignal | undefined
}

/** Does `work` for some rows after the others; in between others get a turn, and the signal is heard. */
export async function inSteps(
  session: LongSession,
  { table, which, size, signal }: Steps,
  work: (step: Step) => Promise<void>,
): Promise<void> {
  const [lowest, highest] = ALL_IDS
  for (let from = lowest; from <= highest; ) {
    signal?.throwIfAborted()
    const [step] = await session.rows<{ last: bigint | null; rows: bigint }>(
      `SELECT max(id) AS last, count(*) AS rows FROM (
        SELECT id FROM ${table} WHERE id >= $1 AND ${which} ORDER BY id LIMIT ${size}) AS step`,
      from,
    )
    if (step === undefined || step.last === null) return
    await work({ from, to: step.last, rows: Number(step.rows) })
    from = step.last + 1n
    await new Promise((resume) => setImmediate(resume))
  }
}

/** Who makes one of these later gets an id behind those that are in this column of `differing`. */
export async function raiseIds(
  session: LongSession,
  dialect: Dialect,
  table: OwnIds,
  column: string,
): Promise<void> {
  const [row] = await session.rows<{ highest: bigint | null }>(
    `SELECT max(${column}) AS highest FROM differing WHERE ${isOwnId(column)}`,
  )
  const highest = row?.highest ?? null
  if (highest !== null) await session.rows(dialect.raiseIds(table), highest)
}

/** Which rows of `differing` leave a row in the log, and of which kind. */
interface Recorded extends Omit<Step, 'rows'> {
  readonly which: string
  readonly kind: string
  /** What is kept of it, as SQL. */
  readonly detail?: string
}

/**
 * A row of the log for each of these pets, with the quantity that its stock has from then on. `differing` has a pet's
 * quantity and status, and what its quantity was; `numbered` is a table for an id and a pet_id. Each table is bounded by
 * the ids: PostgreSQL would read all of it for each step.
 */
export async function record(
  session: LongSession,
  { nextLogId }: Dialect,
  { which, kind, from, to, detail = 'NULL' }: Recorded,
  { at, keyId, reason, reference }: Omit<ChangeOrigin, 'idempotency'>,
): Promise<void> {
  await session.run('DELETE FROM numbered')
  await session.run(
    `INSERT INTO numbered SELECT ${nextLogId}, id FROM differing
    WHERE id BETWEEN $1 AND $2 AND ${which} ORDER BY id`,
    from,
    to,
  )
  await session.analyze('numbered')
  await session.run(
    `INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, reason, reference, detail)
    SELECT numbered.id, kind, numbered.pet_id, CASE kind WHEN 'change' THEN old_quantity END, now.quantity, now.status,
      CAST($3 AS BIGINT), $4, last_change, $5, $6, CASE kind WHEN 'pet' THEN detail END
    FROM numbered
    JOIN stock ON stock.pet_id = numbered.pet_id AND stock.pet_id BETWEEN $1 AND $2
    JOIN (SELECT *, ${kind} AS kind, ${detail} AS detail FROM differing WHERE id BETWEEN $1 AND $2) AS now ON now.id = numbered.pet_id`,
    ...[from, to, at, keyId, reason ?? null, reference ?? null],
  )
  await session.run(
    `UPDATE stock SET quantity = now.quantity, last_change = numbered.id
    FROM numbered JOIN differing AS now ON now.id = numbered.pet_id AND now.id BETWEEN $1 AND $2
    WHERE stock.pet_id = numbered.pet_id AND stock.pet_id BETWEEN $1 AND $2`,
    from,
    to,
  )
}
