import type { SQL } from 'bun'
import type { CatalogFound } from '../../core/catalog/changing-catalog.ts'
import { isOfPet, type Made, type MadeOfPet, type MadeOrder } from '../../core/stock/changing-stock.ts'
import type { WrittenDecision } from '../../core/stock/decide.ts'
import { detailOf, petIdOf } from '../log-details.ts'
import { writeCatalog } from './catalog.ts'
import { idsFrom } from './dialect.ts'
import { writeChangedOrders } from './orders.ts'
import { arrayOf, quoted } from './parameters.ts'

/** What is known beside the decision. */
interface WrittenWith {
  /** Each pet's latest row in the log before it. */
  readonly lastChangeOf: (petId: bigint) => bigint | null
  /** Of the sequence of the log, for its rows; they are taken by the way where there are none. */
  readonly numbers?: readonly bigint[] | undefined
  /** Where the catalogue changes: the pets that were there. */
  readonly pets?: CatalogFound['pets'] | undefined
}

/** Writes what was decided, inside a commit. */
export function writeDecision(sql: SQL, decision: WrittenDecision, beside: WrittenWith): Promise<unknown>[] {
  const { made, orders, catalog, reserved, low } = decision
  if (beside.numbers === undefined) return made.length === 0 ? [] : [writeChanges(sql, decision, beside)]
  const idOf = idsFrom(beside.numbers)
  const { added, changed } = orders ?? { added: [], changed: [] }
  const isNothing = made.length === 0 && reserved.size === 0 && low.size === 0
  return [
    ...(catalog === undefined ? [] : writeCatalog(sql, catalog, beside.pets ?? new Map())),
    ...(made.every((row) => row.kind === 'order') ? [] : [logOthers(sql, decision, beside, idOf)]),
    ...(isNothing && added.length === 0 ? [] : [writeOrders(sql, decision, idOf)]),
    ...(changed.length === 0 ? [] : [writeChangedOrders(sql, changed)]),
  ]
}

const changeIn = (row: Made) => (row.kind === 'change' ? row : undefined)
const ofPet = (row: Made) => (isOfPet(row) ? row : undefined)
const beforeIn = (row: Made) => (row.kind === 'change' || row.kind === 'removed' ? row.before : undefined)
const afterIn = (row: Made) => (row.kind === 'change' || row.kind === 'pet' ? row.after : undefined)
const detailIn = (row: Made) => quoted(detailOf(row) ?? undefined)

/**
 * Where nothing but quantities changes. The number is taken while the pets are locked, so that ids tell the order of what
 * happened to each.
 */
function writeChanges(sql: SQL, { made: rows, low }: WrittenDecision, { lastChangeOf }: WrittenWith) {
  const previousOf = (row: Made) => (row.kind === 'change' ? lastChangeOf(row.petId) : null)
  const lowOf = (row: Made) => asBoolean(row.kind === 'change' && row.isLast ? low.get(row.petId) : undefined)
  return sql`
    WITH taken AS MATERIALIZED (
      SELECT nextval('log_ids') AS id
    ), made AS MATERIALIZED (
      SELECT * FROM unnest(
        ${arrayOf(rows, ({ kind }) => kind)}::text[],
        ${arrayOf(rows, petIdOf)}::bigint[],
        ${arrayOf(rows, beforeIn)}::bigint[],
        ${arrayOf(rows, afterIn)}::bigint[],
        ${arrayOf(rows, (row) => ofPet(row)?.status)}::text[],
        ${arrayOf(rows, ({ by }) => by.at)}::bigint[],
        ${arrayOf(rows, ({ by }) => quoted(by.keyId))}::text[],
        ${arrayOf(rows, previousOf)}::bigint[],
        ${arrayOf(rows, (row) => changeIn(row)?.follows)}::bigint[],
        ${arrayOf(rows, (row) => asBoolean(changeIn(row)?.isLast ?? false))}::boolean[],
        ${arrayOf(rows, (row) => changeIn(row)?.by.reason)}::text[],
        ${arrayOf(rows, (row) => quoted(changeIn(row)?.by.reference))}::text[],
        ${arrayOf(rows, detailIn)}::text[],
        ${arrayOf(rows, lowOf)}::boolean[]
      ) WITH ORDINALITY AS made (
        kind, pet_id, before, after, status, at, key_id, previous, follows, is_last, reason, reference, detail, is_low, number)
    ), recorded AS (
      INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, reason, reference, detail)
      SELECT id + number - 1, kind, pet_id, before, after, status, at, key_id, coalesce(id + follows, previous),
        reason, reference, detail
      FROM taken, made
    )
    UPDATE stock SET quantity = after, last_change = id + number - 1, is_low = coalesce(made.is_low, stock.is_low)
    FROM taken, made WHERE is_last AND stock.pet_id = made.pet_id`.execute()
}

/** What happened beside what happened to orders: its rows in the log, by numbers that were taken before. */
function logOthers(
  sql: SQL,
  { made }: WrittenDecision,
  { lastChangeOf }: WrittenWith,
  idOf: (index: number) => bigint,
): Promise<unknown> {
  const rows = [...made.entries()].filter(([, row]) => row.kind !== 'order')
  const previousOf = (row: Made) => {
    if (!isOfPet(row)) return undefined
    return row.follows === null ? lastChangeOf(row.petId) : idOf(row.follows)
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

/** What happened to orders, what all of it leaves of the stock, and the orders that are new, on one way to the database. */
function writeOrders(
  sql: SQL,
  { made, reserved, low, orders }: WrittenDecision,
  idOf: (index: number) => bigint,
): Promise<unknown> {
  const told: { readonly id: bigint; readonly row: MadeOrder }[] = []
  const last = new Map<bigint, MadeOfPet>()
  for (const [index, row] of made.entries()) {
    if (row.kind === 'order') told.push({ id: idOf(index), row })
    else if (isOfPet(row) && row.isLast) last.set(row.petId, row)
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
    WITH told AS (
      INSERT INTO log (id, kind, pet_id, at, key_id, detail)
      SELECT id, 'order', pet_id, at, key_id, detail FROM unnest(
        ${arrayOf(told, ({ id }) => id)}::bigint[],
        ${arrayOf(told, ({ row }) => row.order.petId)}::bigint[],
        ${arrayOf(told, ({ row }) => row.by.at)}::bigint[],
        ${arrayOf(told, ({ row }) => quoted(row.by.keyId))}::text[],
        ${arrayOf(told, ({ row }) => detailIn(row))}::text[]
      ) AS told (id, pet_id, at, key_id, detail)
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
