import type { ImportedCategory } from '../core/catalog/category.ts'
import { nameWords } from '../core/catalog/name-words.ts'
import type { ImportedPet } from '../core/catalog/pet.ts'
import type { OrderRow } from '../core/orders/order.ts'
import { PET_STATUSES, type PetStatus } from '../core/stock/inventory.ts'
import type { StagingPlan } from './import-staging.ts'

/** A row of the store, or of the temporary table `differing`. */
export type PlainRow = Readonly<Record<string, bigint | string | boolean | null>>

/** What an import of one kind of row has of its own. See ImportTables for the temporary tables. */
export interface ImportPlan<Value> extends StagingPlan<Value> {
  readonly toValue: (row: PlainRow, prefix: '' | 'old_') => Value
  /** Where the store has its rows, beside those of `sorted`; what tells whether it has one; and its columns. */
  readonly store: { readonly joins: string; readonly id: string; readonly columns: readonly string[] }
  /** What a column of the file comes to, where that is not simply what stands there. */
  readonly given?: Readonly<Record<string, string>>
}

/** Stand in a staged row for what is to be taken away; null: it stays as it is. */
const NO_BARCODE = ''
const NO_THRESHOLD = -1

const boundThreshold = (lowStockAt: number | null | undefined) =>
  lowStockAt === null ? NO_THRESHOLD : (lowStockAt ?? null)

/** What a staged threshold comes to beside that of `table`. */
const givenThreshold = (table: 'pets' | 'categories') =>
  `CASE WHEN sorted.low_stock_at IS NULL THEN ${table}.low_stock_at ELSE nullif(sorted.low_stock_at, ${NO_THRESHOLD}) END`

export const PET_PLAN: ImportPlan<ImportedPet> = {
  columns: {
    ...{ name: 'text', words: 'text', category_id: 'integer', status: 'text', quantity: 'integer' },
    ...{ barcode: 'text', low_stock_at: 'integer' },
  },
  bind: ({ id, name, categoryId, status, quantity, barcode, lowStockAt }) => [
    ...[id, name, nameWords(name), categoryId, status, quantity],
    ...[barcode === null ? NO_BARCODE : (barcode ?? null), boundThreshold(lowStockAt)],
  ],
  toValue: (row, prefix) => ({
    id: integerIn(row, 'id'),
    name: textIn(row, `${prefix}name`),
    categoryId: integerIn(row, `${prefix}category_id`),
    status: statusIn(row, `${prefix}status`),
    quantity: Number(row[`${prefix}quantity`]),
    barcode: row[`${prefix}barcode`] === null ? null : textIn(row, `${prefix}barcode`),
    lowStockAt: thresholdIn(row, `${prefix}low_stock_at`),
  }),
  store: {
    joins: 'LEFT JOIN pets ON pets.id = sorted.id LEFT JOIN stock ON stock.pet_id = sorted.id',
    id: 'stock.pet_id',
    columns: [
      ...['pets.name', 'pets.words', 'pets.category_id', 'stock.status', 'stock.quantity'],
      ...['pets.barcode', 'pets.low_stock_at'],
    ],
  },
  given: {
    barcode: `CASE WHEN sorted.barcode IS NULL THEN pets.barcode ELSE nullif(sorted.barcode, '${NO_BARCODE}') END`,
    low_stock_at: givenThreshold('pets'),
  },
}

export const CATEGORY_PLAN: ImportPlan<ImportedCategory> = {
  columns: { name: 'text', low_stock_at: 'integer' },
  bind: ({ id, name, lowStockAt }) => [id, name, boundThreshold(lowStockAt)],
  toValue: (row, prefix) => ({
    id: integerIn(row, 'id'),
    name: textIn(row, `${prefix}name`),
    lowStockAt: thresholdIn(row, `${prefix}low_stock_at`),
  }),
  store: {
    joins: 'LEFT JOIN categories ON categories.id = sorted.id',
    id: 'categories.id',
    columns: ['categories.name', 'categories.low_stock_at'],
  },
  given: { low_stock_at: givenThreshold('categories') },
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

function thresholdIn(row: PlainRow, column: string): number | null {
  return row[column] === null ? null : Number(integerIn(row, column))
}

function statusIn(row: PlainRow, column: string): PetStatus {
  const status = PET_STATUSES.find((one) => one === row[column])
  if (status === undefined) throw new Error(`${column} is no status: ${row[column]}`)
  return status
}
