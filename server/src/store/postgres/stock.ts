import type { SQL } from 'bun'
import type { OrderStore } from '../../core/orders/order-store.ts'
import { type Decision, decide } from '../../core/stock/decide.ts'
import { keysOf } from '../../core/stock/idempotency.ts'
import type { InventoryItem, PetStatus } from '../../core/stock/inventory.ts'
import {
  concernsOrders,
  isWebhookRequest,
  petIdsOf,
  type StockOutcome,
  type StockRequest,
} from '../../core/stock/stock-request.ts'
import { PetsLocked, type StockStore } from '../../core/stock/stock-store.ts'
import { concernsCatalog } from '../catalog-named.ts'
import { ENTRIES, type FoundRow, type StockRow, toFound, toItem } from '../log-rows.ts'
import { isHoldOver } from '../order-rows.ts'
import { countedTotals } from '../order-totals.ts'
import { inLongSession, type StoreClock } from '../sql.ts'
import { lockCatalog, lockedOnly, readCatalog } from './catalog.ts'
import type { Connection } from './connection.ts'
import { writeDecision } from './decision.ts'
import { takeLogNumbers } from './dialect.ts'
import { hasState, isTaken, LOCK_TIMEOUT, ReadOnly, unavailable } from './failures.ts'
import { lockKeys, remember, toAnswers } from './idempotency.ts'
import { maxRowsOf, readOrders, toOrdersFound } from './orders.ts'
import { arrayOf } from './parameters.ts'
import { storeTime } from './store-clock.ts'
import { lockWebhooks, writeWebhooks } from './webhooks.ts'

interface LockedRow extends FoundRow {
  last_change: bigint | null
  has_holds_over: boolean
}

interface SnapshotRow {
  /** The run of the server that the snapshot is of, if it is registered: see running_server. */
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

/** Each uses a session; in a small pool, they leave half of the sessions for everything else. */
const MAX_CONCURRENT_COMMITS = 4
/** Much longer than a commit of another instance keeps its pets locked. */
const BRIEF_LOCK_WAIT_MS = 500
/** With more changes than this, loading everything is not slower. */
const MAX_CHANGES = 10_000

/**
 * Every change leaves a row in the log with the transaction that wrote it. Such transactions commit in any order, so a
 * number that grows is no cursor: one with a lower number may commit after a higher one was read. A snapshot is: it names the
 * transactions that were under way (`xip`) and the first that had not begun (`xmax`). What is seen now and was not seen
 * then was written by one of these, and by no other. A crash may lose the ids of transactions that were not waited for on
 * disk, and recovery assigns them again. So a cursor is valid for one run of the server, which its token identifies, and for
 * this process as long as it has lost no connection.
 */
export function stockVerbs(
  connection: Connection,
  clock: StoreClock,
): Omit<StockStore, 'forgetAnswers'> & Pick<OrderStore, 'orderTotals'> {
  const totals = countedTotals()
  const toCursor = ({ server, snapshot, prunings }: SnapshotRow) =>
    [snapshot, server, prunings, connection.losses].join('@')

  const concurrentCommits = Math.max(1, Math.min(MAX_CONCURRENT_COMMITS, Math.floor(connection.poolSize / 2)))

  async function commit(requests: readonly StockRequest[], maxLockWaitMs?: number): Promise<StockOutcome[]> {
    let isAboutOrders = requests.some(concernsOrders)
    for (;;) {
      const decision = await decideAndWrite(connection, clock, requests, isAboutOrders, maxLockWaitMs).catch(
        (error: unknown) => {
          // Somebody else has just made what was to be made: now it is known to be there.
          if (!isTaken(error)) throw error
        },
      )
      if (decision === 'holds_over') {
        isAboutOrders = true
        continue
      }
      totals.add(decision?.orders)
      if (decision?.isPutOff === false) return decision.outcomes
    }
  }

  return {
    // Only the database knows what other instances did.
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
        if (now === undefined) throw new Error('the database does not tell its snapshot')
        // Asked again, since a proxy may have another server behind the same connection by now.
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
      // Two servers that are not registered may be different ones.
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

    changeStock: async (requests, lockWait = 'full') => {
      if (lockWait === 'full') return commit(requests)
      try {
        return await commit(requests, BRIEF_LOCK_WAIT_MS)
      } catch (error) {
        if (!hasState(error, LOCK_TIMEOUT)) throw error
        throw new PetsLocked(await findLockedPets(connection, petIdsOf(requests)), { cause: error })
      }
    },

    orderTotals: totals.read,
  }
}

/** Writes nothing where a pet has holds that are over: they end in the commit that changes it, which has to know them. */
async function decideAndWrite(
  connection: Connection,
  clock: StoreClock,
  requests: readonly StockRequest[],
  isAboutOrders: boolean,
  maxLockWaitMs: number | undefined,
): Promise<Decision | 'holds_over'> {
  let decision: Decision | 'holds_over' | undefined
  const keys = keysOf(requests)
  const isAboutCatalog = requests.some(concernsCatalog)
  const isAboutWebhooks = requests.some(isWebhookRequest)
  await connection.readThenWrite(
    'durable',
    // The catalogue before keys, and these before pets: whoever waits for a key holds no pet that its owner may need. Pets
    // before their orders.
    (sql) =>
      Promise.all([
        isAboutCatalog ? lockCatalog(sql, requests) : undefined,
        keys.length === 0 ? [] : lockKeys(sql, keys),
        lockPets(sql, requests, clock),
        isAboutOrders ? readOrders(sql, requests, clock) : undefined,
        isAboutCatalog ? readCatalog(sql, requests) : undefined,
        isAboutCatalog && !isAboutOrders ? takeLogNumbers(sql, maxRowsOf(requests)) : undefined,
        isAboutWebhooks ? lockWebhooks(sql, requests) : undefined,
      ]),
    (sql, [, answers, rows, orders, catalog, numbers, webhooks]) => {
      if (!isAboutOrders && rows.some((row) => row.has_holds_over)) {
        decision = 'holds_over'
        return Promise.resolve([])
      }
      const found = new Map(rows.map((row) => [row.pet_id, { ...toFound(row), lastChange: row.last_change }]))
      const catalogFound = catalog && lockedOnly(catalog.found, (petId) => found.has(petId))
      const ordersFound = orders && toOrdersFound(orders, (petId) => found.has(petId))
      decision = decide(requests, found, {
        answers: toAnswers(answers),
        orders: ordersFound,
        catalog: catalogFound,
        webhooks,
      })
      return Promise.all([
        ...(decision.answers.length > 0 ? [remember(sql, decision.answers)] : []),
        ...(decision.webhooks === undefined ? [] : writeWebhooks(sql, decision.webhooks)),
        ...writeDecision(sql, decision, {
          lastChangeOf: (petId) => found.get(petId)?.lastChange ?? catalog?.latestRows.get(petId) ?? null,
          numbers: ordersFound?.logNumbers ?? numbers,
          pets: catalogFound?.pets,
        }),
      ])
    },
    maxLockWaitMs,
  )
  if (decision === undefined) throw new Error('a commit was made without a decision')
  return decision
}

/**
 * One statement, hence one snapshot: what changed, and from where to go on. Every read asks this, so the token is read here
 * and not by server_token(), which takes several times as long. A standby refuses to read it.
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
    SELECT FROM orders WHERE orders.pet_id = stock.pet_id AND ${isHoldOver(`(SELECT ${storeTime('$2')})`)}
  ) AS has_holds_over FROM stock
  WHERE pet_id = ANY ($1::bigint[]) ORDER BY pet_id FOR NO KEY UPDATE`

/** In the order of their ids, whatever the order of the changes: two commits that name the same pets never deadlock. */
function lockPets(sql: SQL, requests: readonly StockRequest[], clock: StoreClock) {
  const petIds = arrayOf(petIdsOf(requests), (petId) => petId)
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
