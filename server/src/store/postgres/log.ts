import type { SQL } from 'bun'
import type { PetStatus } from '../../core/stock/inventory.ts'

/**
 * A place in the log of what happened to the stock, which is `history` and `stock_changes` together. Their ids are
 * taken from the one row of `log_head`, which stays locked until the commit: so whoever sees a row sees all before it,
 * and an id is a place. In another database than before (a fail-over, a restored dump) it may be the place of something
 * else; hence the time when the server started, and which table it is.
 */
export interface LogEnd {
  readonly position: number
  readonly database: string
}

/** Something that happened to a pet. A pet that is null: so much that all of the stock is to be read again. */
export interface LogRow {
  readonly pet_id: bigint | null
  /** Both null where the pet was removed. */
  readonly quantity: bigint | null
  readonly status: PetStatus | null
}

type EndRow = { position: bigint; database: string }
type LogAnswer = EndRow & LogRow & { is_row: boolean | null }

export async function readLogEnd(sql: SQL): Promise<LogEnd> {
  const [row] = await sql<EndRow[]>`SELECT position, database FROM log_end`
  return toEnd(row)
}

/**
 * What happened after this place, in its order, and where the log ends now. No rows where there are more than `most`, or
 * something else says that all of the stock is to be read again.
 */
export async function readLogAfter(
  sql: SQL,
  { position, database }: LogEnd,
  most: number,
): Promise<{ readonly end: LogEnd; readonly rows: readonly LogRow[] | undefined }> {
  const answer = await sql<LogAnswer[]>`
    WITH log AS MATERIALIZED (
      (SELECT id, pet_id, after AS quantity, status FROM history
        WHERE id > ${position}::bigint ORDER BY id LIMIT ${most + 1}::bigint)
      UNION ALL
      (SELECT id, pet_id, quantity, status FROM stock_changes
        WHERE id > ${position}::bigint AND kind <> 'renamed' ORDER BY id LIMIT ${most + 1}::bigint)
    )
    SELECT position, database, id IS NOT NULL AS is_row, pet_id, quantity, status
    FROM log_end LEFT JOIN log ON true ORDER BY id`.execute()
  const end = toEnd(answer[0])
  const rows = answer.filter(({ is_row }) => is_row)
  const isAnother = end.database !== database || end.position < position
  const readsAll = isAnother || rows.length > most || rows.some(({ pet_id }) => pet_id === null)
  return { end, rows: readsAll ? undefined : rows }
}

function toEnd(row: EndRow | undefined): LogEnd {
  if (row === undefined) throw new Error('the database did not tell where its log ends')
  return { position: Number(row.position), database: row.database }
}
