import type { Database } from 'bun:sqlite'
import type { Command } from '../../core/stock/command.ts'
import type { LockedWebhooks, WebhookChanges } from '../../core/webhooks/webhooks-draft.ts'
import {
  CREATOR_COUNTS,
  type CreatorRow,
  toLockedWebhooks,
  WEBHOOK_FIELDS,
  type WebhookRow,
  webhookIdsOf,
  webhookStatements,
} from '../webhooks.ts'
import { runAll } from './dialect.ts'

/** Reads and writes webhooks inside a commit. */
export function webhookTable(database: Database) {
  const findWebhook = database.query<WebhookRow, [bigint]>(
    `SELECT ${WEBHOOK_FIELDS} FROM webhooks WHERE id = ?`,
  )
  const countByCreator = database.query<CreatorRow, []>(CREATOR_COUNTS)
  return {
    read: (commands: readonly Command[]): LockedWebhooks => {
      const rows = webhookIdsOf(commands).flatMap((id) => findWebhook.get(id) ?? [])
      return toLockedWebhooks(rows, countByCreator.all())
    },
    write: (changes: WebhookChanges): void => {
      runAll(database, webhookStatements(changes))
    },
  }
}
