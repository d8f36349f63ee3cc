import { EXPECTED_BARCODE, EXPECTED_NAME, isBarcode, isName } from '../catalog/catalog-rules.ts'
import type { ImportedCategory } from '../catalog/category.ts'
import type { ImportedPet } from '../catalog/pet.ts'
import type { OrderRow } from '../orders/order.ts'
import { MAX_QUANTITY, PET_STATUSES } from '../stock/inventory.ts'
import { parseInt64 } from '../values/int64.ts'
import { parseDateTime } from '../values/rfc3339.ts'

/** Why a line cannot be taken; written for the one who mends the file. */
export class BadRow extends Error {
  override readonly name = 'BadRow'
}

/** What `read` makes of a line, or the reason where it throws `BadRow`. */
export function rowOrReason<Row>(line: number, read: () => Row): Row | RefusedLine {
  try {
    return read()
  } catch (error) {
    if (error instanceof BadRow) return { line, reason: error.message }
    throw error
  }
}

export interface RefusedLine {
  readonly line: number
  readonly reason: string
}

/** What a row has in one column: nothing where it is without the column, which is not the same as a blank in it. */
export type Field = string | undefined

/** One row of a file: its fields in the order of the columns, or why there are none to be had. */
export type RawRow = { readonly line: number; readonly fields: readonly Field[] } | RefusedLine

/** Makes rows out of the lines of a file as they come; `isEnd` where there will be no more. */
export type ReadLines = (lines: readonly string[], isEnd: boolean) => RawRow[]

/**
 * Far more than any good row needs. A longer line is cut, so that a file without line ends (or a quote that is
 * never closed) does not end up in memory as a whole.
 */
export const MAX_LINE_LENGTH = 8_192
export const TOO_LONG = `is longer than ${MAX_LINE_LENGTH} characters`

/** One field of a row, as text in CSV and as this type in JSON. */
export interface Column<Value = unknown> {
  readonly name: string
  readonly json: 'number' | 'string' | 'boolean'
  readonly expected: string
  readonly read: (text: string) => Value | undefined
  /** A file may do without it, and a row may leave it blank, or have null in JSON. */
  readonly isOptional?: true
}

/** How one kind of row is read. Its fields stand in the order of its columns. */
export interface RowReader<Value> {
  readonly noun: string
  readonly columns: readonly Column[]
  /** Throws `BadRow`. */
  readonly read: (fields: readonly Field[]) => Value
}

export interface RowKind<Value> extends RowReader<Value> {
  readonly plural: string
  readonly write: (value: Value) => Field[]
}

/** `petId,name,categoryId,status,quantity` */
export function headerOf(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(',')
}

const INT64 = 'an integer from -9223372036854775808 to 9223372036854775807 in plain digits'

const id = (name: string): Column<bigint> => ({ name, json: 'number', expected: INT64, read: parseInt64 })

export const PET_ID = id('petId')
const CATEGORY_ID = id('categoryId')
const ID = id('id')
const NAME: Column<string> = {
  name: 'name',
  json: 'string',
  expected: EXPECTED_NAME,
  read: (text) => (isName(text) ? text : undefined),
}
const STATUS: Column<ImportedPet['status']> = {
  name: 'status',
  json: 'string',
  expected: `one of ${PET_STATUSES.join(', ')}`,
  read: (text) => PET_STATUSES.find((status) => status === text),
}
export const QUANTITY: Column<number> = {
  name: 'quantity',
  json: 'number',
  expected: `an integer from 0 to ${MAX_QUANTITY}`,
  read: parseQuantity,
}
const BARCODE: Column<string> = {
  name: 'barcode',
  json: 'string',
  expected: EXPECTED_BARCODE,
  isOptional: true,
  read: (text) => (isBarcode(text) ? text : undefined),
}
const LOW_STOCK_AT: Column<number> = { ...QUANTITY, name: 'lowStockAt', isOptional: true }
const SHIP_DATE: Column<number> = {
  name: 'shipDate',
  json: 'string',
  expected: 'a date and time with its zone such as 2026-09-01T10:00:00Z',
  isOptional: true,
  read: parseDateTime,
}
const COMPLETE: Column<boolean> = {
  name: 'complete',
  json: 'boolean',
  expected: 'true or false',
  read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

export const PET_ROWS: RowKind<ImportedPet> = {
  ...{ noun: 'pet', plural: 'pets' },
  columns: [PET_ID, NAME, CATEGORY_ID, STATUS, QUANTITY, BARCODE, LOW_STOCK_AT],
  read: ([petId, name, categoryId, status, quantity, barcode, lowStockAt]) => {
    const pet = {
      id: required(PET_ID, petId),
      name: required(NAME, name),
      categoryId: required(CATEGORY_ID, categoryId),
      status: required(STATUS, status),
      quantity: required(QUANTITY, quantity),
    }
    // Most files have neither.
    if (barcode === undefined && lowStockAt === undefined) return pet
    return {
      ...pet,
      ...(barcode === undefined ? {} : { barcode: valueOrNull(BARCODE, barcode) }),
      ...(lowStockAt === undefined ? {} : { lowStockAt: valueOrNull(LOW_STOCK_AT, lowStockAt) }),
    }
  },
  write: (pet) => [
    ...[String(pet.id), pet.name, String(pet.categoryId), pet.status, String(pet.quantity)],
    ...[fieldOf(pet.barcode), fieldOf(pet.lowStockAt)],
  ],
}

export const CATEGORY_ROWS: RowKind<ImportedCategory> = {
  ...{ noun: 'category', plural: 'categories' },
  columns: [ID, NAME, LOW_STOCK_AT],
  read: ([categoryId, name, lowStockAt]) => ({
    id: required(ID, categoryId),
    name: required(NAME, name),
    ...(lowStockAt === undefined ? {} : { lowStockAt: valueOrNull(LOW_STOCK_AT, lowStockAt) }),
  }),
  write: (category) => [String(category.id), category.name, fieldOf(category.lowStockAt)],
}

export const ORDER_ROWS: RowKind<OrderRow> = {
  ...{ noun: 'order', plural: 'orders' },
  columns: [ID, PET_ID, QUANTITY, SHIP_DATE, COMPLETE],
  read: ([orderId, petId, quantity, shipDate, complete]) => ({
    id: required(ID, orderId),
    petId: required(PET_ID, petId),
    quantity: required(QUANTITY, quantity),
    complete: required(COMPLETE, complete),
    ...(shipDate ? { shipDate: required(SHIP_DATE, shipDate) } : {}),
  }),
  write: (order) => [
    String(order.id),
    String(order.petId),
    String(order.quantity),
    order.shipDate === undefined ? '' : new Date(order.shipDate).toISOString(),
    String(order.complete),
  ],
}

export function required<Value>(column: Column<Value>, text = ''): Value {
  const value = column.read(text)
  if (value === undefined) {
    throw new BadRow(`${column.name} must be ${column.expected}, got ${quoted(text)}`)
  }
  return value
}

/** A blank takes away what there was. */
function valueOrNull<Value>(column: Column<Value>, text: string): Value | null {
  return text === '' ? null : required(column, text)
}

function fieldOf(value: string | number | null | undefined): Field {
  return value === undefined ? undefined : String(value ?? '')
}

/** What was given, on one line and not too long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

function parseQuantity(text: string): number | undefined {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return undefined
  const value = Number(text)
  return value <= MAX_QUANTITY ? value : undefined
}
