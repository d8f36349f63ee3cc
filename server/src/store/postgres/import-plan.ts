import type { PetStatus } from '../../core/inventory.ts'
import type { Order } from '../../core/order.ts'
import type { StockedPet } from '../../core/pet.ts'

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
  /** Fills `differing` with those rows of `sorted` that are not in the store as they are; `where` narrows them. */
  readonly compare: (where: string) => string
  /** Locks those rows of the store that are in `touched`, in the order of their ids. */
  readonly lock: string
  /** All of these write what is in `differing` with ids from $1 to $2. The history knows $3, when, and $4, by whom. */
  readonly history?: string
  readonly writes: readonly string[]
  /** Tells those who keep up with the stock. */
  readonly log?: string
}

/** With more pets than this added or changed, the log says so in one row: all of the stock is to be read again. */
const MOST_LOGGED = 1_000
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
  // A pet that was removed goes on with its history, so the quantity before is the last one in there.
  compare: (where) => `
    INSERT INTO differing
    SELECT sorted.id, line, stock.pet_id IS NULL, sorted.name, sorted.category_id, sorted.status, sorted.quantity,
      pets.name, pets.category_id, stock.status, coalesce(stock.quantity,
        (SELECT after FROM history WHERE history.pet_id = sorted.id ORDER BY history.id DESC LIMIT 1))
    FROM sorted LEFT JOIN pets ON pets.id = sorted.id LEFT JOIN stock ON stock.pet_id = sorted.id
    WHERE ${where} AND (pets.name, pets.category_id, stock.status, stock.quantity)
      IS DISTINCT FROM (sorted.name, sorted.category_id, sorted.status, sorted.quantity)`,
  lock: `SELECT count(*) FROM (
    SELECT 1 FROM stock WHERE pet_id IN (SELECT id FROM touched) ORDER BY pet_id FOR UPDATE) AS locked`,
  history: `
    INSERT INTO history (pet_id, before, after, at, key_id, status)
    SELECT id, old_quantity, quantity, $3::bigint, $4, status FROM differing
    WHERE ${RANGE} AND old_quantity <> quantity ORDER BY id`,
  // Apart, since an INSERT that looks out for conflicts takes a third longer. There are none: one import at a time.
  writes: [
    `INSERT INTO pets (id, name, category_id)
    SELECT id, name, category_id FROM differing WHERE ${RANGE} AND old_name IS NULL ORDER BY id`,
    `UPDATE pets SET name = now.name, category_id = now.category_id FROM differing AS now
    WHERE pets.id = now.id AND now.${RANGE} AND old_name IS NOT NULL AND
      (old_name, old_category_id) IS DISTINCT FROM (now.name, now.category_id)`,
    `INSERT INTO stock (pet_id, quantity, status)
    SELECT id, quantity, status FROM differing WHERE ${RANGE} AND is_new ORDER BY id`,
    `UPDATE stock SET quantity = now.quantity, status = now.status FROM differing AS now
    WHERE stock.pet_id = now.id AND now.${RANGE} AND NOT is_new AND
      (old_status <> now.status OR old_quantity <> now.quantity)`,
  ],
  log: `
    WITH logged AS MATERIALIZED (
      SELECT CASE WHEN is_new OR old_status <> status THEN 'entry' ELSE 'renamed' END, id, quantity, status
      FROM differing WHERE is_new OR old_status <> status OR ${OTHER_PET} LIMIT ${MOST_LOGGED + 1}
    ), size AS (SELECT count(*) AS rows FROM logged)
    INSERT INTO stock_changes (kind, pet_id, quantity, status)
    SELECT logged.* FROM logged, size WHERE rows <= ${MOST_LOGGED}
    UNION ALL SELECT 'relist', NULL, NULL, NULL FROM size WHERE rows > ${MOST_LOGGED}`,
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
  compare: (where) => `
    INSERT INTO differing
    SELECT sorted.id, line, orders.id IS NULL, sorted.pet_id, sorted.quantity, sorted.ship_date, sorted.complete,
      orders.pet_id, orders.quantity, orders.ship_date, orders.complete
    FROM sorted LEFT JOIN orders ON orders.id = sorted.id
    WHERE ${where} AND (orders.pet_id, orders.quantity, orders.ship_date, orders.complete)
      IS DISTINCT FROM (sorted.pet_id, sorted.quantity, sorted.ship_date, sorted.complete)`,
  lock: `SELECT count(*) FROM (
    SELECT 1 FROM orders WHERE id IN (SELECT id FROM touched) ORDER BY id FOR UPDATE) AS locked`,
  writes: [
    `INSERT INTO orders (id, pet_id, quantity, ship_date, complete)
    SELECT id, pet_id, quantity, ship_date, complete FROM differing WHERE ${RANGE} ORDER BY id
    ON CONFLICT (id) DO UPDATE SET pet_id = excluded.pet_id, quantity = excluded.quantity,
      ship_date = excluded.ship_date, complete = excluded.complete`,
  ],
}
