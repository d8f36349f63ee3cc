import type { SQL } from 'bun'
import type { Columns, SqlValue } from '../sql.ts'
import { DIALECT } from './dialect.ts'

type ElementType = 'BIGINT' | 'TEXT' | 'BOOLEAN'

/** One column of the rows as an array, so that one prepared statement takes any number of rows. */
export function arrayParameter<Row>(
  sql: Pick<SQL, 'array'>,
  rows: readonly Row[],
  type: ElementType,
  pick: (row: Row) => bigint | number | string | boolean | null | undefined,
) {
  return sql.array(
    rows.map((row) => pick(row) ?? null),
    type,
  )
}

/** Always the same type: Bun would send a small number as another type, which needs another plan. */
export function toParameter(value: SqlValue): bigint | string | boolean | null {
  return typeof value === 'number' ? BigInt(value) : value
}

/** The parameters for `columnArrays`, from `$first` on: `$1::BIGINT[],$2::TEXT[]`. */
export function arrayParameters(columns: Columns, first = 1): string {
  return Object.values(columns)
    .map((type, index) => `$${first + index}::${DIALECT.types[type]}[]`)
    .join()
}

/** An array for each column. The values of a row are in the order of the columns. */
export function columnArrays(columns: Columns, rows: readonly (readonly SqlValue[])[]): string[] {
  return Object.keys(columns).map((_, index) => arrayText(rows, (row) => elementOf(row[index] ?? null)))
}

function elementOf(value: SqlValue): bigint | number | string | null | undefined {
  if (typeof value === 'string') return quotedElement(value)
  if (typeof value === 'boolean') return value ? 't' : 'f'
  return value
}

/** An array in PostgreSQL's text format. Bun's own arrays take several times as long. */
export function arrayText<Row>(
  rows: readonly Row[],
  pick: (row: Row) => bigint | number | string | null | undefined,
): string {
  return `{${rows.map((row) => pick(row) ?? 'NULL').join()}}`
}

export function quotedElement(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
