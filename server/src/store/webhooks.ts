import { isWebhookRequest, type StockRequest } from '../core/stock/stock-request.ts'
import type { WebhookChanges, WebhooksFound } from '../core/webhooks/changing-webhooks.ts'
import { WEBHOOK_KINDS, type Webhook, type WebhookProgress } from '../core/webhooks/webhook.ts'
import type { DeliveryStore, WebhookLag, WebhookState, WebhookStore } from '../core/webhooks/webhook-store.ts'
import { cursorAt, fromCursor, isCursorOf, type LogRange } from './cursor.ts'
import { type SqlDatabase, type SqlValue, type Statement, type StoreClock, statement } from './sql.ts'
import { attemptVerbs } from './webhook-attempts.ts'

export interface WebhookRow {
  readonly id: bigint
  readonly url: string
  readonly kinds: string
  readonly paused: boolean | bigint
  readonly created_at: bigint
  readonly secret: string
  readonly old_secret: string | null
  readonly old_secret_until: bigint | null
  readonly cursor: string
  readonly relist_at: bigint | null
  readonly failing_since: bigint | null
  readonly failed_attempts: bigint | null
  readonly retry_at: bigint | null
  readonly off_at: bigint | null
  readonly off_reason: string | null
  readonly revision: bigint
  readonly created_by: string | null
}

/** How many webhooks each key has created. */
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

/** What callers decide on, and how far it has come, each with its column. */
const FIELDS = 'url, kinds, paused, created_at, secret, old_secret, old_secret_until, revision, created_by'
const PROGRESS_FIELDS = 'cursor, relist_at, failing_since, failed_attempts, retry_at, off_at, off_reason'
export const WEBHOOK_FIELDS = `id, ${FIELDS}, ${PROGRESS_FIELDS}`

/** What differs between the two databases. */
export interface WebhookBase {
  /** Rows of the log with their places: what stands behind FROM, and the column of the place. */
  readonly log: { readonly from: string; readonly place: string }
  /** Who delivers, where several processes may: they go by the clock that they share. */
  readonly lease?: { readonly owner: string; readonly clock: StoreClock }
}

interface LogVerbs {
  logRange(): Promise<LogRange>
}

export function webhookVerbs(
  database: SqlDatabase,
  { logRange }: LogVerbs,
  { log, lease }: WebhookBase,
): WebhookStore & Omit<DeliveryStore, 'version' | 'latestEventCursor' | 'eventsAfter'> {
  const owner = lease?.owner ?? ''

  const withLag = async (row: WebhookRow, range: LogRange): Promise<WebhookState> => {
    const webhook = toWebhook(row)
    return { webhook, lag: await lagOf(database, log, webhook.progress.cursor, range) }
  }

  const attempts = attemptVerbs(database)

  return {
    ...attempts,

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

    eventCursorAt: async (time) => {
      const range = await logRange()
      const [first] = await database.rows<{ place: bigint }>(
        `SELECT ${log.place} AS place FROM ${log.from} WHERE at >= $1 ORDER BY ${log.place} LIMIT 1`,
        time,
      )
      return cursorAt(range, first === undefined ? range.position : first.place - 1n)
    },

    leaseWebhooks: async (durationMs) => {
      const read = async () =>
        database.rows<LeasedRow>(
          `SELECT ${WEBHOOK_FIELDS}, lease_owner, lease_until, ${lease?.clock.sql('$1') ?? '$1'} AS now FROM webhooks`,
          lease?.clock.given() ?? null,
        )
      const rows = await read()
      if (lease === undefined) return rows.map(toWebhook)
      const isDue = ({ lease_owner, lease_until, now }: LeasedRow) =>
        lease_until < now || (lease_owner === owner && lease_until < now + BigInt(durationMs) / 2n)
      const isOurs = ({ lease_owner, lease_until, now }: LeasedRow) =>
        lease_owner === owner && lease_until >= now
      if (!rows.some(isDue)) return rows.filter(isOurs).map(toWebhook)
      const now = lease.clock.sql('$2')
      await database.commit(
        [
          statement(
            `UPDATE webhooks SET revision = CASE WHEN lease_owner = $1 THEN revision ELSE revision + 1 END,
              lease_owner = $1, lease_until = ${now} + $3
            WHERE lease_owner = $1 OR lease_until < ${now}`,
            ...[owner, lease.clock.given(), durationMs],
          ),
        ],
        'forgettable',
      )
      return (await read()).filter(isOurs).map(toWebhook)
    },

    releaseWebhooks: async () => {
      if (lease === undefined) return
      await database.commit(
        [statement('UPDATE webhooks SET lease_until = 0 WHERE lease_owner = $1', owner)],
        'forgettable',
      )
    },

    saveProgress: async ({ id, revision }, progress, made) => {
      const [saved] = await database.commit(
        [
          statement(
            `UPDATE webhooks SET ${assignments(PROGRESS_FIELDS, 4)}
              WHERE id = $1 AND revision = $2 AND lease_owner = $3`,
            ...[id, revision, owner, ...progressValues(progress)],
          ),
        ],
        'forgettable',
      )
      if (saved !== 1) return false
      if (made.length > 0) await attempts.recordDeliveries(id, made)
      return true
    },
  }
}

async function lagOf(
  database: SqlDatabase,
  { from, place }: WebhookBase['log'],
  cursor: string,
  range: LogRange,
): Promise<WebhookLag> {
  const here = fromCursor(cursor)
  // The place is gone: a relist stands for all that happened since.
  if (here === undefined || !isCursorOf(range, here)) return { events: 1, since: undefined }
  const events = Number(range.position - here.position)
  if (events === 0) return { events, since: undefined }
  const [first] = await database.rows<{ at: bigint }>(
    `SELECT at FROM ${from} WHERE ${place} > $1 ORDER BY ${place} LIMIT 1`,
    here.position,
  )
  return { events, since: first === undefined ? undefined : Number(first.at) }
}

/** Those that requests name, in their order. */
export function webhookIdsOf(requests: readonly StockRequest[]): bigint[] {
  const ids = requests
    .filter(isWebhookRequest)
    .map((request) => ('webhookId' in request ? request.webhookId : request.newWebhook.id))
  return [...new Set(ids)].sort((one, other) => (one < other ? -1 : 1))
}

export function toWebhooksFound(rows: readonly WebhookRow[], creators: readonly CreatorRow[]): WebhooksFound {
  const createdBy = new Map<string, number>()
  let total = 0
  for (const { created_by, webhooks } of creators) {
    total += Number(webhooks)
    if (created_by !== null) createdBy.set(created_by, Number(webhooks))
  }
  return { named: new Map(rows.map((row) => [row.id, toWebhook(row)])), total, createdBy }
}

/** For use inside a commit that has locked them. */
export function webhookStatements(changes: WebhookChanges): Statement[] {
  return Array.from(changes, ([id, webhook]) => {
    if (webhook === undefined) return statement('DELETE FROM webhooks WHERE id = $1', id)
    const values = [id, ...callerValues(webhook), ...progressValues(webhook.progress)]
    return statement(
      `INSERT INTO webhooks (${WEBHOOK_FIELDS}) VALUES (${values.map((_, index) => `$${index + 1}`)})
        ON CONFLICT (id) DO UPDATE SET ${assignments(`${FIELDS}, ${PROGRESS_FIELDS}`, 2)}`,
      ...values,
    )
  })
}

/** `url = $2, kinds = $3` and so on. */
function assignments(fields: string, first: number): string {
  return fields
    .split(', ')
    .map((field, index) => `${field} = $${first + index}`)
    .join()
}

function callerValues(webhook: Webhook): SqlValue[] {
  const { url, kinds, paused, createdAt, createdBy, secret, oldSecret, revision } = webhook
  return [
    ...[url, kinds.join(), paused, createdAt, secret],
    ...[oldSecret?.secret ?? null, oldSecret?.until ?? null, revision, createdBy ?? null],
  ]
}

function progressValues({ cursor, relistAt, failure, off }: WebhookProgress): SqlValue[] {
  return [
    ...[cursor, relistAt ?? null, failure?.since ?? null, failure?.attempts ?? null],
    ...[failure?.retryAt ?? null, off?.at ?? null, off?.reason ?? null],
  ]
}

function toWebhook(row: WebhookRow): Webhook {
  const { id, url, secret, old_secret, old_secret_until, created_at, created_by, revision } = row
  const names = row.kinds.split(',')
  return {
    ...{ id, url, secret, kinds: WEBHOOK_KINDS.filter((kind) => names.includes(kind)) },
    ...{ paused: Boolean(row.paused), createdAt: Number(created_at), revision: Number(revision) },
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
