import { parsePermissions } from '../core/keys/api-key.ts'
import { fromCursor, isEarlierCursor } from '../core/stock/log-cursor.ts'
import { type HeldPet, WEBHOOK_KINDS, type Webhook, type WebhookProgress } from '../core/webhooks/webhook.ts'
import {
  DELIVERY_ATTEMPT,
  type DeliveryAttempt,
  type DeliveryStore,
  LISTED_ATTEMPT,
  MAX_KEPT_ATTEMPTS,
  type WebhookLag,
  type WebhookStore,
  type WebhookWithLag,
} from '../core/webhooks/webhook-store.ts'
import type { LockedWebhooks, WebhookChanges } from '../core/webhooks/webhooks-draft.ts'
import { isCursorOf, type LogMethods, type LogRange } from './cursor.ts'
import { type RowOf, rowReader, rowValues, selectList } from './record-rows.ts'
import {
  insertRows,
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
  readonly retry_at: bigint | null
  readonly held: string | null
  /** The columns of the key; null if no key created the webhook. */
  readonly owner_permissions: string | null
  readonly owner_expires_at: bigint | null
  readonly owner_revoked_at: bigint | null
  readonly owner_paused_at: bigint | null
}

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
  failing_since: ({ failingSince }) => failingSince ?? null,
  retry_at: ({ retryAt }) => retryAt ?? null,
  held: ({ held }) => (held.length === 0 ? null : JSON.stringify(held.map(heldToJson))),
  off_at: ({ off }) => off?.at ?? null,
  off_reason: ({ off }) => off?.reason ?? null,
}

const PROGRESS_COLUMN_NAMES = Object.keys(PROGRESS_COLUMNS)
const COLUMN_NAMES = ['id', ...Object.keys(CALLER_COLUMNS), ...PROGRESS_COLUMN_NAMES]
const OWNER_COLUMNS = ['permissions', 'expires_at', 'revoked_at', 'paused_at'] as const
/** Webhooks and the keys that they belong to, for a SELECT. */
export const WEBHOOK_FIELDS = [
  ...COLUMN_NAMES.map((column) => `webhooks.${column}`),
  ...OWNER_COLUMNS.map((column) => `keys.${column} AS owner_${column}`),
].join(', ')
export const WEBHOOKS_WITH_OWNERS = 'webhooks LEFT JOIN keys ON keys.id = webhooks.created_by'
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
  /** Absent if only one process delivers webhooks. All processes use the same `clock`, so they agree on the end of a lease. */
  readonly lease?: { readonly owner: string; readonly clock: StoreClock }
}

const ONE_RELIST: WebhookLag = { events: 1, since: undefined }

type WebhookDeliveryStore = Omit<DeliveryStore, 'version' | 'latestEventCursor' | 'eventsAfter'>

export function webhookMethods(
  database: SqlDatabase,
  { logRange }: Pick<LogMethods, 'logRange'>,
  { log, lease }: WebhookOptions,
): WebhookStore & WebhookDeliveryStore {
  const withLag = lagReader(database, log)
  return {
    listWebhooks: async () => {
      const rows = await database.rows<WebhookRow>(
        `SELECT ${WEBHOOK_FIELDS} FROM ${WEBHOOKS_WITH_OWNERS} ORDER BY webhooks.created_at, webhooks.id`,
      )
      if (rows.length === 0) return []
      const range = await logRange()
      return Promise.all(rows.map((row) => withLag(row, range)))
    },

    findWebhook: async (id) => {
      const [row] = await database.rows<WebhookRow>(
        `SELECT ${WEBHOOK_FIELDS} FROM ${WEBHOOKS_WITH_OWNERS} WHERE webhooks.id = $1`,
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

    ...deliveryMethods(database, lease),
  }
}

/** Returns a function that adds the backlog to a webhook. */
function lagReader(database: SqlDatabase, log: WebhookOptions['log']) {
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

  return async (row: WebhookRow, range: LogRange): Promise<WebhookWithLag> => {
    const webhook = toWebhook(row)
    const { cursor, relistAt, held } = webhook.progress
    const { events, since } = await lagOf(cursor, range)
    const oldest = held.reduce(
      (first, pet) => (isEarlierCursor(pet.cursor, first) ? pet.cursor : first),
      cursor,
    )
    return {
      webhook,
      lag: {
        events: events + held.length + (relistAt === undefined ? 0 : 1),
        since: oldest === cursor ? since : (await lagOf(oldest, range)).since,
      },
    }
  }
}

/** Only the process with the lease delivers and saves progress. */
function deliveryMethods(database: SqlDatabase, lease: WebhookOptions['lease']): WebhookDeliveryStore {
  const owner = lease?.owner ?? ''
  return {
    sharesDeliveries: lease !== undefined,

    leaseWebhooks: async (durationMs) => {
      const readLeases = () =>
        database.rows<LeasedRow>(
          `SELECT ${WEBHOOK_FIELDS}, lease_owner, lease_until, ${lease?.clock.nowSql('$1') ?? '$1'} AS now
          FROM ${WEBHOOKS_WITH_OWNERS}`,
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

export function toLockedWebhooks(rows: readonly WebhookRow[]): LockedWebhooks {
  return new Map(rows.map((row) => [row.id, toWebhook(row)]))
}

/** Statements that write the changes. The commit must have locked these webhooks. */
export function webhookStatements({ webhooks, audit }: WebhookChanges): Statement[] {
  const changes = Array.from(webhooks, ([id, webhook]) => {
    if (webhook === undefined) return statement('DELETE FROM webhooks WHERE id = $1', id)
    return statement(
      UPSERT_WEBHOOK,
      id,
      ...valuesOf(CALLER_COLUMNS, webhook),
      ...valuesOf(PROGRESS_COLUMNS, webhook.progress),
    )
  })
  const entries = audit.map(({ at, actorId, action, keyId, detail }) =>
    statement(
      `INSERT INTO audit (at, actor, action, key_id, detail)
      VALUES ($1, coalesce((SELECT name || ' (' || id || ')' FROM keys WHERE id = $2), $3), $4, $5, $6)`,
      at,
      actorId,
      actorId,
      action,
      keyId,
      detail,
    ),
  )
  return [...changes, ...entries]
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
    ...toOwner(row),
    progress: toProgress(row),
  }
}

function toOwner(row: WebhookRow): Pick<Webhook, 'owner'> {
  const { created_by: id, owner_permissions: permissions } = row
  if (id === null || permissions === null) return {}
  const { owner_expires_at: expiresAt, owner_revoked_at: revokedAt, owner_paused_at: pausedAt } = row
  return {
    owner: {
      id,
      permissions: parsePermissions(permissions),
      ...(expiresAt === null ? {} : { expiresAt: Number(expiresAt) }),
      ...(revokedAt === null ? {} : { revokedAt: Number(revokedAt) }),
      ...(pausedAt === null ? {} : { pausedAt: Number(pausedAt) }),
    },
  }
}

function toProgress(row: WebhookRow): WebhookProgress {
  const { cursor, relist_at, failing_since, retry_at, held, off_at, off_reason } = row
  return {
    cursor,
    held: held === null ? [] : (JSON.parse(held) as HeldPetJson[]).map(heldFromJson),
    ...(relist_at === null ? {} : { relistAt: Number(relist_at) }),
    ...(failing_since === null ? {} : { failingSince: Number(failing_since) }),
    ...(retry_at === null ? {} : { retryAt: Number(retry_at) }),
    ...(off_at === null || off_reason === null ? {} : { off: { at: Number(off_at), reason: off_reason } }),
  }
}

/** In JSON, which has no `bigint`. */
interface HeldPetJson extends Omit<HeldPet, 'petId'> {
  readonly petId: string | null
}

function heldToJson({ petId, ...rest }: HeldPet): HeldPetJson {
  return { petId: petId === undefined ? null : String(petId), ...rest }
}

function heldFromJson({ petId, ...rest }: HeldPetJson): HeldPet {
  return { petId: petId === null ? undefined : BigInt(petId), ...rest }
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
  const removeOldAttempts = ['is_parked IS NULL', 'is_parked IS NOT NULL'].map((condition) =>
    statement(
      `DELETE FROM webhook_attempts WHERE webhook_id = $1 AND ${condition} AND id <= (
        SELECT id FROM webhook_attempts WHERE webhook_id = $1 AND ${condition}
        ORDER BY id DESC LIMIT 1 OFFSET ${MAX_KEPT_ATTEMPTS})`,
      webhookId,
    ),
  )
  try {
    await database.commit([...inserts, ...removeOldAttempts], 'unflushed')
  } catch (error) {
    // The commit also fails if the webhook was removed in the meantime. Then there is nothing to record.
    const rows = await database.rows('SELECT id FROM webhooks WHERE id = $1', webhookId)
    if (rows.length > 0) throw error
  }
}
