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
