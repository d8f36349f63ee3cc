import type { InventoryItem, PetStatus } from '../../core/stock/inventory.ts'
import type { Store } from '../store.ts'
import { inBatches } from './batches.ts'
import type { Connection } from './connection.ts'
import type { LateStock } from './late-stock.ts'
import { type LogEnd, logEndReader } from './log-end.ts'

interface StockRow {
  pet_id: bigint
  quantity: bigint
  status: PetStatus
  last_change: bigint | null
}

interface ChangedRow {
  pet_id: bigint | null
  quantity: bigint | null
  status: PetStatus | null
}

type StockChangeVerbs = Pick<Store, 'loadStock' | 'stockChangesSince'>

/** With more changes than this, loading everything is not slower. */
const MOST_CHANGES = 10_000

/**
 * Every change of the stock leaves a row in `history` or in `stock_changes`, whose ids only grow and, with one
 * writer at a time, are committed in their order. So two ids are a cursor.
 */
export function stockChangeVerbs(connection: Connection, late: LateStock): StockChangeVerbs {
  const { database } = connection
  const logEnd = logEndReader(database)
  // Not from `stock`, which would look at all that is late: what is late of these is among what they changed.
  const changed = database.query<ChangedRow, [bigint, bigint]>(`
    SELECT changed.pet_id, coalesce(late.after, quantity) AS quantity, status
    FROM (SELECT pet_id FROM history WHERE id > ?1 UNION SELECT pet_id FROM stock_changes WHERE id > ?2) AS changed
    LEFT JOIN settled_stock ON settled_stock.pet_id = changed.pet_id
    LEFT JOIN (
      SELECT pet_id, after, max(id) FROM history WHERE id > max(?1, (SELECT up_to FROM settled)) GROUP BY pet_id
    ) AS late ON late.pet_id = settled_stock.pet_id
  `)

  return {
    async loadStock(onBatch) {
      late.settleLeftovers()
      const reader = connection.another()
      try {
        // One transaction, so that the cursor and the entries are of the same moment.
        await reader.read(() => reader.database.run('BEGIN'))
        const end = await reader.read(logEndReader(reader.database))
        const count = reader.database.query<{ pets: bigint }, []>(
          'SELECT count(*) AS pets FROM settled_stock',
        )
        const learn = late.learnFrom(end, await reader.read(() => Number(count.get()?.pets ?? 0)))
        const rows = reader.database
          .query<StockRow, []>('SELECT pet_id, quantity, status, last_change FROM stock ORDER BY pet_id')
          .iterate()
        const toItem = ({ pet_id, quantity, status, last_change }: StockRow): InventoryItem => {
          const item = { petId: pet_id, quantity: Number(quantity), status }
          learn(item, last_change)
          return item
        }
        for await (const items of inBatches(reader, rows, toItem)) onBatch(items)
        return toCursor(end)
      } finally {
        reader.close()
      }
    },

    stockChangesSince: (cursor) =>
      connection.read(
        database.transaction(() => {
          const seen = fromCursor(cursor)
          const now = logEnd()
          if (now.history - seen.history + (now.changes - seen.changes) > MOST_CHANGES) return 'too_many'
          const set: InventoryItem[] = []
          const removed: bigint[] = []
          for (const { pet_id, quantity, status } of changed.all(seen.history, seen.changes)) {
            if (pet_id === null) return 'too_many'
            if (quantity === null || status === null) removed.push(pet_id)
            else set.push({ petId: pet_id, quantity: Number(quantity), status })
          }
          return { set, removed, cursor: toCursor(now) }
        }),
      ),
  }
}

function toCursor({ history, changes }: LogEnd): string {
  return `${history}.${changes}`
}

function fromCursor(text: string): LogEnd {
  const [history = '0', changes = '0'] = text.split('.')
  return { history: BigInt(history), changes: BigInt(changes) }
}
