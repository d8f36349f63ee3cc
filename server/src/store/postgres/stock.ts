import type { SQL } from 'bun'
import type { OrderStore } from '../../core/orders/order-store.ts'
import {
  needsSection,
  petIdsOf,
  type ResultsOf,
  type SubmittedCommand,
  typedResults,
} from '../../core/stock/command.ts'
import { type Decision, decide } from '../../core/stock/decide.ts'
import { idempotencyKeysOf } from '../../core/stock/idempotency.ts'
import type { InventoryItem, PetStatus } from '../../core/stock/inventory.ts'
import { PetsLockedError, type StockStore } from '../../core/stock/stock-store.ts'
import { ENTRIES, type LockedRow as EntryRow, type StockRow, toItem, toLockedEntry } from '../log-rows.ts'
import { isExpiredSql } from '../order-rows.ts'
import { countedTotals } from '../orders.ts'
import { inLongSession, type StoreClock } from '../sql.ts'
import { lockCatalog, lockedOnly, readCatalog } from './catalog.ts'
import type { Connection } from './connection.ts'
import { writeDecision } from './decision.ts'
import { takeLogNumbers } from './dialect.ts'
import { hasState, isTaken, LOCK_TIMEOUT, ReadOnly, unavailable } from './failures.ts'
import { lockKeys, remember, toAnswers } from './idempotency.ts'
import { maxRowsOf, readOrders, toLockedOrders } from './orders.ts'
import { arrayOf } from './parameters.ts'
import { storeTime } from './store-clock.ts'
import { lockWebhooks, writeWebhooks } from './webhooks.ts'

interface LockedRow extends EntryRow {
  last_change: bigint | null
  has_expired_holds: boolean
}

interface SnapshotRow {
  /** The run of the server in which the snapshot was taken, if it is registered: see running_server. */
  server: string | null
  snapshot: string
  prunings: bigint
}

interface ChangedRow extends SnapshotRow {
  is_cut: boolean
  log_rows: bigint
  reads_all: boolean | null
  pet_id: bigint | null
  quantity: bigint | null
  status: PetStatus | null
}

/** Each uses a session. In a small pool, commits use at most half of the sessions. */
const MAX_CONCURRENT_COMMITS = 4
/** Much longer than a commit of another instance keeps its pets locked. */
const BRIEF_LOCK_WAIT_MS = 500
/** With more changes than this, loading the whole stock is not slower. */
const MAX_CHANGES = 10_000

/**
 * Every change writes a log row that has the id of its transaction. Transactions commit in any order, so an increasing number
 * cannot be a cursor: a lower number may commit after a higher one was read. The cursor is a snapshot instead: it lists the
 * transactions that were in progress (`xip`) and the first that had not begun (`xmax`). Every row that is visible now but was
 * not visible then was written by one of these transactions. A crash may lose the ids of transactions whose commit was not
 * flushed, and recovery assigns the ids again. So a cursor is valid for one run of the server, which its token identifies, and
 * as long as this process has lost no connection.
 */
export function stockVerbs(
  connection: Connection,
  clock: StoreClock,
): Omit<StockStore, 'forgetAnswers'> & Pick<OrderStore, 'orderTotals'> {
  const totals = countedTotals()
  const toCursor = ({ server, snapshot, prunings }: SnapshotRow) =>
    [snapshot, server, prunings, connection.losses].join('@')

  const concurrentCommits = Math.max(1, Math.min(MAX_CONCURRENT_COMMITS, Math.floor(connection.poolSize / 2)))

  async function commit<const Commands extends readonly SubmittedCommand[]>(
    commands: Commands,
    maxLockWaitMs?: number,
  ): Promise<ResultsOf<Commands>> {
    let readsOrders = needsSection(commands, 'orders')
    for (;;) {
      const decision = await decideAndWrite(connection, clock, commands, readsOrders, maxLockWaitMs).catch(
        (error: unknown) => {
          // A concurrent commit has just created the same id or barcode: the next attempt finds it.
          if (!isTaken(error)) throw error
        },
      )
      if (decision === 'expired_holds') {
        readsOrders = true
        continue
      }
      totals.add(decision?.orders)
      if (decision?.isPostponed === false) return typedResults(commands, decision.results)
    }
  }

  return {
    // Other instances may have changed anything: it takes a query to know.
    version: () => undefined,
    concurrentCommits,
    concurrentLockWaits: Math.max(1, connection.poolSize - concurrentCommits - 1),

    loadStock: (onBatch) =>
      inLongSession(connection, async (session) => {
        await session.run('SELECT register_server()')
        await session.beginRead()
        const [now] = await session.rows<SnapshotRow & { isStandby: boolean }>(
          `SELECT server_token() AS server, pg_current_snapshot()::text AS snapshot, prunings,
            pg_is_in_recovery() AS "isStandby" FROM log_state`,
        )
        if (now === undefined) throw new Error('the database did not return its snapshot')
        // Checked again, since a proxy may have moved the connection to another server.
        if (now.isStandby) throw unavailable(new ReadOnly())
        const cursor = toCursor(now)
        for await (const rows of session.batches<StockRow>(ENTRIES)) onBatch(rows.map(toItem))
        return cursor
      }),

    stockChangesSince: async (cursor) => {
      const [snapshot = '', server, prunings = '0', losses] = cursor.split('@')
      if (losses !== String(connection.losses)) return 'too_many'
      const rows = await connection.run((sql) => changedSince(sql, snapshot, prunings))
      const [first] = rows
      if (first === undefined || losses !== String(connection.losses)) return 'too_many'
      // If neither run of the server is registered, they may be different runs.
      if (first.server === null || first.server !== server) return 'too_many'
      if (first.is_cut || first.reads_all === true || first.log_rows > MAX_CHANGES) return 'too_many'
      const set: InventoryItem[] = []
      const removed: bigint[] = []
      for (const { pet_id, quantity, status } of rows) {
        if (pet_id === null) continue
        if (quantity === null || status === null) removed.push(pet_id)
        else set.push(toItem({ pet_id, quantity, status }))
      }
      return { set, removed, cursor: toCursor(first) }
    },

    changeStock: async (commands, lockWait = 'full') => {
      if (lockWait === 'full') return commit(commands)
      try {
        return await commit(commands, BRIEF_LOCK_WAIT_MS)
      } catch (error) {
        if (!hasState(error, LOCK_TIMEOUT)) throw error
        throw new PetsLockedError(await findLockedPets(connection, petIdsOf(commands)), { cause: error })
      }
    },

    orderTotals: totals.read,
  }
}

/** Writes nothing if a pet has expired holds but the orders were not read: the commit that changes a pet releases them. */
async function decideAndWrite(
  connection: Connection,
  clock: StoreClock,
  commands: readonly SubmittedCommand[],
  readsOrders: boolean,
  maxLockWaitMs: number | undefined,
): Promise<Decision | 'expired_holds'> {
  let decision: Decision | 'expired_holds' | undefined
  const keys = idempotencyKeysOf(commands)
  const readsCatalog = needsSection(commands, 'catalog')
  const readsWebhooks = needsSection(commands, 'webhooks')
  await connection.readThenWrite(
    'durable',
    // The order of locks prevents deadlocks: the catalogue, then keys, then pets. A commit that waits for a key has locked
    // no pet that the owner of the key may need. Orders are read once their pets are locked.
    (sql) =>
      Promise.all([
        readsCatalog ? lockCatalog(sql, commands) : undefined,
        keys.length === 0 ? [] : lockKeys(sql, keys),
        lockPets(sql, commands, clock),
        readsOrders ? readOrders(sql, commands, clock) : undefined,
        readsCatalog ? readCatalog(sql, commands) : undefined,
        readsCatalog && !readsOrders ? takeLogNumbers(sql, maxRowsOf(commands)) : undefined,
        readsWebhooks ? lockWebhooks(sql, commands) : undefined,
      ]),
    (sql, [, answers, rows, orders, catalog, numbers, webhooks]) => {
      if (!readsOrders && rows.some((row) => row.has_expired_holds)) {
        decision = 'expired_holds'
        return Promise.resolve([])
      }
      const entries = new Map(
        rows.map((row) => [row.pet_id, { ...toLockedEntry(row), lastChange: row.last_change }]),
      )
      const lockedCatalog = catalog && lockedOnly(catalog.found, (petId) => entries.has(petId))
      const lockedOrders = orders && toLockedOrders(orders, (petId) => entries.has(petId))
      decision = decide(commands, entries, {
        answers: toAnswers(answers),
        orders: lockedOrders,
        catalog: lockedCatalog,
        webhooks,
      })
      return Promise.all([
        ...(decision.answers.length > 0 ? [remember(sql, decision.answers)] : []),
        ...(decision.webhooks === undefined ? [] : writeWebhooks(sql, decision.webhooks)),
        ...writeDecision(sql, decision, {
          lastChangeOf: (petId) => entries.get(petId)?.lastChange ?? catalog?.latestRows.get(petId) ?? null,
          numbers: lockedOrders?.logNumbers ?? numbers,
          pets: lockedCatalog?.pets,
        }),
      ])
    },
    maxLockWaitMs,
  )
  if (decision === undefined) throw new Error('the commit has no decision')
  return decision
}

/**
 * Reads the changes and the next cursor in one statement, hence from one snapshot. It runs for every read, so it reads the
 * token itself instead of calling server_token(), which takes several times as long. A standby refuses to read it.
 */
function changedSince(sql: SQL, snapshot: string, prunings: string) {
  return sql<ChangedRow[]>`
    WITH changed AS MATERIALIZED (
      SELECT pet_id, kind FROM log_since(${snapshot}::pg_snapshot, ${MAX_CHANGES + 1}::bigint)
    ), total AS (SELECT count(*) AS log_rows, bool_or(kind = 'relist') AS reads_all FROM changed)
    SELECT (
        SELECT token FROM running_server
        WHERE is_only AND started = pg_postmaster_start_time() AND log_oid = 'log'::regclass
      ) AS server, pg_current_snapshot()::text AS snapshot, prunings,
      prunings <> ${prunings}::bigint AND pruned_xid >= pg_snapshot_xmin(${snapshot}::pg_snapshot) AS is_cut,
      log_rows, reads_all, each.pet_id, stock.quantity, stock.status
    FROM log_state CROSS JOIN total
    LEFT JOIN (SELECT DISTINCT pet_id FROM changed WHERE kind IN ('change', 'pet', 'removed')) AS each ON log_rows <= ${MAX_CHANGES}::bigint
    LEFT JOIN stock ON stock.pet_id = each.pet_id`.execute()
}

const LOCK_PETS = `
  SELECT pet_id, quantity, status, reserved, low_at, last_change, reserved > 0 AND EXISTS (
    SELECT FROM orders WHERE orders.pet_id = stock.pet_id AND ${isExpiredSql(`(SELECT ${storeTime('$2')})`)}
  ) AS has_expired_holds FROM stock
  WHERE pet_id = ANY ($1::bigint[]) ORDER BY pet_id FOR NO KEY UPDATE`

/** In the order of their ids, so that two commits never deadlock over their pets. */
function lockPets(sql: SQL, commands: readonly SubmittedCommand[], clock: StoreClock) {
  const petIds = arrayOf(petIdsOf(commands), (petId) => petId)
  return sql.unsafe<LockedRow[]>(LOCK_PETS, [petIds, clock.given()]).execute()
}

/** The pets among these that another transaction has locked at this moment. */
async function findLockedPets(
  connection: Connection,
  petIds: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  const ids = arrayOf(petIds, (petId) => petId)
  const rows = await connection.run((sql) =>
    sql<{ pet_id: bigint }[]>`
      WITH free AS MATERIALIZED (
        SELECT pet_id FROM stock WHERE pet_id = ANY (${ids}::bigint[]) FOR NO KEY UPDATE SKIP LOCKED
      )
      SELECT pet_id FROM stock WHERE pet_id = ANY (${ids}::bigint[])
        AND pet_id NOT IN (SELECT pet_id FROM free)`.execute(),
  )
  return new Set(rows.map(({ pet_id }) => pet_id))
}
