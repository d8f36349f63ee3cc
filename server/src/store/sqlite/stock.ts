import type { Database } from 'bun:sqlite'
import { petsToFree, releaseOf } from '../../core/orders/expired-holds.ts'
import type { OrderStore } from '../../core/orders/order-store.ts'
import { PetsNeeded } from '../../core/orders/orders-draft.ts'
import { type CommandOf, type SubmittedCommand, typedResults } from '../../core/stock/command.ts'
import { needsSection, petIdsOf } from '../../core/stock/command-table.ts'
import {
  type Answers,
  type Decision,
  decide,
  type ImportableDecision,
  idempotencyKeysOf,
  type RememberedAnswer,
} from '../../core/stock/decide.ts'
import type { InventoryItem, PetStatus } from '../../core/stock/inventory.ts'
import { fromCursor, toCursor } from '../../core/stock/log-cursor.ts'
import type { StockStore } from '../../core/stock/stock-store.ts'
import type { Clock } from '../../core/values/clock.ts'
import { decideWithFacts } from '../facts.ts'
import { advanceIdsStatements } from '../generated-ids.ts'
import {
  ANSWER_COLUMN_NAMES,
  type AnswerMethods,
  type AnswerRow,
  answerValues,
  toAnswers,
} from '../idempotency.ts'
import {
  ALL_ENTRIES,
  CHANGES_INVENTORY,
  LOCKED_SELECT_LIST,
  type LockedRow,
  MAX_CHANGES_TO_APPLY,
  type StockRow,
  toItem,
  toLockedEntry,
} from '../log-rows.ts'
import { orderTotalsCounter } from '../orders.ts'
import { categoryStatements } from '../pets.ts'
import { inLongSession, insertSql, type SqlValue, type Statement, updateSql, upsertSql } from '../sql.ts'
import { type TableChange, tableChanges } from '../table-changes.ts'
import {
  toLockedWebhooks,
  WEBHOOK_FIELDS,
  WEBHOOKS_WITH_OWNERS,
  type WebhookRow,
  webhookStatements,
} from '../webhooks.ts'
import { catalogReader } from './catalog.ts'
import { type Connection, LOG_END, type LogEnd } from './connection.ts'
import { DIALECT, findAll, runAll, toSqlite } from './dialect.ts'
import { orderReader } from './orders.ts'

export function stockMethods(
  connection: Connection,
  clock: Clock,
): Omit<StockStore, keyof AnswerMethods> & Pick<OrderStore, 'orderTotals'> {
  const totals = orderTotalsCounter()
  const decideAndWrite = commandDecider(connection, clock)
  // Selects the latest row of each pet: SQLite takes the other columns from the row with `max(id)`.
  const changesBetween = connection.database.query<
    { pet_id: bigint | null; quantity: bigint | null; status: PetStatus | null },
    [bigint, bigint]
  >(`
    SELECT pet_id, after AS quantity, status, max(id)
    FROM log WHERE id > ? AND id <= ? AND (${CHANGES_INVENTORY} OR kind = 'relist') GROUP BY pet_id
  `)

  return {
    version: connection.version,
    // A file has one writer at a time.
    concurrentCommits: 1,
    concurrentLockWaits: 0,

    loadStock: (onBatch) =>
      inLongSession(connection, async (session) => {
        await session.beginRead()
        const [end] = await session.rows<LogEnd>(LOG_END)
        if (end === undefined) throw new Error('the database has no identity: log_state is empty')
        for await (const rows of session.batches<StockRow>(ALL_ENTRIES)) onBatch(rows.map(toItem))
        return toCursor(end)
      }),

    stockChangesSince: (cursor) =>
      connection.readLog((end) => {
        const start = fromCursor(cursor)
        if (start === undefined || start.identity !== end.identity) return 'reload'
        const rowsBehind = end.position - start.position
        if (start.position < end.pruned || rowsBehind < 0n || rowsBehind > MAX_CHANGES_TO_APPLY)
          return 'reload'
        const updated: InventoryItem[] = []
        const removed: bigint[] = []
        for (const { pet_id, quantity, status } of changesBetween.all(start.position, end.position)) {
          // This is a `relist` row: the log does not name the pets that have changed.
          if (pet_id === null) return 'reload'
          if (quantity === null || status === null) removed.push(pet_id)
          else updated.push(toItem({ pet_id, quantity, status }))
        }
        return { updated, removed, cursor: toCursor(end) }
      }),

    changeStock: async (commands, { onLocked } = {}) => {
      for (;;) {
        const attempt = await connection.write(
          (logEnd) => {
            onLocked?.()
            return decideAndWrite(commands, logEnd.position + 1n)
          },
          { isChange },
        )
        if (attempt.type === 'decided') {
          totals.add(attempt.decision.orders)
          if (attempt.decision.orders?.hasErasures) connection.noteErasure()
          return typedResults(commands, attempt.decision.results)
        }
        const released = await connection.write(
          (logEnd) => decideAndWrite([attempt.release], logEnd.position + 1n),
          { isChange },
        )
        if (released.type === 'decided') totals.add(released.decision.orders)
      }
    },

    orderTotals: totals.read,
  }
}

/** What became of commands: they were decided or, if their pets have expired holds, nothing was changed. */
export type Attempt =
  | { readonly type: 'decided'; readonly decision: Decision }
  | { readonly type: 'expired_holds'; readonly release: CommandOf<'release_holds'> }

function isChange(attempt: Attempt): boolean {
  if (attempt.type !== 'decided') return false
  const { records, entries, answers, webhooks } = attempt.decision
  return records.length + entries.size + answers.length + (webhooks?.webhooks.size ?? 0) > 0
}

/**
 * Returns a function that decides commands and writes the decision, inside a commit. If it returns expired holds, the caller has to
 * release these and try again.
 */
export function commandDecider(connection: Connection, clock: Clock) {
  const { database } = connection
  const answers = answerTable(database)
  const orders = orderReader(database)
  const catalog = catalogReader(database)
  const writeDecision = decisionWriter(connection)
  const findEntry = database.query<LockedRow, [bigint]>(
    `SELECT ${LOCKED_SELECT_LIST} FROM stock WHERE pet_id = ?`,
  )
  const findWebhooks = database.query<WebhookRow, []>(`SELECT ${WEBHOOK_FIELDS} FROM ${WEBHOOKS_WITH_OWNERS}`)
  const run = ({ text, values }: Statement) =>
    database.query<unknown, SqlValue[]>(toSqlite(text)).all(...values)

  const attempt = (
    commands: readonly SubmittedCommand[],
    firstLogId: bigint,
    petIds: ReadonlySet<bigint> = new Set(petIdsOf(commands)),
  ): Attempt => {
    const now = clock()
    const entries = findAll(petIds, findEntry, toLockedEntry)
    const hasReservedUnits = entries.values().some(({ reserved }) => reserved > 0)
    const holds = hasReservedUnits ? orders.expiredHolds(petsToFree(commands, petIds), now) : []
    if (holds.length > 0) return { type: 'expired_holds', release: releaseOf(holds, now) }
    const locked = {
      firstLogId,
      answers: answers.find(commands),
      orders: needsSection(commands, 'orders') ? orders.read(commands, petIds, now) : undefined,
      catalog: needsSection(commands, 'catalog') ? catalog.read(commands) : undefined,
      webhooks: needsSection(commands, 'webhooks') ? toLockedWebhooks(findWebhooks.all()) : undefined,
    }
    const deciding = decideWithFacts(DIALECT, (facts) => decide(commands, entries, { ...locked, facts }))
    try {
      let step = deciding.next()
      while (!step.done) step = deciding.next(run(step.value))
      return { type: 'decided', decision: step.value }
    } catch (error) {
      if (!(error instanceof PetsNeeded)) throw error
      return attempt(commands, firstLogId, petIds.union(new Set(error.petIds)))
    }
  }

  return (commands: readonly SubmittedCommand[], firstLogId: bigint): Attempt => {
    const outcome = attempt(commands, firstLogId)
    if (outcome.type !== 'decided') return outcome
    const { decision } = outcome
    answers.add(decision.answers)
    writeDecision(decision, firstLogId)
    if (decision.webhooks !== undefined) runAll(database, webhookStatements(decision.webhooks))
    const addedOrders = decision.orders?.added ?? []
    if (addedOrders.length > 0) orders.advanceIds(addedOrders.map(({ id }) => id))
    return outcome
  }
}

/** Returns a function that writes a decision inside a commit. */
export function decisionWriter({ database }: Connection) {
  const writers = new Map<string, ReturnType<typeof tableWriter>>()
  const writeTable = (change: TableChange) => {
    const { table, kept } = change
    const name = kept === undefined ? table : `${table} without ${kept}`
    let write = writers.get(name)
    if (write === undefined) {
      write = tableWriter(database, change)
      writers.set(name, write)
    }
    write(change)
  }
  return (decision: ImportableDecision, firstLogId: bigint): void => {
    for (const change of tableChanges(decision, firstLogId)) writeTable(change)
    const { catalog } = decision
    if (catalog === undefined) return
    runAll(database, advanceIdsStatements(DIALECT, 'pets', catalog.pets.keys()))
    runAll(database, categoryStatements(DIALECT, catalog))
  }
}

/** In one statement, each row takes a quarter less time. More rows gain little. */
const ROWS_PER_INSERT = 10

/** Returns a function that writes the rows of one table. */
function tableWriter(database: Database, { table, columns, key, unique, kept = [] }: TableChange) {
  const names = Object.keys(columns)
  const prepareInsert = (rowCount: number) => {
    // A pet that has lost its stock entry counts as new, so its row is replaced.
    const text = table === 'pets' ? upsertSql(table, names, key, rowCount) : insertSql(table, names, rowCount)
    return database.query<unknown, SqlValue[]>(toSqlite(text))
  }
  const insert = prepareInsert(1)
  const insertSeveral = prepareInsert(ROWS_PER_INSERT)
  const update = database.query<unknown, SqlValue[]>(toSqlite(updateSql(table, names, [key, ...kept])))
  const remove = database.query<unknown, [bigint]>(`DELETE FROM ${table} WHERE ${key} = ?`)
  const clear =
    unique === undefined
      ? undefined
      : database.query<unknown, SqlValue[]>(
          `UPDATE ${table} SET ${unique} = NULL WHERE ${key} = ? AND ${unique} IS NOT NULL`,
        )
  return ({ added, changed, removed }: TableChange): void => {
    for (const id of removed) remove.run(id)
    if (clear !== undefined) for (const [id = null] of changed) clear.run(id)
    let next = 0
    for (; next + ROWS_PER_INSERT <= added.length; next += ROWS_PER_INSERT) {
      insertSeveral.run(...added.slice(next, next + ROWS_PER_INSERT).flat())
    }
    for (const row of added.slice(next)) insert.run(...row)
    for (const row of changed) update.run(...row)
  }
}

/** Reads and writes the answers to requests with an idempotency key, inside a commit. */
function answerTable(database: Database) {
  const findAnswer = database.query<AnswerRow, [keyId: string, key: string]>(
    `SELECT ${ANSWER_COLUMN_NAMES} FROM idempotency WHERE key_id = ? AND key = ?`,
  )
  const writeAnswer = database.query<unknown, SqlValue[]>(
    `INSERT OR REPLACE INTO idempotency (${ANSWER_COLUMN_NAMES}) VALUES (?, ?, ?, ?, ?)`,
  )
  return {
    find: (commands: readonly SubmittedCommand[]): Answers | undefined => {
      const keys = idempotencyKeysOf(commands)
      if (keys.length === 0) return undefined
      return toAnswers(
        keys.flatMap(({ keyId, idempotencyKey }) => findAnswer.get(keyId, idempotencyKey) ?? []),
      )
    },
    add: (answers: readonly RememberedAnswer[]): void => {
      for (const answer of answers) writeAnswer.run(...answerValues(answer))
    },
  }
}
