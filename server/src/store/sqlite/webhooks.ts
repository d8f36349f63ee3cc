import type { Database, SQLQueryBindings } from 'bun:sqlite'
import type { StockRequest } from '../../core/stock/stock-request.ts'
import type { WebhookChanges, WebhooksFound } from '../../core/webhooks/changing-webhooks.ts'
import {
  CREATOR_COUNTS,
  type CreatorRow,
  toWebhooksFound,
  WEBHOOK_FIELDS,
  type WebhookRow,
  webhookIdsOf,
  webhookStatements,
} from '../webhooks.ts'
import { toBinding } from './connection.ts'

/** For use inside a commit. */
export function webhookTable(database: Database) {
  const find = database.query<WebhookRow, [bigint]>(`SELECT ${WEBHOOK_FIELDS} FROM webhooks WHERE id = ?`)
  const countCreated = database.query<CreatorRow, []>(CREATOR_COUNTS)
  return {
    find: (requests: readonly StockRequest[]): WebhooksFound => {
      const rows = webhookIdsOf(requests).flatMap((id) => find.get(id) ?? [])
      return toWebhooksFound(rows, countCreated.all())
    },
    write: (changes: WebhookChanges): void => {
      for (const { text, values } of webhookStatements(changes)) {
        const numbered = text.replaceAll(/\$(\d+)/g, '?$1')
        database.query<unknown, SQLQueryBindings[]>(numbered).run(...values.map(toBinding))
      }
    },
  }
}
