import type { InventoryItem, PetStatus } from '../../core/inventory.ts'
import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'

interface StockRow {
  pet_id: bigint
  quantity: bigint
  status: PetStatus
}

interface ChangedRow {
  pet_id: bigint | null
  quantity: bigint | null
  status: PetStatus | null
}

type StockChangeVerbs = Pick<Store, 'loadStock' | 'stockChangesSince'>

/** Rows read before others get a turn. */
const BATCH = 5_000
/** With more changes than this, loading everything is not slower. */
const MOST_CHANGES = 10_000

/**
 * Every change of the stock leaves a row in `history` or in `stock_changes`, whose ids only grow and, with one
 * writer at a time, are committed in their order. So two ids are a cursor.
 */
export function stockChangeVerbs(connection: Connection): StockChangeVerbs {
  const { database } = connection
  const LATEST = `
    SELECT coalesce((SELECT max(id) FROM history), 0) AS history,
      coalesce((SELECT max(id) FROM stock_changes), 0) AS changes`
  const latest = database.query<{ history: bigint; changes: bigint }, []>(LATEST)
  const changed = database.query<ChangedRow, [bigint, bigint]>(`
    SELECT changed.pet_id, quantity, status
    FROM (SELECT pet_id FROM history WHERE id > ? UNION SELECT pet_id FROM stock_changes WHERE id > ?) AS changed
    LEFT JOIN stock ON stock.pet_id = changed.pet_id
  `)

  return {
    async loadStock(onBatch) {
      const reader = connection.another()
      try {
        // One transaction, so that the cursor and the entries are of the same moment.
        await reader.read(() => reader.database.run('BEGIN'))
        const cursor = await reader.read(() => toCursor(reader.database.query<Cursor, []>(LATEST).get()))
        const rows = reader.database
          .query<StockRow, []>('SELECT pet_id, quantity, status FROM stock ORDER BY pet_id')
          .iterate()
        for (;;) {
          const batch = await reader.read(() => nextItems(rows))
          if (batch.length > 0) onBatch(batch)
          if (batch.length < BATCH) return cursor
          await new Promise((resume) => setImmediate(resume))
        }
      } finally {
        reader.close()
      }
    },

    stockChangesSince: (cursor) =>
      connection.read(
        database.transaction(() => {
          const seen = fromCursor(cursor)
          const now = latest.get() ?? seen
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

interface Cursor {
  readonly history: bigint
  readonly changes: bigint
}

function toCursor(cursor: Cursor | null): string {
  return `${cursor?.history ?? 0n}.${cursor?.changes ?? 0n}`
}

function fromCursor(text: string): Cursor {
  const [history = '0', changes = '0'] = text.split('.')
  return { history: BigInt(history), changes: BigInt(changes) }
}

function nextItems(rows: IterableIterator<StockRow>): InventoryItem[] {
  const items: InventoryItem[] = []
  while (items.length < BATCH) {
    const { value, done } = rows.next()
    if (done === true) break
    items.push({ petId: value.pet_id, quantity: Number(value.quantity), status: value.status })
  }
  return items
}
