import type { SQL } from 'bun'

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
