import type { Connection } from './connection.ts'

/** Rows read before others get a turn. */
const BATCH = 5_000

/** What the rows are made into, batch by batch. The reader is in a transaction, so all are of one moment. */
export async function* inBatches<Row, Value>(
  reader: Connection,
  rows: Iterator<Row>,
  toValue: (row: Row) => Value,
): AsyncGenerator<Value[]> {
  for (;;) {
    const batch = await reader.read(() => nextBatch(rows, toValue))
    if (batch.length > 0) yield batch
    if (batch.length < BATCH) return
    await new Promise((resume) => setImmediate(resume))
  }
}

function nextBatch<Row, Value>(rows: Iterator<Row>, toValue: (row: Row) => Value): Value[] {
  const values: Value[] = []
  while (values.length < BATCH) {
    const { value, done } = rows.next()
    if (done === true) break
    values.push(toValue(value))
  }
  return values
}
