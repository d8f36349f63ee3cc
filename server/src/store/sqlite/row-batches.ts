import type { SQLQueryBindings } from 'bun:sqlite'
import type { SqlValue } from '../sql.ts'

/** Rows read before others get a turn. */
export const BATCH = 5_000

export function nextBatch<Row>(rows: Iterator<Row>): Row[] {
  const batch: Row[] = []
  while (batch.length < BATCH) {
    const { value, done } = rows.next()
    if (done === true) break
    batch.push(value)
  }
  return batch
}

export function bound(value: SqlValue): SQLQueryBindings {
  return typeof value === 'boolean' ? Number(value) : value
}
