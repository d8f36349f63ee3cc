import type { StockedPet } from '../core/catalog/pet.ts'
import type { OrderRow } from '../core/orders/order.ts'
import { PET_STATUSES, type PetStatus } from '../core/stock/inventory.ts'
import type { Columns, SqlValue } from './sql.ts'

/** A row of the store, or of the temporary table `differing`. */
export type PlainRow = Readonly<Record<string, bigint | string | boolean | null>>

/** What an import of one kind of row has of its own. See ImportTables for the temporary tables. */
export interface ImportPlan<Value> {
  /** The columns beside `id`. */
  readonly columns: Columns
  /** The id, then the columns. */
  readonly bind: (value: Value) => SqlValue[]
  readonly toValue: (row: PlainRow, prefix: '' | 'old_') => Value
  /** Where the store has its rows, beside those of `sorted`; what tells whether it has one; and its columns. */
  readonly store: { readonly joins: string; readonly id: string; readonly columns: readonly string[] }
}

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
}

export const ORDER_PLAN: ImportPlan<OrderRow> = {
  columns: { pet_id: 'integer', quantity: 'integer', ship_date: 'integer', complete: 'boolean' },
  bind: (order) => [order.id, order.petId, order.quantity, order.shipDate ?? null, order.complete],
  toValue: (row, prefix) => ({
    id: integerIn(row, 'id'),
    petId: integerIn(row, `${prefix}pet_id`),
    quantity: Number(row[`${prefix}quantity`]),
    complete: Boolean(row[`${prefix}complete`]),
    ...(row[`${prefix}ship_date`] === null ? {} : { shipDate: Number(row[`${prefix}ship_date`]) }),
  }),
  store: {
    joins: 'LEFT JOIN orders ON orders.id = sorted.id',
    id: 'orders.id',
    // One that is neither open nor complete is not what a file can say.
    columns: [
      ...['orders.pet_id', 'orders.quantity', 'orders.ship_date'],
      "CASE orders.state WHEN 'open' THEN false WHEN 'complete' THEN true END",
    ],
  },
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
