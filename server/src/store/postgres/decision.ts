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
import { ORDER_COLUMNS } from '../order-rows.ts'
import { writeCatalog } from './catalog.ts'
import { arrayPlaceholders, arrayText, logIdsFrom, quotedElement } from './dialect.ts'
import { orderArrays, writeChangedOrders } from './orders.ts'

/** The values from the start of the commit that `writeDecision` needs in addition to the decision. */
interface StateBefore {
  /** The id of a pet's latest log row. */
  readonly lastChangeOf: (petId: bigint) => bigint | null
  /**
   * Values of the sequence `log_ids`. Each reserves a block of consecutive log ids (see `logIdsFrom`). `undefined` if
   * only quantities can change; then the statement that writes them takes the value.
   */
  readonly numbers?: readonly bigint[] | undefined
  /** The pets, if the catalogue changes. */
  readonly pets?: LockedCatalog['pets'] | undefined
}

/** Starts the statements that write a decision inside a commit. All of them are sent in one round trip. */
export function writeDecision(sql: SQL, decision: WrittenDecision, before: StateBefore): Promise<unknown>[] {
  const { records, orders, catalog, reserved, low } = decision
  if (before.numbers === undefined)
    return records.length === 0 ? [] : [writeQuantityChanges(sql, decision, before)]
  const idOf = logIdsFrom(before.numbers)
  const { added, changed } = orders ?? { added: [], changed: [] }
  const changesStock = records.length > 0 || reserved.size > 0 || low.size > 0
  const writes: Promise<unknown>[] = []
  if (catalog !== undefined) writes.push(...writeCatalog(sql, catalog, before.pets ?? new Map()))
  if (records.some(({ kind }) => kind !== 'order'))
    writes.push(writeOtherLogRows(sql, decision, before, idOf))
  if (changesStock || added.length > 0) writes.push(writeOrdersAndStock(sql, decision, idOf))
  if (changed.length > 0) writes.push(writeChangedOrders(sql, changed))
  return writes
}

// These functions read the columns of a log row; `undefined` becomes NULL.
const quantityRecord = (row: LogRecord) => (row.kind === 'change' ? row : undefined)
const statusIn = (row: LogRecord) => (isPetRecord(row) ? row.status : undefined)
const quantityBefore = (row: LogRecord) =>
  row.kind === 'change' || row.kind === 'removed' ? row.before : undefined
const quantityAfter = (row: LogRecord) =>
  row.kind === 'change' || row.kind === 'pet' ? row.after : undefined
const quotedDetail = (row: LogRecord) => quotedElement(detailOf(row) ?? undefined)

/**
 * Writes a decision in which only quantities change. Each value of `log_ids` reserves IDS_PER_NUMBER consecutive ids,
 * so one `nextval` is enough for all rows. It is taken while the pets are locked, so the ids of a pet's rows are in the
 * order of its changes.
 */
function writeQuantityChanges(
  sql: SQL,
  { records: rows, low }: WrittenDecision,
  { lastChangeOf }: StateBefore,
) {
  const previousOf = (row: LogRecord) => (row.kind === 'change' ? lastChangeOf(row.petId) : null)
  const lowOf = (row: LogRecord) =>
    booleanText(row.kind === 'change' && row.isLast ? low.get(row.petId) : undefined)
  return sql`
    WITH taken AS MATERIALIZED (
      SELECT nextval('log_ids') AS id
    ), changed AS MATERIALIZED (
      SELECT * FROM unnest(
        ${arrayText(rows, ({ kind }) => kind)}::text[],
        ${arrayText(rows, petIdOf)}::bigint[],
        ${arrayText(rows, quantityBefore)}::bigint[],
        ${arrayText(rows, quantityAfter)}::bigint[],
        ${arrayText(rows, statusIn)}::text[],
        ${arrayText(rows, ({ by }) => by.at)}::bigint[],
        ${arrayText(rows, ({ by }) => quotedElement(by.keyId))}::text[],
        ${arrayText(rows, previousOf)}::bigint[],
        ${arrayText(rows, (row) => quantityRecord(row)?.previousIndex)}::bigint[],
        ${arrayText(rows, (row) => booleanText(quantityRecord(row)?.isLast ?? false))}::boolean[],
        ${arrayText(rows, (row) => quantityRecord(row)?.by.reason)}::text[],
        ${arrayText(rows, (row) => quotedElement(quantityRecord(row)?.by.reference))}::text[],
        ${arrayText(rows, quotedDetail)}::text[],
        ${arrayText(rows, lowOf)}::boolean[]
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
function writeOtherLogRows(
  sql: SQL,
  { records }: WrittenDecision,
  { lastChangeOf }: StateBefore,
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
      ${arrayText(rows, ([index]) => idOf(index))}::bigint[],
      ${arrayText(rows, ([, { kind }]) => kind)}::text[],
      ${arrayText(rows, ([, row]) => petIdOf(row))}::bigint[],
      ${arrayText(rows, ([, row]) => quantityBefore(row))}::bigint[],
      ${arrayText(rows, ([, row]) => quantityAfter(row))}::bigint[],
      ${arrayText(rows, ([, row]) => statusIn(row))}::text[],
      ${arrayText(rows, ([, { by }]) => by.at)}::bigint[],
      ${arrayText(rows, ([, { by }]) => quotedElement(by.keyId))}::text[],
      ${arrayText(rows, ([, row]) => previousOf(row))}::bigint[],
      ${arrayText(rows, ([, row]) => quantityRecord(row)?.by.reason)}::text[],
      ${arrayText(rows, ([, row]) => quotedElement(quantityRecord(row)?.by.reference))}::text[],
      ${arrayText(rows, ([, row]) => quotedDetail(row))}::text[]
    )`.execute()
}

/** Writes the log rows of orders, the stock and the new orders in one statement. */
function writeOrdersAndStock(
  sql: SQL,
  { records, reserved, low, orders }: WrittenDecision,
  idOf: (index: number) => bigint,
): Promise<unknown> {
  const logged: { readonly id: bigint; readonly row: OrderChangeRecord }[] = []
  const lastRecords = new Map<bigint, PetRecord>()
  for (const [index, row] of records.entries()) {
    if (row.kind === 'order') logged.push({ id: idOf(index), row })
    else if (isPetRecord(row) && row.isLast) lastRecords.set(row.petId, row)
  }
  const pets = [...new Set([...lastRecords.keys(), ...reserved.keys(), ...low.keys()])]
  const quantityOf = (petId: bigint) => {
    const row = lastRecords.get(petId)
    return row === undefined ? undefined : quantityAfter(row)
  }
  const lastChangeOf = (petId: bigint) => {
    const row = lastRecords.get(petId)
    return row === undefined ? undefined : idOf(row.index)
  }
  const values = [
    arrayText(logged, ({ id }) => id),
    arrayText(logged, ({ row }) => row.order.petId),
    arrayText(logged, ({ row }) => row.by.at),
    arrayText(logged, ({ row }) => quotedElement(row.by.keyId)),
    arrayText(logged, ({ row }) => quotedDetail(row)),
    arrayText(pets, (petId) => petId),
    arrayText(pets, quantityOf),
    arrayText(pets, (petId) => reserved.get(petId)),
    arrayText(pets, (petId) => booleanText(low.get(petId))),
    arrayText(pets, lastChangeOf),
    ...orderArrays(orders?.added ?? []),
  ]
  return sql.unsafe(WRITE_ORDERS_AND_STOCK, values).execute()
}

const WRITE_ORDERS_AND_STOCK = `
  WITH logged AS (
    INSERT INTO log (id, kind, pet_id, at, key_id, detail)
    SELECT id, 'order', pet_id, at, key_id, detail
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[])
      AS logged (id, pet_id, at, key_id, detail)
  ), stocked AS (
    UPDATE stock SET quantity = coalesce(now.quantity, stock.quantity), reserved = coalesce(now.reserved, stock.reserved),
      is_low = coalesce(now.is_low, stock.is_low), last_change = coalesce(now.last_change, stock.last_change)
    FROM unnest($6::bigint[], $7::bigint[], $8::bigint[], $9::boolean[], $10::bigint[])
      AS now (pet_id, quantity, reserved, is_low, last_change) WHERE stock.pet_id = now.pet_id
  )
  INSERT INTO orders (${Object.keys(ORDER_COLUMNS)})
  SELECT * FROM unnest(${arrayPlaceholders(ORDER_COLUMNS, 11)})`

function booleanText(value: boolean | undefined): string | undefined {
  if (value === undefined) return undefined
  return value ? 't' : 'f'
}
