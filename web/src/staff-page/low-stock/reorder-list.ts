import type { SearchRow } from '@petstore/client'

/** The suggestion covers this time at the current pace. */
const SUPPLY_DAYS = 28
const MAX_ORDER = 1_000_000

export interface ReorderLine {
  readonly row: Pick<SearchRow, 'petId' | 'name' | 'barcode' | 'lowStockAt'>
  readonly category: string
  readonly free: number
  readonly soldPerDay: number
  /** The units to order; `undefined` if the field does not have a whole number. */
  readonly order: number | undefined
}

/** What sells in 4 weeks, plus the level of the warning, minus what is free; at least enough to end the warning. */
export function suggestedOrder(free: number, lowStockAt: number | undefined, soldPerDay: number): number {
  const forSales = Math.ceil(soldPerDay * SUPPLY_DAYS + (lowStockAt ?? 0) - free)
  const toEndWarning = lowStockAt === undefined ? 0 : lowStockAt + 1 - free
  return Math.max(0, forSales, toEndWarning)
}

/** The units in a field; `undefined` if it is not a whole number of 0 or more. */
export function orderOf(text: string): number | undefined {
  const units = /^\d{1,7}$/.test(text.trim()) ? Number(text) : undefined
  return units !== undefined && units <= MAX_ORDER ? units : undefined
}

const HEADER = ['Pet id', 'Name', 'Barcode', 'Category', 'Free', 'Warn me at', 'Sold in 4 weeks', 'Order']

/** RFC 4180. Lines with nothing to order are left out. */
export function reorderCsv(lines: readonly ReorderLine[]): string {
  const table = lines
    .filter(({ order }) => order !== undefined && order > 0)
    .map(({ row, category, free, soldPerDay, order }) => [
      String(row.petId),
      textCell(row.name),
      barcodeCell(row.barcode),
      textCell(category),
      String(free),
      String(row.lowStockAt ?? ''),
      String(Math.round(soldPerDay * SUPPLY_DAYS)),
      String(order),
    ])
  return [HEADER, ...table].map((cells) => `${cells.map(quoted).join(',')}\r\n`).join('')
}

/** Spreadsheets would run a cell that begins with one of these characters as a formula. */
function textCell(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

/** Spreadsheets would turn the digits into a number such as 2E+12. */
function barcodeCell(barcode: string | undefined): string {
  return barcode === undefined ? '' : `'${barcode}`
}

function quoted(cell: string): string {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
