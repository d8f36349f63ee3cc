import type { OrderStore } from '../../core/orders/order-store.ts'
import { needsSection, petIdsOf, type SubmittedCommand, typedResults } from '../../core/stock/command.ts'
import { type Decision, decide } from '../../core/stock/decide.ts'
import type { InventoryItem, LockedEntry, PetStatus } from '../../core/stock/inventory.ts'
import type { StockStore } from '../../core/stock/stock-store.ts'
import type { Clock } from '../../core/values/clock.ts'
import { fromCursor, toCursor } from '../cursor.ts'
import {
  ENTRIES,
  IS_OF_STOCK,
  LOCKED_FIELDS,
  type LockedRow,
  type StockRow,
  toItem,
  toLockedEntry,
} from '../log-rows.ts'
import { countedTotals } from '../orders.ts'
import { inLongSession } from '../sql.ts'
import { catalogTables } from './catalog.ts'
import type { Connection } from './connection.ts'
import { decisionWriter } from './decision.ts'
import { LOG_END, type LogEnd, readLogEnd, upTo } from './dialect.ts'
import { answerTable } from './idempotency.ts'
import { orderTable } from './orders.ts'
import { webhookTable } from './webhooks.ts'

interface Entry extends LockedEntry {
  readonly lastChange: bigint | null
}

/** With more changes than this, loading the whole stock is not slower. */
const MAX_CHANGES_TO_APPLY = 10_000n

export function stockVerbs(
  connection: Connection,
  clock: Clock,
): Omit<StockStore, 'forgetAnswers'> & Pick<OrderStore, 'orderTotals'> {
  const { database } = connection
  const logEnd = readLogEnd(database)
  const answers = answerTable(database)
  const orders = orderTable(database)
  const catalog = catalogTables(database)
  const webhooks = webhookTable(database)
  const totals = countedTotals()
  const write = decisionWriter(database)
  const find = database.query<LockedRow & { last_change: bigint | null }, [bigint]>(
    `SELECT ${LOCKED_FIELDS}, last_change FROM stock WHERE pet_id = ?`,
  )
  // SQLite takes the other columns from the row with `max(id)`, so this is the latest row of each pet.
  const changesBetween = database.query<
    { pet_id: bigint | null; quantity: bigint | null; status: PetStatus | null },
    [bigint, bigint]
  >(`
    SELECT pet_id, after AS quantity, status, max(id)
    FROM log WHERE id > ? AND id <= ? AND ${IS_OF_STOCK} GROUP BY pet_id
  `)

  const readEntries = (petIds: Iterable<bigint>) => {
    const entries = new Map<bigint, Entry>()
    let hasReserved = false
    for (const petId of petIds) {
      const row = entries.has(petId) ? null : find.get(petId)
      if (row === null) continue
      const entry = toLockedEntry(row)
      if (entry.reserved > 0) hasReserved = true
      entries.set(petId, { ...entry, lastChange: row.last_change })
    }
    return { entries, hasReserved }
  }

  const decideAndWrite = (commands: readonly SubmittedCommand[]): Decision => {
    const { entries, hasReserved } = readEntries(petIdsOf(commands))
    // Reserved units may belong to expired holds, which are released in the commit that changes their pet.
    const readsOrders = hasReserved || needsSection(commands, 'orders')
    const decision = decide(commands, entries, {
      answers: answers.find(commands),
      orders: readsOrders ? orders.read(commands, entries.keys(), clock()) : undefined,
      catalog: needsSection(commands, 'catalog') ? catalog.read(commands) : undefined,
      webhooks: needsSection(commands, 'webhooks') ? webhooks.read(commands) : undefined,
    })
    answers.add(decision.answers)
    write(decision, (petId) => {
      const entry = entries.get(petId)
      return entry === undefined ? catalog.latestRow(petId) : entry.lastChange
    })
    if (decision.webhooks !== undefined) webhooks.write(decision.webhooks)
    const newest = decision.orders?.added.at(-1)
    if (newest !== undefined) orders.setLastId(newest.id)
    return decision
  }

  return {
    version: connection.version,
    // A file has one writer at a time.
    concurrentCommits: 1,
    concurrentLockWaits: 0,

    loadStock: (onBatch) =>
      inLongSession(connection, async (session) => {
        await session.beginRead()
        const [end] = await session.rows<LogEnd>(LOG_END)
        if (end === undefined) throw new Error('the database has no identity: the table log_state is empty')
        for await (const rows of session.batches<StockRow>(ENTRIES)) onBatch(rows.map(toItem))
        return toCursor(end)
      }),

    stockChangesSince: (cursor) =>
      connection.readLog(
        database.transaction((flushed: bigint | undefined) => {
          const seen = fromCursor(cursor)
          const now = upTo(flushed, logEnd())
          if (seen === undefined || seen.identity !== now.identity) return 'too_many'
          const behind = now.position - seen.position
          if (seen.position < now.pruned || behind < 0n || behind > MAX_CHANGES_TO_APPLY) return 'too_many'
          const set: InventoryItem[] = []
          const removed: bigint[] = []
          for (const { pet_id, quantity, status } of changesBetween.all(seen.position, now.position)) {
            // A `relist` row.
            if (pet_id === null) return 'too_many'
            if (quantity === null || status === null) removed.push(pet_id)
            else set.push(toItem({ pet_id, quantity, status }))
          }
          return { set, removed, cursor: toCursor(now) }
        }),
      ),

    changeStock: async (commands) => {
      for (;;) {
        const decision = await connection.write(() => decideAndWrite(commands))
        totals.add(decision.orders)
        if (!decision.isPostponed) return typedResults(commands, decision.results)
      }
    },

    orderTotals: totals.read,
  }
}
