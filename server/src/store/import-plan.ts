import type { StockedPet } from '../core/catalog/pet.ts'
import type { Order } from '../core/orders/order.ts'
import { PET_STATUSES, type PetStatus } from '../core/stock/inventory.ts'
import type { StagingPlan } from './import-staging.ts'

/** A row of the store, or of the temporary table `differing`. */
export type PlainRow = Readonly<Record<string, bigint | string | boolean | null>>

/** What an import of one kind of row has of its own. See ImportTables for the temporary tables. */
export interface ImportPlan<Value> extends StagingPlan<Value> {
  readonly toValue: (row: PlainRow, prefix: '' | 'old_') => Value
  /** Where the store has its rows, beside those of `sorted`; what tells whether it has one; and its columns. */
  readonly store: { readonly joins: string; readonly id: string; readonly columns: readonly string[] }
  /** Selects those rows of the store that others must not change meanwhile, of the ids in `touched`, in their order. */
  readonly toBeLocked: string
  /** These write what is in `differing` with ids from $1 to $2 for which `which` holds. */
  readonly writes: (which: string) => readonly string[]
  /** Whether the log tells of it. Where it does not, only imports write this kind of row, and nobody follows it. */
  readonly isLogged: boolean
}

export const LOCK_STOCK = 'SELECT 1 FROM stock WHERE pet_id IN (SELECT id FROM touched) ORDER BY pet_id'

export const PET_PLAN: ImportPlan<StockedPet> = {
  columns: { name: 'text', category_id: 'integer', status: 'text', quantity: 'integer' },
  bind: (pet) => [pet.id, pet.name, pet.categoryId, pet.status, pet.quantity],
  toValue: (row, prefix) => ({
    id: integerIn(row, 'id'),
    name: textIn(row, `${prefix}name`),
    categoryId: integerIn(row, `${prefix}category_id`),
    status: statusIn(row, `${prefix}status`),
    quantity: Number(row[`${prefix}quantity`]),
  }),
  store: {
    joins: 'LEFT JOIN pets ON pets.id = sorted.id LEFT JOIN stock ON stock.pet_id = sorted.id',
    id: 'stock.pet_id',
    columns: ['pets.name', 'pets.category_id', 'stock.status', 'stock.quantity'],
  },
  toBeLocked: LOCK_STOCK,
  writes: (which) => [
    `INSERT INTO pets (id, name, category_id)
    SELECT id, name, category_id FROM differing
    WHERE id BETWEEN $1 AND $2 AND ${which} AND (old_name, old_category_id) IS DISTINCT FROM (name, category_id)
    ORDER BY id
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, category_id = excluded.category_id`,
    // A pet that was removed and comes back goes on with its history.
    `INSERT INTO stock (pet_id, quantity, status, last_change)
    SELECT id, quantity, status, (SELECT max(log.id) FROM log WHERE pet_id = differing.id AND kind <> 'change')
    FROM differing WHERE id BETWEEN $1 AND $2 AND ${which} AND is_new ORDER BY id`,
    `UPDATE stock SET status = now.status FROM differing AS now
    WHERE now.id BETWEEN $1 AND $2 AND ${which} AND old_status <> now.status AND stock.pet_id = now.id`,
  ],
  isLogged: true,
}

export const ORDER_PLAN: ImportPlan<Order> = {
  columns: { pet_id: 'integer', quantity: 'integer', ship_date: 'integer', complete: 'boolean' },
  bind: (order) => [order.id, order.petId, order.quantity, order.shipDate, order.complete],
  toValue: (row, prefix) => ({
    id: integerIn(row, 'id'),
    petId: integerIn(row, `${prefix}pet_id`),
    quantity: Number(row[`${prefix}quantity`]),
    shipDate: Number(row[`${prefix}ship_date`]),
    complete: Boolean(row[`${prefix}complete`]),
  }),
  store: {
    joins: 'LEFT JOIN orders ON orders.id = sorted.id',
    id: 'orders.id',
    columns: ['orders.pet_id', 'orders.quantity', 'orders.ship_date', 'orders.complete'],
  },
  toBeLocked: 'SELECT 1 FROM orders WHERE id IN (SELECT id FROM touched) ORDER BY id',
  writes: (which) => [
    `INSERT INTO orders (id, pet_id, quantity, ship_date, complete)
    SELECT id, pet_id, quantity, ship_date, complete FROM differing
    WHERE id BETWEEN $1 AND $2 AND ${which} ORDER BY id
    ON CONFLICT (id) DO UPDATE SET pet_id = excluded.pet_id, quantity = excluded.quantity,
      ship_date = excluded.ship_date, complete = excluded.complete`,
  ],
  isLogged: false,
}

function integerIn(row: PlainRow, column: string): bigint {
  const value = row[column]
  if (typeof value !== 'bigint') throw new Error(`${column} is no integer: ${value}`)
  return value
}

function textIn(row: PlainRow, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new Error(`${column} is no text: ${value}`)
  return value
}

function statusIn(row: PlainRow, column: string): PetStatus {
  const status = PET_STATUSES.find((one) => one === row[column])
  if (status === undefined) throw new Error(`${column} is no status: ${row[column]}`)
  return status
}
