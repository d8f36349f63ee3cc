import type { Command } from '../core/stock/command.ts'
import { WEBHOOK_KINDS, type Webhook, type WebhookProgress } from '../core/webhooks/webhook.ts'
import {
  DELIVERY_ATTEMPT,
  type DeliveryAttempt,
  type DeliveryStore,
  LISTED_ATTEMPT,
  MAX_KEPT_ATTEMPTS,
  type Rewind,
  type WebhookLag,
  type WebhookStore,
  type WebhookWithLag,
} from '../core/webhooks/webhook-store.ts'
import type { LockedWebhooks, WebhookChanges } from '../core/webhooks/webhooks-draft.ts'
import { cursorAt, fromCursor, isCursorOf, type LogMethods, type LogRange } from './cursor.ts'
import { findIdRange } from './history.ts'
import { type RowOf, rowReader, rowValues, selectList } from './record-rows.ts'
import {
  insertRows,
  type RowSource,
  type SqlDatabase,
  type SqlValue,
  type Statement,
  type StoreClock,
  statement,
  upsertSql,
} from './sql.ts'

/** The columns in the second argument of `RowOf` may be null. */
export interface WebhookRow
  extends RowOf<'webhooks', 'old_secret' | 'old_secret_until' | 'off_at' | 'off_reason' | 'created_by'> {
  readonly relist_at: bigint | null
  readonly failing_since: bigint | null
  readonly failed_attempts: bigint | null
  readonly retry_at: bigint | null
}

/** The number of webhooks that a key has created. */
export interface CreatorRow {
  readonly created_by: string | null
  readonly webhooks: bigint
}

export const CREATOR_COUNTS = 'SELECT created_by, count(*) AS webhooks FROM webhooks GROUP BY created_by'

interface LeasedRow extends WebhookRow {
  readonly lease_owner: string
  readonly lease_until: bigint
  readonly now: bigint
}

/** Column names, each with the function that reads the value of the column from a record. */
type ColumnReaders<Value> = Readonly<Record<string, (value: Value) => SqlValue>>

/** The columns that commands write. */
const CALLER_COLUMNS: ColumnReaders<Webhook> = {
  url: ({ url }) => url,
  kinds: ({ kinds }) => kinds.join(),
  paused: ({ paused }) => paused,
  created_at: ({ createdAt }) => createdAt,
  secret: ({ secret }) => secret,
  old_secret: ({ oldSecret }) => oldSecret?.secret ?? null,
  old_secret_until: ({ oldSecret }) => oldSecret?.until ?? null,
  revision: ({ revision }) => revision,
  created_by: ({ createdBy }) => createdBy ?? null,
}

/** The columns that deliveries write. */
const PROGRESS_COLUMNS: ColumnReaders<WebhookProgress> = {
  cursor: ({ cursor }) => cursor,
  relist_at: ({ relistAt }) => relistAt ?? null,
  failing_since: ({ failure }) => failure?.since ?? null,
  failed_attempts: ({ failure }) => failure?.attempts ?? null,
  retry_at: ({ failure }) => failure?.retryAt ?? null,
  off_at: ({ off }) => off?.at ?? null,
  off_reason: ({ off }) => off?.reason ?? null,
}

const PROGRESS_COLUMN_NAMES = Object.keys(PROGRESS_COLUMNS)
const COLUMN_NAMES = ['id', ...Object.keys(CALLER_COLUMNS), ...PROGRESS_COLUMN_NAMES]
export const WEBHOOK_FIELDS = COLUMN_NAMES.join(', ')
const UPSERT_WEBHOOK = upsertSql('webhooks', COLUMN_NAMES)
const FIRST_PROGRESS_PARAMETER = 4
const SET_PROGRESS = PROGRESS_COLUMN_NAMES.map(
  (column, index) => `${column} = $${FIRST_PROGRESS_PARAMETER + index}`,
).join(', ')

function valuesOf<Value>(columns: ColumnReaders<Value>, value: Value): SqlValue[] {
  return Object.values(columns).map((read) => read(value))
}

/** The differences between the two databases. */
interface WebhookOptions {
  /** The tables of the log for a FROM clause, and the column that holds the position of a row. */
  readonly log: { readonly source: string; readonly position: string }
  /** Its rows may come from commits that are not flushed to disk yet. */
  readonly unflushedSource?: RowSource
  /** Absent if only one process delivers webhooks. All processes use the same `clock`, so they agree on the end of a lease. */
  readonly lease?: { readonly owner: string; readonly clock: StoreClock }
}

const ONE_RELIST: WebhookLag = { events: 1, since: undefined }

/** The lag of a webhook that has to send a relist before the other events. */
function withRelist({ events, since }: WebhookLag): WebhookLag {
  return { events: events + 1, since }
}

export function webhookMethods(
  database: SqlDatabase,
  { logRange, eventsAfter }: Pick<LogMethods, 'logRange' | 'eventsAfter'>,
  { log, lease, unflushedSource = database }: WebhookOptions,
): WebhookStore & Omit<DeliveryStore, 'version' | 'latestEventCursor' | 'eventsAfter'> {
  const owner = lease?.owner ?? ''

  const lagOf = async (cursor: string, range: LogRange): Promise<WebhookLag> => {
    const delivered = fromCursor(cursor)
    // The cursor does not belong to this log, for example after a restore, so a single relist event is delivered instead.
    if (delivered === undefined || !isCursorOf(range, delivered)) return ONE_RELIST
    const events = Number(range.position - delivered.position)
    if (events === 0) return { events, since: undefined }
    const [first] = await database.rows<{ at: bigint }>(
      `SELECT at FROM ${log.source} WHERE ${log.position} > $1 ORDER BY ${log.position} LIMIT 1`,
      delivered.position,
    )
    return { events, since: first === undefined ? undefined : Number(first.at) }
  }

  /**
   * Missing rows at the beginning of the log do not prove that it was pruned: on PostgreSQL, the first position may
   * never have had a row. `eventsAfter` returns `relist_needed` only if the log was pruned.
   */
  const isPruned = async (range: LogRange): Promise<boolean> =>
    (await eventsAfter(cursorAt(range, 0n), 1)) === 'relist_needed'

  const withLag = async (row: WebhookRow, range: LogRange): Promise<WebhookWithLag> => {
    const webhook = toWebhook(row)
    const { cursor, relistAt } = webhook.progress
    const lag = await lagOf(cursor, range)
    return { webhook, lag: relistAt === undefined ? lag : withRelist(lag) }
  }

  return {
    listWebhooks: async () => {
      const rows = await database.rows<WebhookRow>(
        `SELECT ${WEBHOOK_FIELDS} FROM webhooks ORDER BY created_at, id`,
      )
      if (rows.length === 0) return []
      const range = await logRange()
      return Promise.all(rows.map((row) => withLag(row, range)))
    },

    findWebhook: async (id) => {
      const [row] = await database.rows<WebhookRow>(
        `SELECT ${WEBHOOK_FIELDS} FROM webhooks WHERE id = $1`,
        id,
      )
      return row === undefined ? undefined : withLag(row, await logRange())
    },

    listDeliveries: async (webhookId, limit, before) => {
      const rows = await database.rows<object>(
        `SELECT id, ${ATTEMPT_FIELDS} FROM webhook_attempts
          WHERE webhook_id = $1 AND ($3 OR id < $4) ORDER BY id DESC LIMIT CAST($2 AS BIGINT)`,
        webhookId,
        limit,
        before === undefined,
        before ?? 0n,
      )
      return rows.map(toAttempt)
    },

    recordDeliveries: (webhookId, attempts) => recordDeliveries(database, webhookId, attempts),

    findRewind: async ({ cursor, relistAt }, since) => {
      const range = await logRange()
      const current = fromCursor(cursor)
      if (relistAt !== undefined) {
        return { type: 'no_rewind', cursor, lag: withRelist(await lagOf(cursor, range)) }
      }
      const relist: Rewind = { type: 'relist', cursor: cursorAt(range, range.position), lag: ONE_RELIST }
      if (current === undefined) return relist
      const events = await eventsAfter(cursor, 1)
      if (events === 'relist_needed' || events === 'unknown_cursor') return relist
      // The log has no index on `at`. The range leaves out the rows that are certainly older.
      const sinceRange = await findIdRange(database, { since })
      const firstRows = await database.rows<{ position: bigint }>(
        `SELECT ${log.position} AS position FROM ${log.source} WHERE id >= $1 AND at >= $2 ORDER BY ${log.position} LIMIT 1`,
        sinceRange?.first ?? 0n,
        since,
      )
      const start = (firstRows[0]?.position ?? range.position + 1n) - 1n
      // The log is pruned from its beginning. If it still has an event at or before `start`, it has every event after `start`.
      const olderRows = await database.rows(
        `SELECT 1 FROM ${log.source} WHERE ${log.position} <= $1 LIMIT 1`,
        start,
      )
      const mayLackEvents = start > 0n && olderRows.length === 0
      if (start >= current.position) {
        if (mayLackEvents && (await isPruned(range))) return relist
        return { type: 'no_rewind', cursor, lag: await lagOf(cursor, range) }
      }
      if (mayLackEvents) return relist
      const startCursor = cursorAt(range, start)
      return { type: 'events', cursor: startCursor, lag: await lagOf(startCursor, range) }
    },

    leaseWebhooks: async (durationMs) => {
      const readLeases = () =>
        database.rows<LeasedRow>(
          `SELECT ${WEBHOOK_FIELDS}, lease_owner, lease_until, ${lease?.clock.nowSql('$1') ?? '$1'} AS now FROM webhooks`,
          lease?.clock.processTime() ?? null,
        )
      const rows = await readLeases()
      if (lease === undefined) return rows.map(toWebhook)
      // A lease that ends later than a new one would is from before the clock was set back.
      const isImpossible = ({ lease_until, now }: LeasedRow) => lease_until > now + BigInt(durationMs)
      const needsLease = (row: LeasedRow) =>
        row.lease_until < row.now ||
        isImpossible(row) ||
        (row.lease_owner === owner && row.lease_until < row.now + BigInt(durationMs) / 2n)
      const isOurs = ({ lease_owner, lease_until, now }: LeasedRow) =>
        lease_owner === owner && lease_until >= now
      if (!rows.some(needsLease)) return rows.filter(isOurs).map(toWebhook)
      const now = lease.clock.nowSql('$2')
      await database.commit(
        [
          statement(
            `UPDATE webhooks SET revision = CASE WHEN lease_owner = $1 THEN revision ELSE revision + 1 END,
              lease_owner = $1, lease_until = ${now} + $3
            WHERE lease_owner = $1 OR lease_until < ${now} OR lease_until > ${now} + $3`,
            owner,
            lease.clock.processTime(),
            durationMs,
          ),
        ],
        'unflushed',
      )
      return (await readLeases()).filter(isOurs).map(toWebhook)
    },

    webhookRevisions: async () => {
      const rows = await unflushedSource.rows<Pick<WebhookRow, 'id' | 'revision'>>(
        'SELECT id, revision FROM webhooks',
      )
      return new Map(rows.map(({ id, revision }) => [id, Number(revision)]))
    },

    releaseWebhooks: async () => {
      if (lease === undefined) return
      await database.commit(
        [statement('UPDATE webhooks SET lease_until = 0 WHERE lease_owner = $1', owner)],
        'unflushed',
      )
    },

    saveProgress: async ({ id, revision }, progress, attempts) => {
      const [savedRows] = await database.commit(
        [
          statement(
            `UPDATE webhooks SET ${SET_PROGRESS}
              WHERE id = $1 AND revision = $2 AND lease_owner = $3`,
            id,
            revision,
            owner,
            ...valuesOf(PROGRESS_COLUMNS, progress),
          ),
        ],
        'unflushed',
      )
      if (attempts.length > 0) await recordDeliveries(database, id, attempts)
      return savedRows === 1
    },
  }
}

/** The webhooks that the commands name, each once, by id ascending. */
export function webhookIdsOf(commands: readonly Command[]): bigint[] {
  const ids = new Set<bigint>()
  for (const command of commands) {
    switch (command.type) {
      case 'create_webhook':
        ids.add(command.webhook.id)
        break
      case 'update_webhook':
      case 'rotate_webhook_secret':
      case 'move_webhook_cursor':
      case 'remove_webhook':
        ids.add(command.webhookId)
        break
    }
  }
  return [...ids].sort((one, other) => (one < other ? -1 : 1))
}

export function toLockedWebhooks(
  rows: readonly WebhookRow[],
  creators: readonly CreatorRow[],
): LockedWebhooks {
  const countByKey = new Map<string, number>()
  let total = 0
  for (const { created_by, webhooks } of creators) {
    total += Number(webhooks)
    if (created_by !== null) countByKey.set(created_by, Number(webhooks))
  }
  return { byId: new Map(rows.map((row) => [row.id, toWebhook(row)])), total, countByKey }
}

/** Statements that write the changes. The commit must have locked these webhooks. */
export function webhookStatements(changes: WebhookChanges): Statement[] {
  return Array.from(changes, ([id, webhook]) => {
    if (webhook === undefined) return statement('DELETE FROM webhooks WHERE id = $1', id)
    return statement(
      UPSERT_WEBHOOK,
      id,
      ...valuesOf(CALLER_COLUMNS, webhook),
      ...valuesOf(PROGRESS_COLUMNS, webhook.progress),
    )
  })
}

function toWebhook(row: WebhookRow): Webhook {
  const { id, url, secret, old_secret, old_secret_until, created_at, created_by, revision } = row
  const names = row.kinds.split(',')
  return {
    id,
    url,
    secret,
    kinds: WEBHOOK_KINDS.filter((kind) => names.includes(kind)),
    paused: Boolean(row.paused),
    createdAt: Number(created_at),
    revision: Number(revision),
    ...(old_secret === null || old_secret_until === null
      ? {}
      : { oldSecret: { secret: old_secret, until: Number(old_secret_until) } }),
    ...(created_by === null ? {} : { createdBy: created_by }),
    progress: toProgress(row),
  }
}

function toProgress(row: WebhookRow): WebhookProgress {
  const { cursor, relist_at, failing_since, failed_attempts, retry_at, off_at, off_reason } = row
  return {
    cursor,
    ...(relist_at === null ? {} : { relistAt: Number(relist_at) }),
    ...(failing_since === null || failed_attempts === null || retry_at === null
      ? {}
      : {
          failure: {
            since: Number(failing_since),
            attempts: Number(failed_attempts),
            retryAt: Number(retry_at),
          },
        }),
    ...(off_at === null || off_reason === null ? {} : { off: { at: Number(off_at), reason: off_reason } }),
  }
}

const ATTEMPT_FIELDS = selectList(DELIVERY_ATTEMPT)
const attemptValues = rowValues(DELIVERY_ATTEMPT)
const toAttempt = rowReader(LISTED_ATTEMPT)

async function recordDeliveries(
  database: SqlDatabase,
  webhookId: bigint,
  attempts: readonly DeliveryAttempt[],
): Promise<void> {
  const inserts = insertRows(
    `webhook_attempts (webhook_id, ${ATTEMPT_FIELDS})`,
    attempts.map((attempt) => [webhookId, ...attemptValues(attempt)]),
  )
  const removeOldAttempts = statement(
    `DELETE FROM webhook_attempts WHERE webhook_id = $1 AND id <= (
      SELECT id FROM webhook_attempts WHERE webhook_id = $1 ORDER BY id DESC LIMIT 1 OFFSET ${MAX_KEPT_ATTEMPTS})`,
    webhookId,
  )
  try {
    await database.commit([...inserts, removeOldAttempts], 'unflushed')
  } catch (error) {
    // The commit also fails if the webhook was removed in the meantime. Then there is nothing to record.
    const rows = await database.rows('SELECT id FROM webhooks WHERE id = $1', webhookId)
    if (rows.length > 0) throw error
  }
}
