import type { SQL } from 'bun'
import { petsOfExpiredHolds, petsToFree, releaseOf } from '../../core/orders/expired-holds.ts'
import type { OrderStore } from '../../core/orders/order-store.ts'
import { type OrderChanges, PetsNeeded } from '../../core/orders/orders-draft.ts'
import {
  type CommandOf,
  type ResultsOf,
  type SubmittedCommand,
  typedResults,
} from '../../core/stock/command.ts'
import { needsSection, orderIdsOf, petIdsOf } from '../../core/stock/command-table.ts'
import {
  type Decision,
  decide,
  type ImportableDecision,
  idempotencyKeysOf,
  type RememberedAnswer,
  type SentIdempotencyKey,
} from '../../core/stock/decide.ts'
import type { InventoryItem, PetStatus } from '../../core/stock/inventory.ts'
import { type CommitOptions, PetsLockedError, type StockStore } from '../../core/stock/stock-store.ts'
import { ServiceError } from '../../core/values/errors.ts'
import { decideWithFacts } from '../facts.ts'
import { advanceIdsStatements } from '../generated-ids.ts'
import {
  ANSWER_COLUMNS,
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
import {
  excludedValues,
  inLongSession,
  type LongSession,
  type Statement,
  type StoreClock,
  statement,
} from '../sql.ts'
import { type TableChange, tableChanges } from '../table-changes.ts'
import { webhookStatements } from '../webhooks.ts'
import { lockCatalog, onlyLockedPets, readCatalog } from './catalog.ts'
import type { Connection } from './connection.ts'
import {
  arrayText,
  columnArrays,
  DIALECT,
  IMPORT_LOCK,
  idArray,
  insertSql,
  quotedElement,
  toParameter,
  updateSql,
} from './dialect.ts'
import { hasState, isDuplicateKey, LOCK_TIMEOUT, ReadOnly, unavailableError } from './failures.ts'
import { findExpiredHolds, NEXT_EXPIRY, readOrders, skipImportedIds, toLockedOrders } from './orders.ts'
import { runAll } from './session.ts'
import { storeTimeSql } from './store-clock.ts'
import { lockWebhooks } from './webhooks.ts'

interface PetRow extends LockedRow {
  /** When the next hold of the pet expires. It has expired if the store has not released it in time. */
  readonly next_expiry: bigint | null
}

export interface SnapshotRow {
  /**
   * The token of the PostgreSQL server that took the snapshot; null if the server has none yet. It changes with every restart.
   * See running_server.
   */
  server: string | null
  snapshot: string
  /** How often the log was pruned. */
  prunings: bigint
}

export interface ChangedRow extends SnapshotRow {
  /** Whether log rows that were written after the cursor have been pruned. */
  is_pruned: boolean
  log_rows: bigint
  /** Whether a relist row asks for reading the whole stock; null without log rows. */
  has_relist: boolean | null
  pet_id: bigint | null
  quantity: bigint | null
  status: PetStatus | null
}

/** Each commit uses a session. In a small pool, commits use at most half of the sessions. */
const MAX_CONCURRENT_COMMITS = 4
/** The lock timeout ends before the statement timeout, so that the error names the reason. */
export const LOCK_WAIT_SHARE = 0.9
/** When a caller should retry while an import is running. Nobody knows when it ends. */
const IMPORT_RETRY_SECONDS = 5
/** A commit of another instance holds its locks for a much shorter time, so only a long transaction causes this timeout. */
const BRIEF_LOCK_WAIT_MS = 400

/**
 * The cursor of the stock is a snapshot of PostgreSQL. An increasing number cannot be the cursor: transactions commit in any
 * order, so a row with a lower number may become visible after a row with a higher number was read. A snapshot lists the
 * transactions that were in progress (`xip`) and the first that had not begun (`xmax`). Every log row has the id of its
 * transaction, so the rows that have become visible since then can be found.
 *
 * After a crash, PostgreSQL may reuse the ids of transactions that were not flushed. So a cursor is valid only until the server
 * restarts, which changes its token, and only until this process loses a connection, because then the server may have crashed.
 */
export function stockMethods(
  connection: Connection,
  clock: StoreClock,
): Omit<StockStore, keyof AnswerMethods> & Pick<OrderStore, 'orderTotals'> {
  const totals = orderTotalsCounter()
  const toCursor = ({ server, snapshot, prunings }: SnapshotRow) =>
    [snapshot, server, prunings, connection.lossCount].join('@')

  const concurrentCommits = Math.max(1, Math.min(MAX_CONCURRENT_COMMITS, Math.floor(connection.poolSize / 2)))

  async function commit<const Commands extends readonly SubmittedCommand[]>(
    commands: Commands,
    options: CommitOptions,
  ): Promise<ResultsOf<Commands>> {
    for (;;) {
      try {
        const { results } = await decideUntilDone(connection, clock, commands, options, totals.add)
        return typedResults(commands, results)
      } catch (error) {
        // A concurrent commit has just created the same id or barcode. The next attempt finds and locks the new row.
        if (!isDuplicateKey(error)) throw error
      }
    }
  }

  return {
    // Only a query can show whether another instance has changed something.
    version: () => undefined,
    concurrentCommits,
    concurrentLockWaits: Math.max(1, connection.poolSize - concurrentCommits - 1),

    loadStock: async (onBatch) => {
      const load = async (session: LongSession) => {
        await session.run('SELECT register_server()')
        await session.beginRead()
        const [current] = await session.rows<SnapshotRow & { isStandby: boolean }>(
          `SELECT server_token() AS server, pg_current_snapshot()::text AS snapshot, prunings,
            pg_is_in_recovery() AS "isStandby" FROM log_state`,
        )
        if (current === undefined) throw new Error('the database did not return its snapshot')
        // Every new connection is checked, but a proxy may have moved it to another server since then.
        if (current.isStandby) throw unavailableError(new ReadOnly())
        const cursor = toCursor(current)
        for await (const rows of session.batches<StockRow>(ALL_ENTRIES)) onBatch(rows.map(toItem))
        return cursor
      }
      // Every GET /inventory waits for this load. Without the timeout, a dead network would block them all.
      return inLongSession(connection, load, { hasStatementTimeout: true })
    },

    stockChangesSince: async (cursor) => {
      const [snapshot = '', server, prunings = '0', lossCount] = cursor.split('@')
      if (lossCount !== String(connection.lossCount)) return 'reload'
      const rows = await connection.run((sql) => changedSince(sql, snapshot, prunings))
      const [first] = rows
      if (first === undefined || lossCount !== String(connection.lossCount)) return 'reload'
      // The token changes when PostgreSQL restarts. Until the first token is stored, the cursor may be from before a restart.
      if (first.server === null || first.server !== server) return 'reload'
      if (first.is_pruned || first.has_relist === true || first.log_rows > MAX_CHANGES_TO_APPLY)
        return 'reload'
      const updated: InventoryItem[] = []
      const removed: bigint[] = []
      for (const { pet_id, quantity, status } of rows) {
        if (pet_id === null) continue
        if (quantity === null || status === null) removed.push(pet_id)
        else updated.push(toItem({ pet_id, quantity, status }))
      }
      return { updated, removed, cursor: toCursor(first) }
    },

    changeStock: async (commands, options = {}) => {
      // Commands that have already waited briefly are not kept waiting until the end of an import.
      const isImporting = options.lockWait === 'full' && (await isImportRunning(connection))
      try {
        return await commit(commands, isImporting ? { ...options, lockWait: 'brief' } : options)
      } catch (error) {
        if (!hasState(error, LOCK_TIMEOUT)) throw error
        if (isImporting) throw importRunning(error)
        if (options.lockWait !== 'brief') throw error
        throw new PetsLockedError(await findLockedPets(connection, petIdsOf(commands)), { cause: error })
      }
    },

    orderTotals: totals.read,
  }
}

/** The part of a connection that runs the transaction of a commit. */
export type Transact = Pick<Connection, 'readThenWrite' | 'statementTimeoutMs'>

/**
 * Decides the commands and writes the decision. Expired holds of their pets are released first, in commits of their own. Calls
 * `onWritten` for each transaction that this takes.
 */
export async function decideUntilDone(
  transact: Transact,
  clock: StoreClock,
  commands: readonly SubmittedCommand[],
  options: CommitOptions = {},
  onWritten: (orders: OrderChanges | undefined) => void = () => {},
): Promise<Decision> {
  const petIds = new Set(petIdsOf(commands))
  const changedOrders = new Set<bigint>()
  for (;;) {
    const attempt = await decideAndWrite(transact, clock, commands, petIds, options).catch(
      (error: unknown) => {
        if (changedOrders.size === 0) throw error
        // If one of the new pets is locked, the error names the pets that the commands know, so that these commands wait.
        const blocked = commands.filter((command) =>
          orderIdsOf([command]).some((id) => changedOrders.has(id)),
        )
        throw lockedUnlessWaiting(error, petIdsOf(blocked), options)
      },
    )
    switch (attempt.type) {
      case 'decided':
        onWritten(attempt.decision.orders)
        return attempt.decision
      case 'pets_needed':
        for (const petId of attempt.petIds) petIds.add(petId)
        for (const orderId of attempt.orderIds) changedOrders.add(orderId)
        break
      case 'expired_holds':
        await releaseHolds(attempt, options, (release, lockOptions) =>
          decideUntilDone(transact, clock, [release], lockOptions, onWritten),
        )
        break
      case 'clock_jumped':
        break
    }
  }
}

/** If another pet of a hold is locked, the error names the pets of the commands, so that only these commands wait. */
async function releaseHolds(
  { petIds, release }: Extract<Attempt, { type: 'expired_holds' }>,
  options: CommitOptions,
  decideRelease: (release: CommandOf<'release_holds'>, options: CommitOptions) => Promise<unknown>,
): Promise<void> {
  const { lockWait } = options
  try {
    await decideRelease(release, lockWait === undefined ? {} : { lockWait })
  } catch (error) {
    throw lockedUnlessWaiting(error, petIds, options)
  }
}

/** The error of a commit whose brief lock wait has ended. */
function lockedUnlessWaiting(
  error: unknown,
  petIds: readonly bigint[],
  { lockWait }: CommitOptions,
): unknown {
  return lockWait === 'brief' && hasState(error, LOCK_TIMEOUT)
    ? new PetsLockedError(new Set(petIds), { cause: error })
    : error
}

/**
 * What became of commands. Unless they were decided, nothing was changed, except that `lockIdempotencyKeys` has inserted an empty
 * row for each new idempotency key.
 */
type Attempt =
  | { readonly type: 'decided'; readonly decision: Decision }
  /** These pets have expired holds, which have to be released first. */
  | {
      readonly type: 'expired_holds'
      readonly petIds: readonly bigint[]
      readonly release: CommandOf<'release_holds'>
    }
  /** These orders of the commands have these pets, too, which have to be locked. */
  | {
      readonly type: 'pets_needed'
      readonly petIds: readonly bigint[]
      readonly orderIds: readonly bigint[]
    }
  /** The clock of the database has just jumped, so the holds may not have expired. */
  | { readonly type: 'clock_jumped' }

async function decideAndWrite(
  transact: Transact,
  clock: StoreClock,
  commands: readonly SubmittedCommand[],
  petIds: ReadonlySet<bigint>,
  { lockWait, onLocked }: CommitOptions,
): Promise<Attempt> {
  const keys = idempotencyKeysOf(commands)
  const readsCatalog = needsSection(commands, 'catalog')
  const readsWebhooks = needsSection(commands, 'webhooks')
  // Pets, and the other rows that the statements below lock. A commit that waits for several locks must not exceed the timeout.
  const lockCount = 1 + (readsCatalog ? 2 : 0) + (keys.length > 0 ? 1 : 0) + (readsWebhooks ? 1 : 0)
  const maxLockWaitMs =
    lockWait === 'brief'
      ? BRIEF_LOCK_WAIT_MS
      : Math.floor((LOCK_WAIT_SHARE * transact.statementTimeoutMs) / lockCount)
  const { attempt } = await transact.readThenWrite(
    'durable',
    async (sql): Promise<AttemptedCommit> => {
      // Every commit takes its locks in the same order, which prevents deadlocks: the catalogue, then idempotency keys, then
      // pets, then webhooks. A commit that waits for a key has not locked a pet yet, so the commit that holds the key can lock
      // its pets. Orders are read once their pets are locked.
      const [, answerRows, petRows, [logId], orderRows, storedCatalog, webhooks] = await Promise.all([
        readsCatalog ? lockCatalog(sql, commands) : undefined,
        keys.length === 0 ? [] : lockIdempotencyKeys(sql, keys),
        lockPets(sql, [...petIds]),
        takeLogId(sql, clock),
        needsSection(commands, 'orders') ? readOrders(sql, commands, clock) : undefined,
        readsCatalog ? readCatalog(sql, commands) : undefined,
        readsWebhooks ? lockWebhooks(sql) : undefined,
        skipImportedIds(sql, commands),
      ])
      const orders = orderRows && toLockedOrders(orderRows, petIds)
      if (orders !== undefined && !clock.isCredible(orders.now)) return { attempt: { type: 'clock_jumped' } }
      // A hold can expire while the commit waits for a lock, so the time is that after all locks.
      const now = orders?.now ?? Number(logId?.now)
      const petsWithHolds = petRows
        .filter(({ next_expiry }) => next_expiry !== null && next_expiry <= now)
        .map((row) => row.pet_id)
      // Another commit may have restarted a hold after its pets were read.
      if (orders !== undefined) petsWithHolds.push(...petsOfExpiredHolds(orders))
      const toFree = petsToFree(commands, petIds)
      const heldPets = petsWithHolds.filter((petId) => toFree.has(petId))
      if (heldPets.length > 0) {
        const holds = await findExpiredHolds(sql, heldPets, clock)
        const release = releaseOf(holds, commands[0]?.at ?? 0)
        return { attempt: { type: 'expired_holds', petIds: heldPets, release } }
      }
      onLocked?.()
      const entries = new Map(petRows.map((row) => [row.pet_id, toLockedEntry(row)]))
      const locked = {
        firstLogId: logId?.id ?? 1n,
        answers: toAnswers(answerRows),
        orders,
        catalog: storedCatalog && onlyLockedPets(storedCatalog, (petId) => entries.has(petId)),
        webhooks,
      }
      const deciding = decideWithFacts(DIALECT, (facts) => decide(commands, entries, { ...locked, facts }))
      try {
        let step = deciding.next()
        while (!step.done) {
          const { text, values } = step.value
          step = deciding.next(await sql.unsafe(text, values.map(toParameter)))
        }
        return { attempt: { type: 'decided', decision: step.value }, firstLogId: locked.firstLogId }
      } catch (error) {
        if (!(error instanceof PetsNeeded)) throw error
        const { petIds: missingPets, orderIds } = error
        return { attempt: { type: 'pets_needed', petIds: missingPets, orderIds } }
      }
    },
    (sql, commit) => (commit.firstLogId === undefined ? undefined : runAll(sql, commitStatements(commit))),
    { maxLockWaitMs },
  )
  return attempt
}

type AttemptedCommit =
  | { readonly attempt: Extract<Attempt, { type: 'decided' }>; readonly firstLogId: bigint }
  | { readonly attempt: Attempt; readonly firstLogId?: undefined }

/** Must run after the pets are locked, so that the log ids of a pet are in the order of its changes. */
function takeLogId(sql: SQL, clock: StoreClock) {
  return sql.unsafe<{ id: bigint; now: bigint }[]>(TAKE_LOG_ID, [clock.processTime()]).execute()
}

const TAKE_LOG_ID = `SELECT nextval('log_ids') AS id, ${storeTimeSql('$1')} AS now`

function commitStatements({
  attempt: { decision },
  firstLogId,
}: Extract<AttemptedCommit, { firstLogId: bigint }>): Statement[] {
  const { answers, webhooks } = decision
  return [
    ...(answers.length > 0 ? [answersStatement(answers)] : []),
    ...(webhooks === undefined ? [] : webhookStatements(webhooks)),
    ...decisionStatements(decision, firstLogId),
  ]
}

/** Statements that write a decision inside a commit. */
export function decisionStatements(decision: ImportableDecision, firstLogId: bigint): Statement[] {
  const { catalog } = decision
  const writes = tableChanges(decision, firstLogId).flatMap(tableStatements)
  if (catalog === undefined) return writes
  return [
    ...writes,
    ...categoryStatements(DIALECT, catalog),
    ...advanceIdsStatements(DIALECT, 'pets', catalog.pets.keys()),
  ]
}

/** If another commit has just created the same pet, adding its entry fails, and the commit is tried again. */
function tableStatements({ table, columns, key, unique, added, changed, removed }: TableChange): Statement[] {
  const writes: Statement[] = []
  const changedIds = changed.map(([id]) => id as bigint)
  if (removed.length > 0) {
    writes.push(statement(`DELETE FROM ${table} WHERE ${key} = ANY ($1::bigint[])`, idArray(removed)))
  }
  if (unique !== undefined && changed.length > 0) {
    const text = `UPDATE ${table} SET ${unique} = NULL WHERE ${key} = ANY ($1::bigint[]) AND ${unique} IS NOT NULL`
    writes.push(statement(text, idArray(changedIds)))
  }
  if (added.length > 0) {
    // A pet that has lost its stock entry counts as new, so its row is replaced.
    const replace =
      table === 'pets' ? ` ON CONFLICT (${key}) DO UPDATE SET ${excludedValues(Object.keys(columns))}` : ''
    writes.push(statement(insertSql(table, columns) + replace, ...columnArrays(columns, added)))
  }
  if (changed.length > 0) {
    writes.push(statement(updateSql(table, columns, key), ...columnArrays(columns, changed)))
  }
  return writes
}

/**
 * Reads the changes and the next cursor in one statement, and so from one snapshot. It runs for every read request. Therefore
 * it reads the token directly, which is several times faster than calling server_token(). A standby rejects the
 * statement, so there is no `isStandby` check as in `loadStock`.
 */
function changedSince(sql: SQL, snapshot: string, prunings: string) {
  return sql.unsafe<ChangedRow[]>(CHANGED_SINCE, [snapshot, BigInt(prunings)]).execute()
}

const CHANGED_SINCE = `
  WITH changed AS MATERIALIZED (
    SELECT pet_id, kind FROM log_since($1::pg_snapshot, ${MAX_CHANGES_TO_APPLY + 1})
  ), total AS (SELECT count(*) AS log_rows, bool_or(kind = 'relist') AS has_relist FROM changed)
  SELECT (
      SELECT token FROM running_server
      WHERE is_only AND started = pg_postmaster_start_time() AND log_oid = 'log'::regclass
    ) AS server, pg_current_snapshot()::text AS snapshot, prunings,
    prunings <> $2::bigint AND pruned_xid >= pg_snapshot_xmin($1::pg_snapshot) AS is_pruned,
    log_rows, has_relist, each.pet_id, stock.quantity, stock.status
  FROM log_state CROSS JOIN total
  LEFT JOIN (SELECT DISTINCT pet_id FROM changed WHERE ${CHANGES_INVENTORY}) AS each ON log_rows <= ${MAX_CHANGES_TO_APPLY}
  LEFT JOIN stock ON stock.pet_id = each.pet_id`

const LOCK_PETS = `
  SELECT ${LOCKED_SELECT_LIST}, ${NEXT_EXPIRY} AS next_expiry FROM stock
  WHERE pet_id = ANY ($1::bigint[]) ORDER BY pet_id FOR NO KEY UPDATE`

/** Locks the pets in the order of their ids, so that two commits never deadlock over them. */
function lockPets(sql: SQL, petIds: readonly bigint[]) {
  return sql.unsafe<PetRow[]>(LOCK_PETS, [idArray(petIds)]).execute()
}

/** Whether an import of any process holds its locks. */
async function isImportRunning(connection: Connection): Promise<boolean> {
  const [row] = await connection.rows<{ running: boolean }>(
    'SELECT NOT pg_try_advisory_xact_lock_shared($1) AS running',
    IMPORT_LOCK,
  )
  return row?.running === true
}

function importRunning(cause: unknown): ServiceError {
  return new ServiceError(
    'service_unavailable',
    'an import is running, and until it ends the records that it changes are locked; nothing was changed',
    { cause, retryAfterSeconds: IMPORT_RETRY_SECONDS },
  )
}

/** The pets of this list that another transaction has locked at this moment. */
async function findLockedPets(
  connection: Connection,
  petIds: readonly bigint[],
): Promise<ReadonlySet<bigint>> {
  const ids = idArray(petIds)
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

/**
 * Locks the idempotency keys in the given order and reads their rows. A new key gets a row without an answer, so that
 * concurrent commits with the same key wait for this commit.
 */
function lockIdempotencyKeys(sql: SQL, keys: readonly SentIdempotencyKey[]) {
  return sql<AnswerRow[]>`
    INSERT INTO idempotency (key_id, key, fingerprint, answer, forget_at)
    SELECT key_id, key, '', '', forget_at FROM unnest(
      ${arrayText(keys, ({ keyId }) => quotedElement(keyId))}::text[],
      ${arrayText(keys, ({ idempotencyKey }) => quotedElement(idempotencyKey))}::text[],
      ${arrayText(keys, ({ forgetAt }) => forgetAt)}::bigint[]
    ) AS named (key_id, key, forget_at)
    ON CONFLICT (key_id, key) DO UPDATE SET forget_at = idempotency.forget_at
    RETURNING key_id, key, fingerprint, answer, forget_at`.execute()
}

const WRITE_ANSWERS = `
  ${insertSql('idempotency', ANSWER_COLUMNS)}
  ON CONFLICT (key_id, key)
  DO UPDATE SET fingerprint = excluded.fingerprint, answer = excluded.answer, forget_at = excluded.forget_at`

function answersStatement(answers: readonly RememberedAnswer[]): Statement {
  return statement(WRITE_ANSWERS, ...columnArrays(ANSWER_COLUMNS, answers.map(answerValues)))
}
