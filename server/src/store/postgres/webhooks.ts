import type { SQL } from 'bun'
import type { Command } from '../../core/stock/command.ts'
import type { LockedWebhooks } from '../../core/webhooks/webhooks-draft.ts'
import {
  CREATOR_COUNTS,
  type CreatorRow,
  toLockedWebhooks,
  WEBHOOK_FIELDS,
  type WebhookRow,
  webhookIdsOf,
} from '../webhooks.ts'
import { idArray } from './dialect.ts'

/** An advisory lock. The number is arbitrary: the ASCII codes of "webhooks". */
const CREATION_LOCK = 0x776562686f6f6b73n

/**
 * Locks and reads the webhooks that the commands name, in the order of their ids, and counts all webhooks. Commits that
 * create a webhook run one after the other, so that together they do not exceed the limits.
 */
export async function lockWebhooks(sql: SQL, commands: readonly Command[]): Promise<LockedWebhooks> {
  const createsWebhook = commands.some(({ type }) => type === 'create_webhook')
  const [, rows, creators] = await Promise.all([
    createsWebhook ? sql`SELECT pg_advisory_xact_lock(${CREATION_LOCK}::bigint)`.execute() : undefined,
    sql
      .unsafe<WebhookRow[]>(
        `SELECT ${WEBHOOK_FIELDS} FROM webhooks WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE`,
        [idArray(webhookIdsOf(commands))],
      )
      .execute(),
    sql.unsafe<CreatorRow[]>(CREATOR_COUNTS).execute(),
  ])
  return toLockedWebhooks(rows, creators)
}
