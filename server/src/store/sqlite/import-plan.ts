import type { SQLQueryBindings } from 'bun:sqlite'
import type { StockedPet } from '../../core/catalog/pet.ts'
import type { Order } from '../../core/orders/order.ts'
import type { PetStatus } from '../../core/stock/inventory.ts'

/** A row of the temporary table `differing`. */
export type DifferingRow = Readonly<Record<string, bigint | string | null>>

/** What an import of one kind of row has of its own. See SqliteStagedImport for the temporary tables. */
export interface ImportPlan<Value> {
  /** The columns beside `id`. */
  readonly columns: readonly string[]
  /** The id, then the columns. */
  readonly bind: (value: Value) => SQLQueryBindings[]
  readonly toValue: (row: DifferingRow, prefix: '' | 'old_') => Value
  /** Fills `differing` with those rows of `sorted` that are not in the store as they are; `where` narrows them. */
  readonly compare: (where: string) => string
  /** These write what is in `differing` with ids from ?1 to ?2. */
  readonly writes: readonly string[]
  /** Where there is none, only imports write this kind of row, and nobody follows it. */
  readonly log?: {
    /** Records the quantities that change among these, by whom (?4) and when (?3), behind the row ?5 of the log; */
    readonly changes: string
    /** and makes them what was recorded behind the row ?1. */
    readonly quantities: string
    /** Fills `touched` with the ids that were logged after ?1. */
    readonly touched: string
    /** Records in the end, behind the row ?3, what else is new: an entry for each pet, or one row that says so. */
    readonly entries: string
    readonly relist: string
    /** How many entries there would be. */
    readonly countEntries: string
    /** Lets the stock name what was recorded of it behind the row ?1. */
    readonly lastChanges: string
  }
}

/** With more pets than this added or changed, the log says so in one row: all of the stock is to be read again. */
export const MAX_LOGGED = 1_000
const RANGE = 'id BETWEEN ?1 AND ?2'
const OTHER_PET = '(old_name, old_category_id) IS NOT (name, category_id)'
// A new name is logged as well, though it is no change of the stock: another import may be comparing just now.
const TO_BE_LOGGED = `(is_new OR old_status <> differing.status OR ${OTHER_PET})`

export const PET_PLAN: ImportPlan<StockedPet> = {
  columns: ['name', 'category_id', 'status', 'quantity'],
  bind: (pet) => [pet.id, pet.name, pet.categoryId, pet.status, pet.quantity],
  toValue: (row, prefix) => ({
    id: row.id as bigint,
    name: row[`${prefix}name`] as string,
    categoryId: row[`${prefix}category_id`] as bigint,
    status: row[`${prefix}status`] as PetStatus,
    quantity: Number(row[`${prefix}quantity`]),
  }),
  compare: (where) => `
    INSERT INTO differing
    SELECT sorted.id, line, stock.pet_id IS NULL, sorted.name, sorted.category_id, sorted.status, sorted.quantity,
      pets.name, pets.category_id, stock.status, stock.quantity
    FROM sorted LEFT JOIN pets ON pets.id = sorted.id LEFT JOIN stock ON stock.pet_id = sorted.id
    WHERE ${where} AND (pets.name, pets.category_id, stock.status, stock.quantity)
      IS NOT (sorted.name, sorted.category_id, sorted.status, sorted.quantity)
    ORDER BY sorted.id`,
  writes: [
    `INSERT INTO pets (id, name, category_id)
    SELECT id, name, category_id FROM differing WHERE ${RANGE} AND ${OTHER_PET}
    ON CONFLICT DO UPDATE SET name = excluded.name, category_id = excluded.category_id`,
    // A pet that was removed and comes back goes on with its history.
    `INSERT INTO stock (pet_id, quantity, status, last_change)
    SELECT id, quantity, status, (SELECT max(log.id) FROM log WHERE pet_id = differing.id AND kind <> 'change')
    FROM differing WHERE ${RANGE} AND is_new`,
    `UPDATE stock SET status = differing.status FROM differing
    WHERE ${RANGE} AND old_status <> differing.status AND stock.pet_id = id`,
  ],
  log: {
    changes: `
      INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous)
      SELECT ?5 + row_number() OVER (ORDER BY id), 'change', id, old_quantity, differing.quantity, differing.status,
        ?3, ?4, last_change
      FROM differing JOIN stock ON pet_id = id WHERE ${RANGE} AND old_quantity <> differing.quantity`,
    quantities: `
      UPDATE stock SET quantity = after, last_change = log.id FROM log
      WHERE log.id > ?1 AND kind = 'change' AND stock.pet_id = log.pet_id`,
    touched: 'INSERT INTO touched SELECT DISTINCT pet_id FROM log WHERE id > ?1',
    entries: `
      INSERT INTO log (id, kind, pet_id, after, status, at, key_id, previous)
      SELECT ?3 + row_number() OVER (ORDER BY id), iif(is_new OR old_status <> differing.status, 'entry', 'renamed'), id,
        differing.quantity, differing.status, ?1, ?2, last_change
      FROM differing JOIN stock ON pet_id = id WHERE ${TO_BE_LOGGED}`,
    relist: `INSERT INTO log (id, kind, at, key_id) VALUES (?3 + 1, 'relist', ?1, ?2)`,
    countEntries: `SELECT count(*) AS rows FROM (SELECT 1 FROM differing WHERE ${TO_BE_LOGGED} LIMIT ${MAX_LOGGED + 1})`,
    lastChanges: `
      UPDATE stock SET last_change = log.id FROM log
      WHERE log.id > ?1 AND kind <> 'change' AND stock.pet_id = log.pet_id`,
  },
}

export const ORDER_PLAN: ImportPlan<Order> = {
  columns: ['pet_id', 'quantity', 'ship_date', 'complete'],
  bind: (order) => [order.id, order.petId, order.quantity, order.shipDate, order.complete ? 1 : 0],
  toValue: (row, prefix) => ({
    id: row.id as bigint,
    petId: row[`${prefix}pet_id`] as bigint,
    quantity: Number(row[`${prefix}quantity`]),
    shipDate: Number(row[`${prefix}ship_date`]),
    complete: row[`${prefix}complete`] === 1n,
  }),
  compare: (where) => `
    INSERT INTO differing
    SELECT sorted.id, line, orders.id IS NULL, sorted.pet_id, sorted.quantity, sorted.ship_date, sorted.complete,
      orders.pet_id, orders.quantity, orders.ship_date, orders.complete
    FROM sorted LEFT JOIN orders ON orders.id = sorted.id
    WHERE ${where} AND (orders.pet_id, orders.quantity, orders.ship_date, orders.complete)
      IS NOT (sorted.pet_id, sorted.quantity, sorted.ship_date, sorted.complete)
    ORDER BY sorted.id`,
  writes: [
    `INSERT INTO orders (id, pet_id, quantity, ship_date, complete)
    SELECT id, pet_id, quantity, ship_date, complete FROM differing WHERE ${RANGE}
    ON CONFLICT DO UPDATE SET pet_id = excluded.pet_id, quantity = excluded.quantity,
      ship_date = excluded.ship_date, complete = excluded.complete`,
  ],
}
