import type { StockedPet } from '../catalog/pet.ts'
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

/** One row of a file: its fields in the order of the columns, or why there are none to be had. */
export type RawRow = { readonly line: number; readonly fields: readonly string[] } | RefusedLine

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
  /** Whether it may be empty in CSV, and null or absent in JSON. */
  readonly isOptional?: true
  readonly read: (text: string) => Value | undefined
}

/** How one kind of row looks in a file. Its fields stand in the order of its columns. */
export interface RowKind<Value> {
  readonly noun: string
  readonly columns: readonly Column[]
  /** Throws `BadRow`. */
  readonly read: (fields: readonly string[]) => Value
  readonly write: (value: Value) => string[]
}

/** `petId,name,categoryId,status,quantity` */
export function headerOf(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(',')
}

const MAX_NAME_LENGTH = 200

const INT64 = 'an integer from -9223372036854775808 to 9223372036854775807 in plain digits'

const id = (name: string): Column<bigint> => ({ name, json: 'number', expected: INT64, read: parseInt64 })

const PET_ID = id('petId')
const CATEGORY_ID = id('categoryId')
const ORDER_ID = id('id')
const NAME: Column<string> = {
  name: 'name',
  json: 'string',
  expected: `1 to ${MAX_NAME_LENGTH} characters of UTF-8 text that are not all blank`,
  read: (text) => (isName(text) ? text : undefined),
}
const STATUS: Column<StockedPet['status']> = {
  name: 'status',
  json: 'string',
  expected: `one of ${PET_STATUSES.join(', ')}`,
  read: (text) => PET_STATUSES.find((status) => status === text),
}
const QUANTITY: Column<number> = {
  name: 'quantity',
  json: 'number',
  expected: `an integer from 0 to ${MAX_QUANTITY}`,
  read: parseQuantity,
}
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

export const PET_ROWS: RowKind<StockedPet> = {
  noun: 'pet',
  columns: [PET_ID, NAME, CATEGORY_ID, STATUS, QUANTITY],
  read: ([petId, name, categoryId, status, quantity]) => ({
    id: required(PET_ID, petId),
    name: required(NAME, name),
    categoryId: required(CATEGORY_ID, categoryId),
    status: required(STATUS, status),
    quantity: required(QUANTITY, quantity),
  }),
  write: (pet) => [String(pet.id), pet.name, String(pet.categoryId), pet.status, String(pet.quantity)],
}

export const ORDER_ROWS: RowKind<OrderRow> = {
  noun: 'order',
  columns: [ORDER_ID, PET_ID, QUANTITY, SHIP_DATE, COMPLETE],
  read: ([orderId, petId, quantity, shipDate, complete]) => ({
    id: required(ORDER_ID, orderId),
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

function required<Value>(column: Column<Value>, text = ''): Value {
  const value = column.read(text)
  if (value === undefined) {
    throw new BadRow(`${column.name} must be ${column.expected}, got ${quoted(text)}`)
  }
  return value
}

/** What was given, on one line and not too long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

/**
 * U+FFFD stands where bytes were not UTF-8: a file in another encoding is refused instead of spoilt. A lone
 * surrogate could not be written out again, and PostgreSQL cannot store U+0000.
 */
function isName(text: string): boolean {
  if (text.length > MAX_NAME_LENGTH && [...text].length > MAX_NAME_LENGTH) return false
  return text.trim() !== '' && !/[\0\ufffd]/.test(text) && text.isWellFormed()
}

function parseQuantity(text: string): number | undefined {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return undefined
  const value = Number(text)
  return value <= MAX_QUANTITY ? value : undefined
}
