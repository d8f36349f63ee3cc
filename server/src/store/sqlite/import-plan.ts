import type { Database, SQLQueryBindings } from 'bun:sqlite'
import type { StockedPet } from '../../core/catalog/pet.ts'
import type { Order } from '../../core/orders/order.ts'
import type { PetStatus } from '../../core/stock/inventory.ts'
import { HISTORY_END } from './log-end.ts'

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
  /** Both write what is in `differing` with ids from ?1 to ?2; the history, last, knows ?3, when, and ?4, by whom. */
  readonly history?: string
  readonly writes: readonly string[]
  /** Where there is no log, only imports write this kind of row. */
  readonly log?: {
    readonly end: string
    /** Fills `touched` with the ids that were logged after ?1 and ?2. */
    readonly touched: string
    readonly record: (database: Database) => void
  }
}

/** With more pets than this added or changed, the log says so in one row: all of the stock is to be read again. */
const MOST_LOGGED = 1_000
const RANGE = 'id BETWEEN ?1 AND ?2'
const OTHER_PET = '(old_name, old_category_id) IS NOT (name, category_id)'
// A new name is logged as well, though it is no change of the stock: another import may be comparing just now.
const TO_BE_LOGGED = `(is_new OR old_status <> status OR ${OTHER_PET})`
const LOGGED_KIND = "iif(is_new OR old_status <> status, 'entry', 'renamed')"

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
  // A pet that was removed goes on with its history, so the quantity before is the last one in there.
  compare: (where) => `
    INSERT INTO differing
    SELECT sorted.id, line, stock.pet_id IS NULL, sorted.name, sorted.category_id, sorted.status, sorted.quantity,
      pets.name, pets.category_id, stock.status, coalesce(late.after, stock.quantity,
        (SELECT after FROM removed_stock JOIN history ON history.id = last_change
          WHERE removed_stock.pet_id = sorted.id))
    FROM sorted LEFT JOIN pets ON pets.id = sorted.id LEFT JOIN settled_stock AS stock ON stock.pet_id = sorted.id
    LEFT JOIN late_changes AS late ON late.pet_id = stock.pet_id
    WHERE ${where} AND (pets.name, pets.category_id, stock.status, coalesce(late.after, stock.quantity))
      IS NOT (sorted.name, sorted.category_id, sorted.status, sorted.quantity)
    ORDER BY sorted.id`,
  history: `
    INSERT INTO history (pet_id, before, after, at, key_id, status, previous)
    SELECT id, old_quantity, differing.quantity, ?3, ?4, differing.status, last_change
    FROM differing JOIN settled_stock ON pet_id = id WHERE ${RANGE} AND old_quantity <> differing.quantity
    ORDER BY id`,
  writes: [
    `INSERT INTO pets (id, name, category_id)
    SELECT id, name, category_id FROM differing WHERE ${RANGE} AND ${OTHER_PET}
    ON CONFLICT DO UPDATE SET name = excluded.name, category_id = excluded.category_id`,
    `INSERT INTO settled_stock (pet_id, quantity, status, last_change)
    SELECT id, quantity, status, last_change
    FROM differing LEFT JOIN removed_stock ON removed_stock.pet_id = id WHERE ${RANGE} AND is_new`,
    // Of those that were there, the quantity changes by its history row.
    `UPDATE settled_stock SET status = differing.status FROM differing
    WHERE ${RANGE} AND old_status <> differing.status AND settled_stock.pet_id = id`,
  ],
  log: {
    end: `SELECT coalesce((SELECT max(id) FROM history), 0) AS history,
      coalesce((SELECT max(id) FROM stock_changes), 0) AS changes`,
    touched: `INSERT INTO touched
      SELECT pet_id FROM history WHERE id > ?1 UNION SELECT pet_id FROM stock_changes WHERE id > ?2`,
    record: (database) => {
      const logged = `FROM differing WHERE ${TO_BE_LOGGED} LIMIT ${MOST_LOGGED + 1}`
      const row = database
        .query<{ pets: bigint }, []>(`SELECT count(*) AS pets FROM (SELECT 1 ${logged})`)
        .get()
      const isMany = Number(row?.pets ?? 0) > MOST_LOGGED
      const rows = isMany
        ? `VALUES (${HISTORY_END}, 'relist', NULL, NULL, NULL)`
        : `SELECT ${HISTORY_END}, ${LOGGED_KIND}, id, quantity, status ${logged}`
      database.run(`INSERT INTO stock_changes (after_history, kind, pet_id, quantity, status) ${rows}`)
    },
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
