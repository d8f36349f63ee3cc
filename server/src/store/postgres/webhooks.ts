import type { SQL } from 'bun'
import type { LockedWebhooks } from '../../core/webhooks/webhooks-draft.ts'
import { toLockedWebhooks, WEBHOOK_FIELDS, WEBHOOKS_WITH_OWNERS, type WebhookRow } from '../webhooks.ts'

/** An advisory lock. The number is arbitrary: the ASCII codes of "webhooks". */
const WEBHOOKS_LOCK = 0x776562686f6f6b73n

/**
 * Locks and reads all webhooks. Commits that change webhooks run one after the other, so that together they do not exceed the
 * limit.
 */
export async function lockWebhooks(sql: SQL): Promise<LockedWebhooks> {
  const [, rows] = await Promise.all([
    sql`SELECT pg_advisory_xact_lock(${WEBHOOKS_LOCK}::bigint)`.execute(),
    sql
      .unsafe<WebhookRow[]>(
        `SELECT ${WEBHOOK_FIELDS} FROM ${WEBHOOKS_WITH_OWNERS} ORDER BY webhooks.id FOR UPDATE OF webhooks`,
      )
      .execute(),
  ])
  return toLockedWebhooks(rows)
}
