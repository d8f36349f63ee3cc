import type { Database } from 'bun:sqlite'
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

/** Reads webhooks inside a commit. */
export function readWebhooks(database: Database, commands: readonly Command[]): LockedWebhooks {
  const findWebhook = database.query<WebhookRow, [bigint]>(
    `SELECT ${WEBHOOK_FIELDS} FROM webhooks WHERE id = ?`,
  )
  const rows = webhookIdsOf(commands).flatMap((id) => findWebhook.get(id) ?? [])
  return toLockedWebhooks(rows, database.query<CreatorRow, []>(CREATOR_COUNTS).all())
}
