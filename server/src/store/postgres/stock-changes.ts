import type { InventoryItem, PetStatus } from '../../core/inventory.ts'
import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'
import { toItem } from './stock.ts'

interface ChangeRow {
  server: string
  snapshot: string
  log_rows: bigint
  reads_all: boolean | null
  pet_id: bigint | null
  quantity: bigint | null
  status: PetStatus | null
}

type StockChangeVerbs = Pick<Store, 'loadStock' | 'stockChangesSince'>

/** Rows that come in one piece. */
const BATCH = 5_000
/** With more changes than this, loading everything is not slower. */
const MOST_CHANGES = 10_000

/**
 * Every change of the stock leaves a row in `history` or in `stock_changes`, with the transaction that wrote it. Such
 * transactions commit in any order, so a number that grows is no cursor: one with a lower number may commit after a
 * higher one was read. A snapshot is: it names the transactions that were under way (`xip`) and the first that had
 * not begun (`xmax`). What is seen now and was not seen then was written by one of these, and by no other.
 *
 * The cursor also says which server it is of, by the time of its start: after a fail-over, transactions are numbered
 * anew from wherever the other server stood, and everything is loaded again.
 */
export function stockChangeVerbs(connection: Connection): StockChangeVerbs {
  return {
    loadStock: (onBatch) =>
      connection.longTransaction('read', async (session) => {
        const [now] = await session<{ server: string; snapshot: string }[]>`
          SELECT extract(epoch FROM pg_postmaster_start_time())::text AS server, pg_current_snapshot()::text AS snapshot`
        await session`
          DECLARE entries NO SCROLL CURSOR FOR SELECT pet_id, quantity, status FROM stock ORDER BY pet_id`
        for (;;) {
          const rows = await session.unsafe<Parameters<typeof toItem>[0][]>(`FETCH ${BATCH} FROM entries`)
          if (rows.length > 0) onBatch(rows.map(toItem))
          if (rows.length < BATCH) return toCursor(now)
        }
      }),

    stockChangesSince: async (cursor) => {
      const { server, xmax, running } = fromCursor(cursor)
      const rows = await connection.run(
        (sql) => sql<ChangeRow[]>`
          WITH log AS MATERIALIZED (
            (SELECT pet_id FROM history
              WHERE xid >= ${xmax}::xid8 AND xid < pg_snapshot_xmax(pg_current_snapshot()) ORDER BY xid LIMIT ${MOST_CHANGES + 1})
            UNION ALL
            (SELECT pet_id FROM stock_changes
              WHERE xid >= ${xmax}::xid8 AND xid < pg_snapshot_xmax(pg_current_snapshot()) ORDER BY xid LIMIT ${MOST_CHANGES + 1})
            UNION ALL
            (SELECT pet_id FROM history WHERE xid = ANY (${running}::xid8[]) ORDER BY xid LIMIT ${MOST_CHANGES + 1})
            UNION ALL
            (SELECT pet_id FROM stock_changes WHERE xid = ANY (${running}::xid8[]) ORDER BY xid LIMIT ${MOST_CHANGES + 1})
          ), total AS (SELECT count(*) AS log_rows, bool_or(pet_id IS NULL) AS reads_all FROM log)
          SELECT extract(epoch FROM pg_postmaster_start_time())::text AS server, pg_current_snapshot()::text AS snapshot,
            log_rows, reads_all, changed.pet_id, stock.quantity, stock.status
          FROM total
          LEFT JOIN (SELECT DISTINCT pet_id FROM log) AS changed ON log_rows <= ${MOST_CHANGES}
          LEFT JOIN stock ON stock.pet_id = changed.pet_id`,
      )
      const [first] = rows
      if (first === undefined || first.server !== server) return 'too_many'
      if (first.reads_all === true || first.log_rows > MOST_CHANGES) return 'too_many'
      const set: InventoryItem[] = []
      const removed: bigint[] = []
      for (const { pet_id, quantity, status } of rows) {
        if (pet_id === null) continue
        if (quantity === null || status === null) removed.push(pet_id)
        else set.push(toItem({ pet_id, quantity, status }))
      }
      return { set, removed, cursor: toCursor(first) }
    },
  }
}

function toCursor(now: { readonly server: string; readonly snapshot: string } | undefined): string {
  if (now === undefined) throw new Error('the database did not tell its snapshot')
  return `${now.snapshot}@${now.server}`
}

/** A snapshot is `xmin:xmax:xip,xip,…`. */
function fromCursor(cursor: string): { server: string; xmax: string; running: string } {
  const [snapshot = '', ...server] = cursor.split('@')
  const [, xmax = '0', running = ''] = snapshot.split(':')
  return { server: server.join('@'), xmax, running: `{${running}}` }
}
