import type { Database } from 'bun:sqlite'
import { decide } from '../../core/stock/decide.ts'
import type { InventoryItem, PetStatus } from '../../core/stock/inventory.ts'
import { petIdsOf } from '../../core/stock/stock-request.ts'
import type { StockStore } from '../../core/stock/stock-store.ts'
import { fromCursor, type LogCursor, toCursor } from '../cursor.ts'
import { ENTRIES, type StockRow, toItem } from '../log-rows.ts'
import { inLongSession } from '../sql.ts'
import type { Connection } from './connection.ts'
import { LAST_LOG_ID } from './dialect.ts'
import { answerTable } from './idempotency.ts'

interface Found {
  readonly quantity: number
  readonly status: PetStatus
  readonly lastChange: bigint | null
}

/** With more changes than this, loading everything is not slower. */
const MAX_CHANGES = 10_000n

/** Where the log ends, and up to where it has been removed. */
interface LogEnd extends LogCursor {
  readonly pruned: bigint
}

/** The next row gets the position after this one. Ids are those of the commits, since there is one writer at a time. */
export const LOG_END = `SELECT identity, ${LAST_LOG_ID} AS position, pruned_up_to AS pruned FROM log_state`

export function readLogEnd(database: Database): () => LogEnd {
  const query = database.query<LogEnd, []>(LOG_END)
  return () => {
    const end = query.get()
    if (end === null) throw new Error('the database does not tell its identity: log_state is empty')
    return end
  }
}

export function stockVerbs(connection: Connection): Omit<StockStore, 'forgetAnswers'> {
  const { database } = connection
  const logEnd = readLogEnd(database)
  const remembered = answerTable(database)
  const find = database.query<{ quantity: bigint; status: PetStatus; last_change: bigint | null }, [bigint]>(
    'SELECT quantity, status, last_change FROM stock WHERE pet_id = ?',
  )
  const update = database.query<unknown, [number, bigint, bigint]>(
    'UPDATE stock SET quantity = ?, last_change = ? WHERE pet_id = ?',
  )
  const record = database.query<
    unknown,
    [
      ...[
        id: bigint,
        petId: bigint,
        before: number,
        after: number,
        status: PetStatus,
        at: number,
        keyId: string,
      ],
      ...[previous: bigint | null, reason: string | null, reference: string | null],
    ]
  >(
    `INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, reason, reference)
    VALUES (?, 'change', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const changed = database.query<
    { pet_id: bigint | null; quantity: bigint | null; status: PetStatus | null },
    [bigint]
  >(`
    SELECT changed.pet_id, quantity, status FROM (SELECT DISTINCT pet_id FROM log WHERE id > ?) AS changed
    LEFT JOIN stock ON stock.pet_id = changed.pet_id
  `)

  const found = (petIds: Iterable<bigint>): Map<bigint, Found> => {
    const entries = new Map<bigint, Found>()
    for (const petId of petIds) {
      const row = entries.has(petId) ? null : find.get(petId)
      if (row === null) continue
      entries.set(petId, {
        quantity: Number(row.quantity),
        status: row.status,
        lastChange: row.last_change,
      })
    }
    return entries
  }

  return {
    version: connection.version,
    // A file has one writer at a time.
    concurrentCommits: 1,

    loadStock: (onBatch) =>
      inLongSession(connection, async (session) => {
        await session.beginRead()
        const [end] = await session.rows<LogEnd>(LOG_END)
        if (end === undefined) throw new Error('the database does not tell its identity: log_state is empty')
        for await (const rows of session.batches<StockRow>(ENTRIES)) onBatch(rows.map(toItem))
        return toCursor(end)
      }),

    stockChangesSince: (cursor) =>
      connection.read(
        database.transaction(() => {
          const seen = fromCursor(cursor)
          const now = logEnd()
          if (seen === undefined || seen.identity !== now.identity) return 'too_many'
          if (seen.position < now.pruned || now.position - seen.position > MAX_CHANGES) return 'too_many'
          const set: InventoryItem[] = []
          const removed: bigint[] = []
          for (const { pet_id, quantity, status } of changed.all(seen.position)) {
            if (pet_id === null) return 'too_many'
            if (quantity === null || status === null) removed.push(pet_id)
            else set.push(toItem({ pet_id, quantity, status }))
          }
          return { set, removed, cursor: toCursor(now) }
        }),
      ),

    changeStock: (requests) =>
      connection.write(() => {
        const entries = found(petIdsOf(requests))
        const { outcomes, made, answers } = decide(requests, entries, remembered.find(requests))
        remembered.add(answers)
        if (made.length === 0) return outcomes
        const first = logEnd().position + 1n
        for (const [index, { petId, before, after, status, by, follows, isLast }] of made.entries()) {
          const { at, keyId, reason = null, reference = null } = by
          const id = first + BigInt(index)
          const previous =
            follows === null ? (entries.get(petId)?.lastChange ?? null) : first + BigInt(follows)
          record.run(id, petId, before, after, status, at, keyId, previous, reason, reference)
          if (isLast) update.run(after, id, petId)
        }
        return outcomes
      }),
  }
}
