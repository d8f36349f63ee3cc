import type { PetStatus } from '../../core/inventory.ts'
import type { StockEvent } from '../../core/stock-event.ts'
import type { Store } from '../../core/store.ts'
import type { Connection } from './connection.ts'

interface EventRow {
  number: bigint
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

/** The number of an event is its cursor. Numbers are given when somebody asks: see number_events. */
export function stockEventVerbs(connection: Connection): StockEventVerbs {
  const last = async (): Promise<bigint> => {
    const [row] = await connection.run(
      (sql) => sql<{ last: bigint }[]>`SELECT number_events(${MOST_BEHIND}) AS last`,
    )
    if (row === undefined) throw new Error('the database did not number the events')
    return row.last
  }

  return {
    latestEventCursor: async () => String(await last()),

    stockEventsAfter: async (cursor, limit) => {
      if (!CURSOR.test(cursor)) return 'unknown_cursor'
      const from = BigInt(cursor)
      const behind = (await last()) - from
      if (behind < 0n || behind > MOST_BEHIND) return 'too_far'
      if (behind === 0n) return { events: [], cursor }
      const rows = await connection.run(
        (sql) => sql<EventRow[]>`
          SELECT number, is_quantity, stock_events.pet_id,
            before, after, at, key_id, quantity, coalesce(history.status, stock_changes.status) AS status
          FROM stock_events
          LEFT JOIN history ON is_quantity AND history.pet_id = stock_events.pet_id AND history.id = log_id
          LEFT JOIN stock_changes ON NOT is_quantity AND stock_changes.id = log_id
          WHERE number > ${from} ORDER BY number LIMIT ${limit}::bigint`,
      )
      const events = rows.map(toEvent)
      return { events, cursor: events.at(-1)?.cursor ?? cursor }
    },
  }
}

function toEvent(row: EventRow): StockEvent {
  const { is_quantity, pet_id, quantity, status } = row
  const cursor = String(row.number)
  if (pet_id === null) return { kind: 'relist', cursor }
  if (is_quantity && status !== null) {
    const [before, after, at] = [Number(row.before), Number(row.after), Number(row.at)]
    return { kind: 'change', petId: pet_id, before, after, status, at, keyId: row.key_id, cursor }
  }
  if (quantity === null || status === null) return { kind: 'removed', petId: pet_id, cursor }
  return { kind: 'entry', petId: pet_id, quantity: Number(quantity), status, cursor }
}
