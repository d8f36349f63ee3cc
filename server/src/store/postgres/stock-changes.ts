import type { InventoryItem } from '../../core/stock/inventory.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'
import type { KnownLog } from './known-log.ts'
import { type LogEnd, readLogAfter, readLogEnd } from './log.ts'
import { type StockRow, toItem } from './stock.ts'

type StockChangeVerbs = Pick<Store, 'loadStock' | 'stockChangesSince'>

/** Rows that come in one piece. */
const BATCH = 5_000
/** With more changes than this, loading everything is not slower. */
const MOST_CHANGES = 10_000

/** Every change of the stock is in the log, in the order of the commits. So a place in it is a cursor. */
export function stockChangeVerbs(connection: Connection, known: KnownLog): StockChangeVerbs {
  return {
    loadStock: (onBatch) =>
      connection.longTransaction('read', async (session) => {
        const end = await readLogEnd(session)
        const learning = known.startLearning(end)
        await session`
          DECLARE entries NO SCROLL CURSOR FOR SELECT pet_id, quantity, status FROM stock ORDER BY pet_id`
        for (;;) {
          const rows = await session.unsafe<StockRow[]>(`FETCH ${BATCH} FROM entries`)
          const items = rows.map(toItem)
          if (items.length > 0) onBatch(items)
          learning?.add(items)
          if (items.length < BATCH) break
        }
        learning?.finish()
        return toCursor(end)
      }),

    stockChangesSince: async (cursor) => {
      const seen = fromCursor(cursor)
      const { end, rows } = await connection.run((sql) => readLogAfter(sql, seen, MOST_CHANGES))
      if (rows === undefined) return 'too_many'
      known.learn(seen, rows, end)
      const set = new Map<bigint, InventoryItem>()
      const removed = new Set<bigint>()
      for (const { pet_id, quantity, status } of rows) {
        if (pet_id === null) continue
        if (quantity === null || status === null) {
          set.delete(pet_id)
          removed.add(pet_id)
        } else {
          removed.delete(pet_id)
          set.set(pet_id, toItem({ pet_id, quantity, status }))
        }
      }
      return { set: [...set.values()], removed: [...removed], cursor: toCursor(end) }
    },
  }
}

function toCursor({ position, database }: LogEnd): string {
  return `${position}@${database}`
}

function fromCursor(cursor: string): LogEnd {
  const [position = '0', database = ''] = cursor.split('@')
  return { position: Number(position), database }
}
