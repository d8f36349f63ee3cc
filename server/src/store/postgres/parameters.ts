import type { SQL } from 'bun'
import type { SqlValue } from '../sql.ts'

type ElementType = 'BIGINT' | 'TEXT' | 'BOOLEAN'

/** One column of the rows as an array parameter: one prepared statement then takes any number of rows. */
export function columnOf<Row>(
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

/** An array in PostgreSQL's text format. Bun's own arrays take several times as long. */
export function arrayOf<Row>(
  rows: readonly Row[],
  pick: (row: Row) => bigint | number | string | null | undefined,
): string {
  return `{${rows.map((row) => pick(row) ?? 'NULL').join()}}`
}

export function quoted(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
