import type { Database } from 'bun:sqlite'
import type { OrderStore } from '../../core/orders/order-store.ts'
import { needsSection, petIdsOf, type SubmittedCommand, typedResults } from '../../core/stock/command.ts'
import {
  type Answers,
  answerId,
  type Decision,
  decide,
  idempotencyKeysOf,
  type RememberedAnswer,
  type WrittenDecision,
} from '../../core/stock/decide.ts'
import type { InventoryItem, LockedEntry, PetStatus } from '../../core/stock/inventory.ts'
import { isPetRecord, type LogRecord, type PetRecord } from '../../core/stock/stock-draft.ts'
import type { StockStore } from '../../core/stock/stock-store.ts'
import type { Clock } from '../../core/values/clock.ts'
import { fromCursor, toCursor } from '../cursor.ts'
import {
  ALL_ENTRIES,
  detailOf,
  LOCKED_FIELDS,
  type LockedRow,
  MAY_CHANGE_INVENTORY,
  petIdOf,
  type StockRow,
  toItem,
  toLockedEntry,
} from '../log-rows.ts'
import { orderTotalsCounter } from '../orders.ts'
import { inLongSession } from '../sql.ts'
import { catalogTables } from './catalog.ts'
import { type Connection, capLogEnd, LOG_END, type LogEnd, readLogEnd } from './connection.ts'
import { orderTable } from './orders.ts'
import { webhookTable } from './webhooks.ts'

interface Entry extends LockedEntry {
  readonly lastChange: bigint | null
}

/** Applying more changes than this takes as long as loading the whole stock. */
const MAX_CHANGES_TO_APPLY = 10_000n

export function stockMethods(
  connection: Connection,
  clock: Clock,
): Omit<StockStore, 'forgetAnswers'> & Pick<OrderStore, 'orderTotals'> {
  const { database } = connection
  const logEnd = readLogEnd(database)
  const answers = answerTable(database)
  const orders = orderTable(database)
  const catalog = catalogTables(database)
  const webhooks = webhookTable(database)
  const totals = orderTotalsCounter()
  const writeDecision = decisionWriter(database)
  const findEntry = database.query<LockedRow & { last_change: bigint | null }, [bigint]>(
    `SELECT ${LOCKED_FIELDS}, last_change FROM stock WHERE pet_id = ?`,
  )
  // Selects the latest row of each pet: SQLite takes the other columns from the row with `max(id)`.
  const changesBetween = database.query<
    { pet_id: bigint | null; quantity: bigint | null; status: PetStatus | null },
    [bigint, bigint]
  >(`
    SELECT pet_id, after AS quantity, status, max(id)
    FROM log WHERE id > ? AND id <= ? AND ${MAY_CHANGE_INVENTORY} GROUP BY pet_id
  `)

  const readEntries = (petIds: Iterable<bigint>) => {
    const entries = new Map<bigint, Entry>()
    let hasReserved = false
    for (const petId of petIds) {
      if (entries.has(petId)) continue
      const row = findEntry.get(petId)
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
    writeDecision(decision, (petId) => {
      const entry = entries.get(petId)
      return entry === undefined ? catalog.latestLogRow(petId) : entry.lastChange
    })
    if (decision.webhooks !== undefined) webhooks.write(decision.webhooks)
    const lastOrder = decision.orders?.added.at(-1)
    if (lastOrder !== undefined) orders.setLastId(lastOrder.id)
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
        for await (const rows of session.batches<StockRow>(ALL_ENTRIES)) onBatch(rows.map(toItem))
        return toCursor(end)
      }),

    stockChangesSince: (cursor) =>
      connection.readLog(
        database.transaction((flushedEnd: bigint | undefined) => {
          const start = fromCursor(cursor)
          const end = capLogEnd(flushedEnd, logEnd())
          if (start === undefined || start.identity !== end.identity) return 'reload'
          const behind = end.position - start.position
          if (start.position < end.pruned || behind < 0n || behind > MAX_CHANGES_TO_APPLY) return 'reload'
          const updated: InventoryItem[] = []
          const removed: bigint[] = []
          for (const { pet_id, quantity, status } of changesBetween.all(start.position, end.position)) {
            // This is a `relist` row: pets have changed that the log does not name.
            if (pet_id === null) return 'reload'
            if (quantity === null || status === null) removed.push(pet_id)
            else updated.push(toItem({ pet_id, quantity, status }))
          }
          return { updated, removed, cursor: toCursor(end) }
        }),
      ),

    changeStock: async (commands) => {
      for (;;) {
        const decision = await connection.write(() => decideAndWrite(commands))
        if (decision.orders !== undefined) totals.add(decision.orders)
        if (!decision.isPostponed) return typedResults(commands, decision.results)
      }
    },

    orderTotals: totals.read,
  }
}

/**
 * Returns a function that writes a decision inside a commit. `lastChangeOf` must return the id of the pet's latest log row
 * before the commit; null if the pet has none.
 */
export function decisionWriter(database: Database) {
  const logEnd = readLogEnd(database)
  const orders = orderTable(database)
  const catalog = catalogTables(database)
  const setQuantity = database.query<unknown, [number, bigint, bigint]>(
    'UPDATE stock SET quantity = ?, last_change = ? WHERE pet_id = ?',
  )
  const setReserved = database.query<unknown, [number, bigint]>(
    'UPDATE stock SET reserved = ? WHERE pet_id = ?',
  )
  const insertQuantityRow = database.query<
    unknown,
    [
      id: bigint,
      petId: bigint,
      before: number,
      after: number,
      status: PetStatus,
      at: number,
      keyId: string,
      previous: bigint | null,
      reason: string | null,
      reference: string | null,
    ]
  >(
    `INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, reason, reference)
    VALUES (?, 'change', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertPetRow = database.query<
    unknown,
    [
      id: bigint,
      kind: string,
      petId: bigint,
      before: number | null,
      after: number | null,
      status: PetStatus,
      at: number,
      keyId: string,
      previous: bigint | null,
      detail: string | null,
    ]
  >(
    `INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous, detail)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertOtherRow = database.query<
    unknown,
    [id: bigint, kind: string, petId: bigint | null, at: number, keyId: string, detail: string | null]
  >('INSERT INTO log (id, kind, pet_id, at, key_id, detail) VALUES (?, ?, ?, ?, ?, ?)')
  const setLastChange = database.query<unknown, [bigint, bigint]>(
    'UPDATE stock SET last_change = ? WHERE pet_id = ?',
  )
  const setLow = database.query<unknown, [number, bigint]>('UPDATE stock SET is_low = ? WHERE pet_id = ?')

  const insertLogRow = (row: LogRecord, id: bigint, previousOf: (row: PetRecord) => bigint | null): void => {
    const { at, keyId, reason = null, reference = null } = row.by
    if (!isPetRecord(row)) {
      insertOtherRow.run(id, row.kind, petIdOf(row), at, keyId, detailOf(row))
      return
    }
    const { petId, status, isLast } = row
    const previous = previousOf(row)
    if (row.kind === 'change') {
      insertQuantityRow.run(id, petId, row.before, row.after, status, at, keyId, previous, reason, reference)
      if (isLast) setQuantity.run(row.after, id, petId)
      return
    }
    const before = row.kind === 'pet' ? null : row.before
    const after = row.kind === 'pet' ? row.after : null
    insertPetRow.run(id, row.kind, petId, before, after, status, at, keyId, previous, detailOf(row))
    if (isLast) setLastChange.run(id, petId)
  }

  return (decision: WrittenDecision, lastChangeOf: (petId: bigint) => bigint | null): void => {
    const { records } = decision
    if (decision.catalog !== undefined) catalog.write(decision.catalog)
    const firstId = records.length === 0 ? 0n : logEnd().position + 1n
    const previousOf = ({ petId, previousIndex }: PetRecord) =>
      previousIndex === null ? lastChangeOf(petId) : firstId + BigInt(previousIndex)
    for (const [index, row] of records.entries()) insertLogRow(row, firstId + BigInt(index), previousOf)
    for (const [petId, reserved] of decision.reserved) setReserved.run(reserved, petId)
    for (const [petId, isLow] of decision.low) setLow.run(Number(isLow), petId)
    if (decision.catalog !== undefined) catalog.writeThresholds(decision.catalog)
    if (decision.orders !== undefined) orders.write(decision.orders)
  }
}

interface AnswerRow {
  readonly fingerprint: string
  readonly answer: string
  readonly at: bigint
}

/** Reads and writes the answers to requests with an idempotency key, inside a commit. */
function answerTable(database: Database) {
  const findAnswer = database.query<AnswerRow, [keyId: string, key: string]>(
    'SELECT fingerprint, answer, at FROM idempotency WHERE key_id = ? AND key = ?',
  )
  const writeAnswer = database.query<unknown, [string, string, string, string, number]>(
    'INSERT OR REPLACE INTO idempotency (key_id, key, fingerprint, answer, at) VALUES (?, ?, ?, ?, ?)',
  )
  return {
    find: (commands: readonly SubmittedCommand[]): Answers => {
      const answers = new Map<string, RememberedAnswer>()
      for (const { keyId, idempotencyKey } of idempotencyKeysOf(commands)) {
        const row = findAnswer.get(keyId, idempotencyKey)
        if (row === null) continue
        answers.set(answerId({ keyId, idempotencyKey }), {
          keyId,
          idempotencyKey,
          ...row,
          at: Number(row.at),
        })
      }
      return answers
    },
    add: (answers: readonly RememberedAnswer[]): void => {
      for (const { keyId, idempotencyKey, fingerprint, answer, at } of answers) {
        writeAnswer.run(keyId, idempotencyKey, fingerprint, answer, at)
      }
    },
  }
}
