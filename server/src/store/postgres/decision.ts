import type { SQL } from 'bun'
import type { LockedCatalog } from '../../core/catalog/catalog-draft.ts'
import type { WrittenDecision } from '../../core/stock/decide.ts'
import {
  isPetRecord,
  type LogRecord,
  type OrderChangeRecord,
  type PetRecord,
} from '../../core/stock/stock-draft.ts'
import { detailOf, petIdOf } from '../log-rows.ts'
import { writeCatalog } from './catalog.ts'
import { idsFrom } from './dialect.ts'
import { writeChangedOrders } from './orders.ts'
import { arrayOf, quoted } from './parameters.ts'

/** The state before the commit, as far as writing the decision needs it. */
interface ReadBefore {
  /** A pet's latest log row before the commit. */
  readonly lastChangeOf: (petId: bigint) => bigint | null
  /** Numbers from the sequence of the log; if `undefined`, the statement takes them itself. */
  readonly numbers?: readonly bigint[] | undefined
  /** The pets before the commit, if the catalogue changes. */
  readonly pets?: LockedCatalog['pets'] | undefined
}

/** Writes a decision inside a commit. */
export function writeDecision(sql: SQL, decision: WrittenDecision, before: ReadBefore): Promise<unknown>[] {
  const { records, orders, catalog, reserved, low } = decision
  if (before.numbers === undefined) return records.length === 0 ? [] : [writeChanges(sql, decision, before)]
  const idOf = idsFrom(before.numbers)
  const { added, changed } = orders ?? { added: [], changed: [] }
  const isUnchanged = records.length === 0 && reserved.size === 0 && low.size === 0
  return [
    ...(catalog === undefined ? [] : writeCatalog(sql, catalog, before.pets ?? new Map())),
    ...(records.every((row) => row.kind === 'order') ? [] : [logOthers(sql, decision, before, idOf)]),
    ...(isUnchanged && added.length === 0 ? [] : [writeOrders(sql, decision, idOf)]),
    ...(changed.length === 0 ? [] : [writeChangedOrders(sql, changed)]),
  ]
}

const changeIn = (row: LogRecord) => (row.kind === 'change' ? row : undefined)
const ofPet = (row: LogRecord) => (isPetRecord(row) ? row : undefined)
const beforeIn = (row: LogRecord) =>
  row.kind === 'change' || row.kind === 'removed' ? row.before : undefined
const afterIn = (row: LogRecord) => (row.kind === 'change' || row.kind === 'pet' ? row.after : undefined)
const detailIn = (row: LogRecord) => quoted(detailOf(row) ?? undefined)

/**
 * Writes a decision in which only quantities change. The number is taken while the pets are locked, so the ids of a pet's
 * rows have the order of its changes.
 */
function writeChanges(sql: SQL, { records: rows, low }: WrittenDecision, { lastChangeOf }: ReadBefore) {
  const previousOf = (row: LogRecord) => (row.kind === 'change' ? lastChangeOf(row.petId) : null)
  const lowOf = (row: LogRecord) =>
    asBoolean(row.kind === 'change' && row.isLast ? low.get(row.petId) : undefined)
  return sql`
    WITH taken AS MATERIALIZED (
      SELECT nextval('log_ids') AS id
    ), changed AS MATERIALIZED (
      SELECT * FROM unnest(
        ${arrayOf(rows, ({ kind }) => kind)}::text[],
        ${arrayOf(rows, petIdOf)}::bigint[],
        ${arrayOf(rows, beforeIn)}::bigint[],
        ${arrayOf(rows, afterIn)}::bigint[],
        ${arrayOf(rows, (row) => ofPet(row)?.status)}::text[],
        ${arrayOf(rows, ({ by }) => by.at)}::bigint[],
        ${arrayOf(rows, ({ by }) => quoted(by.keyId))}::text[],
        ${arrayOf(rows, previousOf)}::bigint[],
        ${arrayOf(rows, (row) => changeIn(row)?.previousIndex)}::bigint[],
        ${arrayOf(rows, (row) => asBoolean(changeIn(row)?.isLast ?? false))}::boolean[],
        ${arrayOf(rows, (row) => changeIn(row)?.by.reason)}::text[],
        ${arrayOf(rows, (row) => quoted(changeIn(row)?.by.reference))}::text[],
        ${arrayOf(rows, detailIn)}::text[],
        ${arrayOf(rows, lowOf)}::boolean[]
      ) WITH ORDINALITY AS changed (
        kind, pet_id, before, after, status, at, key_id, previous, follows, is_last, reason, reference, detail, is_low, number)
    ), recorded AS (
      INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, reason, reference, detail)
      SELECT id + number - 1, kind, pet_id, before, after, status, at, key_id, coalesce(id + follows, previous),
        reason, reference, detail
      FROM taken, changed
    )
    UPDATE stock SET quantity = after, last_change = id + number - 1, is_low = coalesce(changed.is_low, stock.is_low)
    FROM taken, changed WHERE is_last AND stock.pet_id = changed.pet_id`.execute()
}

/** Writes the log rows that are not about orders. */
function logOthers(
  sql: SQL,
  { records }: WrittenDecision,
  { lastChangeOf }: ReadBefore,
  idOf: (index: number) => bigint,
): Promise<unknown> {
  const rows = [...records.entries()].filter(([, row]) => row.kind !== 'order')
  const previousOf = (row: LogRecord) => {
    if (!isPetRecord(row)) return undefined
    return row.previousIndex === null ? lastChangeOf(row.petId) : idOf(row.previousIndex)
  }
  return sql`
    INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, reason, reference, detail)
    SELECT * FROM unnest(
      ${arrayOf(rows, ([index]) => idOf(index))}::bigint[],
      ${arrayOf(rows, ([, { kind }]) => kind)}::text[],
      ${arrayOf(rows, ([, row]) => petIdOf(row))}::bigint[],
      ${arrayOf(rows, ([, row]) => beforeIn(row))}::bigint[],
      ${arrayOf(rows, ([, row]) => afterIn(row))}::bigint[],
      ${arrayOf(rows, ([, row]) => ofPet(row)?.status)}::text[],
      ${arrayOf(rows, ([, { by }]) => by.at)}::bigint[],
      ${arrayOf(rows, ([, { by }]) => quoted(by.keyId))}::text[],
      ${arrayOf(rows, ([, row]) => previousOf(row))}::bigint[],
      ${arrayOf(rows, ([, row]) => changeIn(row)?.by.reason)}::text[],
      ${arrayOf(rows, ([, row]) => quoted(changeIn(row)?.by.reference))}::text[],
      ${arrayOf(rows, ([, row]) => detailIn(row))}::text[]
    )`.execute()
}

/** Writes the log rows of orders, the stock and the new orders in one round trip. */
function writeOrders(
  sql: SQL,
  { records, reserved, low, orders }: WrittenDecision,
  idOf: (index: number) => bigint,
): Promise<unknown> {
  const logged: { readonly id: bigint; readonly row: OrderChangeRecord }[] = []
  const last = new Map<bigint, PetRecord>()
  for (const [index, row] of records.entries()) {
    if (row.kind === 'order') logged.push({ id: idOf(index), row })
    else if (isPetRecord(row) && row.isLast) last.set(row.petId, row)
  }
  const added = orders?.added ?? []
  const pets =
    last.size === 0 && low.size === 0
      ? [...reserved.keys()]
      : [...new Set([...last.keys(), ...reserved.keys(), ...low.keys()])]
  const quantityOf = (petId: bigint) => {
    const row = last.get(petId)
    return row === undefined ? undefined : afterIn(row)
  }
  const lastChangeOf = (petId: bigint) => {
    const row = last.get(petId)
    return row === undefined ? undefined : idOf(row.index)
  }
  return sql`
    WITH logged AS (
      INSERT INTO log (id, kind, pet_id, at, key_id, detail)
      SELECT id, 'order', pet_id, at, key_id, detail FROM unnest(
        ${arrayOf(logged, ({ id }) => id)}::bigint[],
        ${arrayOf(logged, ({ row }) => row.order.petId)}::bigint[],
        ${arrayOf(logged, ({ row }) => row.by.at)}::bigint[],
        ${arrayOf(logged, ({ row }) => quoted(row.by.keyId))}::text[],
        ${arrayOf(logged, ({ row }) => detailIn(row))}::text[]
      ) AS logged (id, pet_id, at, key_id, detail)
    ), stocked AS (
      UPDATE stock SET quantity = coalesce(now.quantity, stock.quantity), reserved = coalesce(now.reserved, stock.reserved),
        is_low = coalesce(now.is_low, stock.is_low), last_change = coalesce(now.last_change, stock.last_change)
      FROM unnest(
        ${arrayOf(pets, (petId) => petId)}::bigint[],
        ${arrayOf(pets, quantityOf)}::bigint[],
        ${arrayOf(pets, (petId) => reserved.get(petId))}::bigint[],
        ${arrayOf(pets, (petId) => asBoolean(low.get(petId)))}::boolean[],
        ${arrayOf(pets, lastChangeOf)}::bigint[]
      ) AS now (pet_id, quantity, reserved, is_low, last_change) WHERE stock.pet_id = now.pet_id
    )
    INSERT INTO orders (id, pet_id, quantity, state, created_at, expires_at, ship_date)
    SELECT * FROM unnest(
      ${arrayOf(added, ({ id }) => id)}::bigint[],
      ${arrayOf(added, ({ petId }) => petId)}::bigint[],
      ${arrayOf(added, ({ quantity }) => quantity)}::bigint[],
      ${arrayOf(added, ({ state }) => state)}::text[],
      ${arrayOf(added, ({ createdAt }) => createdAt)}::bigint[],
      ${arrayOf(added, ({ expiresAt }) => expiresAt)}::bigint[],
      ${arrayOf(added, ({ shipDate }) => shipDate)}::bigint[]
    )`.execute()
}

function asBoolean(value: boolean | undefined): string | undefined {
  return value === undefined ? undefined : value ? 't' : 'f'
}
