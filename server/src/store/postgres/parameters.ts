import type { SQL } from 'bun'
import type { SqlValue } from '../sql.ts'

type ElementType = 'BIGINT' | 'TEXT' | 'BOOLEAN'

/** Rows turned into one array for each column: a statement then takes any number of rows, prepared once. */
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

/** Of one type, whatever the value: a number that happens to be small would be another, and another plan. */
export function bound(value: SqlValue): bigint | string | boolean | null {
  return typeof value === 'number' ? BigInt(value) : value
}

/** In PostgreSQL's own words: what Bun makes of an array takes several times as long. */
export function arrayOf<Row>(
  rows: readonly Row[],
  pick: (row: Row) => bigint | number | string | null | undefined,
): string {
  return `{${rows.map((row) => pick(row) ?? 'NULL').join()}}`
}

export function quoted(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
