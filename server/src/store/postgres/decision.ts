import type { SQL } from 'bun'
import { isQuantityChange, type Made, type MadeChange } from '../../core/stock/changing-stock.ts'
import type { Decision } from '../../core/stock/decide.ts'
import { toDetail } from '../order-rows.ts'
import { writeOrders } from './orders.ts'
import { arrayOf, quoted } from './parameters.ts'

type LastChangeOf = (petId: bigint) => bigint | null

/** So many rows of the log can be written with one number of the sequence `log_ids`. */
const IDS_A_NUMBER = 1_000

/** Writes what was decided, inside a commit. `lastChangeOf` tells each pet's latest row in the log before it. */
export function writeDecision(
  sql: SQL,
  { made, orders }: Pick<Decision, 'made' | 'orders'>,
  lastChangeOf: LastChangeOf,
): Promise<unknown>[] {
  if (orders === undefined) {
    const changes = made.filter(isQuantityChange)
    return changes.length === 0 ? [] : [writeChanges(sql, changes, lastChangeOf)]
  }
  return [...(made.length === 0 ? [] : [writeMade(sql, made, lastChangeOf)]), ...writeOrders(sql, orders)]
}

/** The number is taken while the pets are locked, so that ids tell the order of what happened to each. */
function writeChanges(sql: SQL, rows: readonly MadeChange[], lastChangeOf: LastChangeOf) {
  return sql`
    WITH taken AS MATERIALIZED (
      SELECT nextval('log_ids') AS id
    ), made AS MATERIALIZED (
      SELECT * FROM unnest(
        ${arrayOf(rows, ({ petId }) => petId)}::bigint[],
        ${arrayOf(rows, ({ before }) => before)}::bigint[],
        ${arrayOf(rows, ({ after }) => after)}::bigint[],
        ${arrayOf(rows, ({ status }) => status)}::text[],
        ${arrayOf(rows, ({ by }) => by.at)}::bigint[],
        ${arrayOf(rows, ({ by }) => quoted(by.keyId))}::text[],
        ${arrayOf(rows, ({ petId }) => lastChangeOf(petId))}::bigint[],
        ${arrayOf(rows, ({ follows }) => follows)}::bigint[],
        ${arrayOf(rows, ({ isLast }) => (isLast ? 't' : 'f'))}::boolean[],
        ${arrayOf(rows, ({ by }) => by.reason)}::text[],
        ${arrayOf(rows, ({ by }) => quoted(by.reference))}::text[]
      ) WITH ORDINALITY
      AS made (pet_id, before, after, status, at, key_id, previous, follows, is_last, reason, reference, number)
    ), recorded AS (
      INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, reason, reference)
      SELECT id + number - 1, 'change', pet_id, before, after, status, at, key_id, coalesce(id + follows, previous),
        reason, reference
      FROM taken, made
    )
    UPDATE stock SET quantity = after, last_change = id + number - 1
    FROM taken, made WHERE is_last AND stock.pet_id = made.pet_id`.execute()
}

/** Likewise with what happened to orders in between, of which there may be more than one number is enough for. */
function writeMade(sql: SQL, rows: readonly Made[], lastChangeOf: LastChangeOf) {
  const change = (row: Made) => (isQuantityChange(row) ? row : undefined)
  const petIdOf = (row: Made) => (isQuantityChange(row) ? row.petId : row.order.petId)
  return sql`
    WITH taken AS MATERIALIZED (
      SELECT ordinality - 1 AS block, nextval('log_ids') AS id
      FROM generate_series(1, ${Math.ceil(rows.length / IDS_A_NUMBER)}::bigint) WITH ORDINALITY
    ), told AS MATERIALIZED (
      SELECT * FROM unnest(
        ${arrayOf(rows, petIdOf)}::bigint[],
        ${arrayOf(rows, (row) => change(row)?.before)}::bigint[],
        ${arrayOf(rows, (row) => change(row)?.after)}::bigint[],
        ${arrayOf(rows, (row) => change(row)?.status)}::text[],
        ${arrayOf(rows, ({ by }) => by.at)}::bigint[],
        ${arrayOf(rows, ({ by }) => quoted(by.keyId))}::text[],
        ${arrayOf(rows, (row) => (isQuantityChange(row) ? lastChangeOf(row.petId) : null))}::bigint[],
        ${arrayOf(rows, (row) => change(row)?.follows)}::bigint[],
        ${arrayOf(rows, (row) => (change(row)?.isLast ? 't' : 'f'))}::boolean[],
        ${arrayOf(rows, (row) => change(row)?.by.reason)}::text[],
        ${arrayOf(rows, (row) => quoted(change(row)?.by.reference))}::text[],
        ${arrayOf(rows, (row) => (isQuantityChange(row) ? null : quoted(toDetail(row.change, row.order))))}::text[]
      ) WITH ORDINALITY
      AS told (pet_id, before, after, status, at, key_id, previous, follows, is_last, reason, reference, detail, number)
    ), made AS MATERIALIZED (
      SELECT told.*, own.id + (number - 1) % ${IDS_A_NUMBER}::bigint AS log_id,
        earlier.id + follows % ${IDS_A_NUMBER}::bigint AS following
      FROM told JOIN taken AS own ON own.block = (number - 1) / ${IDS_A_NUMBER}::bigint
      LEFT JOIN taken AS earlier ON earlier.block = follows / ${IDS_A_NUMBER}::bigint
    ), recorded AS (
      INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, reason, reference, detail)
      SELECT log_id, CASE WHEN detail IS NULL THEN 'change' ELSE 'order' END, pet_id, before, after, status, at, key_id,
        coalesce(following, previous), reason, reference, detail
      FROM made
    )
    UPDATE stock SET quantity = after, last_change = log_id
    FROM made WHERE is_last AND stock.pet_id = made.pet_id`.execute()
}
