import type { PetStatus } from '../../core/stock/inventory.ts'
import type { StockEvent } from '../../core/stock/stock-event.ts'
import type { Store } from '../store.ts'
import type { Connection } from './connection.ts'
import { type LogEnd, logEndReader } from './log-end.ts'

interface QuantityRow {
  id: bigint
  pet_id: bigint
  before: bigint
  after: bigint
  at: bigint
  key_id: string
  status: PetStatus
}

interface ChangeRow {
  id: bigint
  after_history: bigint
  kind: 'entry' | 'removed' | 'relist'
  pet_id: bigint | null
  quantity: bigint | null
  status: PetStatus | null
}

type StockEventVerbs = Pick<Store, 'latestEventCursor' | 'stockEventsAfter'>

/** With more rows than this to tell, reading the stock anew is the better way. */
const MOST_BEHIND = 10_000
const CURSOR = /^(0|[1-9]\d{0,17})\.(0|[1-9]\d{0,17})$/

/**
 * The log of events is `history` and `stock_changes`, merged: ids only grow and, with one writer at a time, are
 * committed in their order, and a row of the second knows how far the first had come. So two ids are a cursor.
 */
export function stockEventVerbs(connection: Connection): StockEventVerbs {
  const { database } = connection
  const end = logEndReader(database)
  const quantities = database.query<QuantityRow, [bigint, number]>(`
    SELECT id, pet_id, before, after, at, key_id, status FROM history WHERE id > ? ORDER BY id LIMIT ?
  `)
  // Another name is no event of the stock.
  const changes = database.query<ChangeRow, [bigint, number]>(`
    SELECT id, after_history, kind, pet_id, quantity, status FROM stock_changes
    WHERE id > ? AND kind <> 'renamed' ORDER BY id LIMIT ?
  `)

  return {
    latestEventCursor: () => connection.read(() => toCursor(end())),

    stockEventsAfter: (cursor, limit) =>
      connection.read(
        database.transaction(() => {
          const from = fromCursor(cursor)
          if (from === undefined) return 'unknown_cursor'
          const now = end()
          const isAhead = from.history > now.history || from.changes > now.changes
          const behind = now.history - from.history + (now.changes - from.changes)
          if (isAhead || behind > MOST_BEHIND) return 'too_far'
          if (behind === 0n) return { events: [], cursor }
          const events = merged(from, quantities.all(from.history, limit), changes.all(from.changes, limit))
          if (events.length < limit) return { events, cursor: toCursor(now) }
          const given = events.slice(0, limit)
          return { events: given, cursor: given.at(-1)?.cursor ?? cursor }
        }),
      ),
  }
}

/** Both lists in the order of their commits. Each is complete, or as long as what is wanted of both. */
function merged(
  from: LogEnd,
  quantities: readonly QuantityRow[],
  changes: readonly ChangeRow[],
): readonly StockEvent[] {
  const events: StockEvent[] = []
  let { history, changes: seen } = from
  let next = 0
  const pushChanges = (before: bigint | undefined) => {
    for (let row = changes[next]; row !== undefined; row = changes[++next]) {
      if (before !== undefined && before <= row.after_history) return
      seen = row.id
      events.push(toEvent(row, toCursor({ history, changes: seen })))
    }
  }
  for (const row of quantities) {
    pushChanges(row.id)
    history = row.id
    events.push(toQuantityEvent(row, toCursor({ history, changes: seen })))
  }
  pushChanges(undefined)
  return events
}

function toQuantityEvent(row: QuantityRow, cursor: string): StockEvent {
  return {
    kind: 'change',
    petId: row.pet_id,
    before: Number(row.before),
    after: Number(row.after),
    status: row.status,
    at: Number(row.at),
    keyId: row.key_id,
    cursor,
  }
}

function toEvent({ kind, pet_id, quantity, status }: ChangeRow, cursor: string): StockEvent {
  if (kind === 'relist' || pet_id === null) return { kind: 'relist', cursor }
  if (quantity === null || status === null) return { kind: 'removed', petId: pet_id, cursor }
  return { kind: 'entry', petId: pet_id, quantity: Number(quantity), status, cursor }
}

function toCursor({ history, changes }: LogEnd): string {
  return `${history}.${changes}`
}

function fromCursor(text: string): LogEnd | undefined {
  const [, history, changes] = CURSOR.exec(text) ?? []
  if (history === undefined || changes === undefined) return undefined
  return { history: BigInt(history), changes: BigInt(changes) }
}
