import type { StockedPet } from '../../core/catalog/pet.ts'
import type { Order } from '../../core/orders/order.ts'
import type { PetStatus } from '../../core/stock/inventory.ts'

export type PlainRow = Readonly<Record<string, bigint | string | boolean | number | null>>

type ColumnType = 'BIGINT' | 'TEXT' | 'BOOLEAN'

/** What an import of one kind of row has of its own. See PostgresStagedImport for the temporary tables. */
export interface ImportPlan<Value> {
  /** The columns beside `id`, each with its type and where it comes from. */
  readonly columns: readonly (readonly [
    name: string,
    type: ColumnType,
    pick: (value: Value) => bigint | string | number | boolean,
  ])[]
  readonly idOf: (value: Value) => bigint
  readonly toValue: (row: PlainRow, prefix: '' | 'old_') => Value
  /**
   * Fills `differing` with those rows of `sorted` that are not in the store as they are; `where` narrows them. Fresh,
   * where that may be, is what the store does not have: nobody else knows of it yet.
   */
  readonly compare: (where: string, mayBeFresh: boolean) => string
  /** Locks those rows of the store that are in `touched`, in the order of their ids, and all that goes before them. */
  readonly locks: readonly string[]
  /** All of these write what is in `differing` with ids from $1 to $2: what is new, fresh or not, as $3 says; */
  readonly additions: readonly string[]
  /** what is changed; */
  readonly changes: readonly string[]
  /** and quantities, with their rows of the log: when, $3, and by whom, $4. */
  readonly quantities?: string
  /** Tells those who follow the stock what else is new: when, $1, and by whom, $2. */
  readonly entries?: string
}

/** With more pets than this added or changed, the log says so in one row: all of the stock is to be read again. */
const MAX_LOGGED = 1_000
const RANGE = 'id BETWEEN $1 AND $2'
const OTHER_PET = '(old_name, old_category_id) IS DISTINCT FROM (name, category_id)'

export const PET_PLAN: ImportPlan<StockedPet> = {
  columns: [
    ['name', 'TEXT', ({ name }) => name],
    ['category_id', 'BIGINT', ({ categoryId }) => categoryId],
    ['status', 'TEXT', ({ status }) => status],
    ['quantity', 'BIGINT', ({ quantity }) => quantity],
  ],
  idOf: ({ id }) => id,
  toValue: (row, prefix) => ({
    id: row.id as bigint,
    name: row[`${prefix}name`] as string,
    categoryId: row[`${prefix}category_id`] as bigint,
    status: row[`${prefix}status`] as PetStatus,
    quantity: Number(row[`${prefix}quantity`]),
  }),
  compare: (where, mayBeFresh) => `
    INSERT INTO differing
    SELECT sorted.id, line, stock.pet_id IS NULL, ${mayBeFresh} AND stock.pet_id IS NULL,
      sorted.name, sorted.category_id, sorted.status, sorted.quantity,
      pets.name, pets.category_id, stock.status, stock.quantity
    FROM sorted LEFT JOIN pets ON pets.id = sorted.id LEFT JOIN stock ON stock.pet_id = sorted.id
    WHERE ${where} AND (pets.name, pets.category_id, stock.status, stock.quantity)
      IS DISTINCT FROM (sorted.name, sorted.category_id, sorted.status, sorted.quantity)`,
  locks: [
    `SELECT count(*) FROM (
      SELECT 1 FROM stock WHERE pet_id IN (SELECT id FROM touched) ORDER BY pet_id FOR UPDATE) AS locked`,
  ],
  additions: [
    `INSERT INTO pets (id, name, category_id)
    SELECT id, name, category_id FROM differing WHERE ${RANGE} AND is_new AND is_fresh = $3 ORDER BY id`,
    // A pet that was removed and comes back goes on with its history.
    `INSERT INTO stock (pet_id, quantity, status, last_change)
    SELECT id, quantity, status, (SELECT max(log.id) FROM log WHERE pet_id = differing.id AND kind <> 'change')
    FROM differing WHERE ${RANGE} AND is_new AND is_fresh = $3 ORDER BY id`,
  ],
  changes: [
    `UPDATE pets SET name = now.name, category_id = now.category_id FROM differing AS now
    WHERE pets.id = now.id AND now.${RANGE} AND NOT is_new AND
      (old_name, old_category_id) IS DISTINCT FROM (now.name, now.category_id)`,
    `UPDATE stock SET status = now.status FROM differing AS now
    WHERE pet_id = now.id AND now.${RANGE} AND NOT is_new AND old_status <> now.status`,
  ],
  quantities: `
    WITH made AS (
      INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous)
      SELECT nextval('log_ids'), 'change', id, old_quantity, now.quantity, now.status, $3::bigint, $4, last_change
      FROM differing AS now JOIN stock ON pet_id = now.id
      WHERE now.${RANGE} AND NOT is_new AND old_quantity <> now.quantity
      RETURNING id, pet_id, after
    )
    UPDATE stock SET quantity = after, last_change = made.id FROM made WHERE stock.pet_id = made.pet_id`,
  entries: `
    WITH told AS MATERIALIZED (
      SELECT CASE WHEN is_new OR old_status <> status THEN 'entry' ELSE 'renamed' END AS kind, id, quantity, status
      FROM differing WHERE is_new OR old_status <> status OR ${OTHER_PET} LIMIT ${MAX_LOGGED + 1}
    ), size AS (
      SELECT count(*) AS rows FROM told
    ), made AS (
      INSERT INTO log (id, kind, pet_id, after, status, at, key_id, previous)
      SELECT nextval('log_ids'), kind, told.id, told.quantity, told.status, $1::bigint, $2, last_change
      FROM told JOIN stock ON pet_id = told.id, size WHERE rows <= ${MAX_LOGGED}
      UNION ALL SELECT nextval('log_ids'), 'relist', NULL, NULL, NULL, $1, $2, NULL FROM size WHERE rows > ${MAX_LOGGED}
      RETURNING id, pet_id
    )
    UPDATE stock SET last_change = made.id FROM made WHERE stock.pet_id = made.pet_id`,
}

export const ORDER_PLAN: ImportPlan<Order> = {
  columns: [
    ['pet_id', 'BIGINT', ({ petId }) => petId],
    ['quantity', 'BIGINT', ({ quantity }) => quantity],
    ['ship_date', 'BIGINT', ({ shipDate }) => shipDate],
    ['complete', 'BOOLEAN', ({ complete }) => complete],
  ],
  idOf: ({ id }) => id,
  toValue: (row, prefix) => ({
    id: row.id as bigint,
    petId: row[`${prefix}pet_id`] as bigint,
    quantity: Number(row[`${prefix}quantity`]),
    shipDate: Number(row[`${prefix}ship_date`]),
    complete: row[`${prefix}complete`] as boolean,
  }),
  compare: (where, mayBeFresh) => `
    INSERT INTO differing
    SELECT sorted.id, line, orders.id IS NULL, ${mayBeFresh} AND orders.id IS NULL, sorted.pet_id, sorted.quantity, sorted.ship_date, sorted.complete,
      orders.pet_id, orders.quantity, orders.ship_date, orders.complete
    FROM sorted LEFT JOIN orders ON orders.id = sorted.id
    WHERE ${where} AND (orders.pet_id, orders.quantity, orders.ship_date, orders.complete)
      IS DISTINCT FROM (sorted.pet_id, sorted.quantity, sorted.ship_date, sorted.complete)`,
  locks: [
    `SELECT count(*) FROM (
      SELECT 1 FROM orders WHERE id IN (SELECT id FROM touched) ORDER BY id FOR UPDATE) AS locked`,
  ],
  additions: [writeOrders('is_new AND is_fresh = $3')],
  changes: [writeOrders('NOT is_new')],
}

function writeOrders(which: string): string {
  return `
    INSERT INTO orders (id, pet_id, quantity, ship_date, complete)
    SELECT id, pet_id, quantity, ship_date, complete FROM differing WHERE ${RANGE} AND ${which} ORDER BY id
    ON CONFLICT (id) DO UPDATE SET pet_id = excluded.pet_id, quantity = excluded.quantity,
      ship_date = excluded.ship_date, complete = excluded.complete`
}
