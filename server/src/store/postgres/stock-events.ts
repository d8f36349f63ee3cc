import type { PetStatus } from '../../core/stock/inventory.ts'
import type { StockEvent } from '../../core/stock/stock-event.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'
import { readLogEnd } from './log.ts'

interface EventRow {
  position: bigint
  id: bigint | null
  is_quantity: boolean
  pet_id: bigint | null
  before: bigint
  after: bigint
  at: bigint
  key_id: string
  quantity: bigint | null
  status: PetStatus | null
}

type StockEventVerbs = Pick<Store, 'latestEventCursor' | 'stockEventsAfter'>

/** With more events than this to tell, reading the stock anew is the better way. */
const MOST_BEHIND = 10_000
const CURSOR = /^(0|[1-9]\d{0,17})$/

/** The log is in the order of the commits, so the id of its rows is the cursor. */
export function stockEventVerbs(connection: Connection): StockEventVerbs {
  return {
    latestEventCursor: async () => String((await connection.run(readLogEnd)).position),

    stockEventsAfter: async (cursor, limit) => {
      if (!CURSOR.test(cursor)) return 'unknown_cursor'
      const from = BigInt(cursor)
      const rows = await connection.run(
        (sql) => sql<EventRow[]>`
          WITH log AS MATERIALIZED (
            (SELECT id, true AS is_quantity, pet_id, before, after, at, key_id, NULL::bigint AS quantity, status
              FROM history WHERE id > ${from} ORDER BY id LIMIT ${limit}::bigint)
            UNION ALL
            (SELECT id, false, pet_id, NULL, NULL, NULL, NULL, quantity, status
              FROM stock_changes WHERE id > ${from} AND kind <> 'renamed' ORDER BY id LIMIT ${limit}::bigint)
          )
          SELECT position, log.* FROM log_head LEFT JOIN log ON true ORDER BY id LIMIT ${limit}::bigint`,
      )
      const [first] = rows
      if (first === undefined) throw new Error('the database did not tell where its log ends')
      const behind = first.position - from
      if (behind < 0n || behind > MOST_BEHIND) return 'too_far'
      const events = rows.flatMap((row) => (row.id === null ? [] : [toEvent(row, String(row.id))]))
      // Where nothing is left, what is no event has been passed as well.
      const end = events.length < limit ? String(first.position) : undefined
      return { events, cursor: end ?? events.at(-1)?.cursor ?? cursor }
    },
  }
}

function toEvent(row: EventRow, cursor: string): StockEvent {
  const { is_quantity, pet_id, quantity, status } = row
  if (pet_id === null) return { kind: 'relist', cursor }
  if (is_quantity && status !== null) {
    const [before, after, at] = [Number(row.before), Number(row.after), Number(row.at)]
    return { kind: 'change', petId: pet_id, before, after, status, at, keyId: row.key_id, cursor }
  }
  if (quantity === null || status === null) return { kind: 'removed', petId: pet_id, cursor }
  return { kind: 'entry', petId: pet_id, quantity: Number(quantity), status, cursor }
}
