import type { Database, SQLQueryBindings } from 'bun:sqlite'
import type { StockRequest } from '../../core/stock/stock-request.ts'
import type { WebhookChanges, WebhooksFound } from '../../core/webhooks/changing-webhooks.ts'
import {
  toWebhooksFound,
  WEBHOOK_FIELDS,
  type WebhookRow,
  webhookIdsOf,
  webhookStatements,
} from '../webhooks.ts'
import { bound } from './connection.ts'

/** For use inside a commit. */
export function webhookTable(database: Database) {
  const find = database.query<WebhookRow, [bigint]>(`SELECT ${WEBHOOK_FIELDS} FROM webhooks WHERE id = ?`)
  const count = database.query<{ total: bigint }, []>('SELECT count(*) AS total FROM webhooks')
  return {
    find: (requests: readonly StockRequest[]): WebhooksFound => {
      const rows = webhookIdsOf(requests).flatMap((id) => find.get(id) ?? [])
      return toWebhooksFound(rows, count.get()?.total ?? 0n)
    },
    write: (changes: WebhookChanges): void => {
      for (const { text, values } of webhookStatements(changes)) {
        const numbered = text.replaceAll(/\$(\d+)/g, '?$1')
        database.query<unknown, SQLQueryBindings[]>(numbered).run(...values.map(bound))
      }
    },
  }
}
