import type { SQL } from 'bun'
import type { StockRequest } from '../../core/stock/stock-request.ts'
import type { WebhookChanges, WebhooksFound } from '../../core/webhooks/changing-webhooks.ts'
import {
  toWebhooksFound,
  WEBHOOK_FIELDS,
  type WebhookRow,
  webhookIdsOf,
  webhookStatements,
} from '../webhooks.ts'
import { arrayOf, bound } from './parameters.ts'

/** Those that are named, locked in the order of their ids; and how many there are. */
export async function lockWebhooks(sql: SQL, requests: readonly StockRequest[]): Promise<WebhooksFound> {
  const [rows, [count]] = await Promise.all([
    sql
      .unsafe<WebhookRow[]>(
        `SELECT ${WEBHOOK_FIELDS} FROM webhooks WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE`,
        [arrayOf(webhookIdsOf(requests), (id) => id)],
      )
      .execute(),
    sql.unsafe<{ total: bigint }[]>('SELECT count(*) AS total FROM webhooks').execute(),
  ])
  return toWebhooksFound(rows, count?.total ?? 0n)
}

export function writeWebhooks(sql: SQL, changes: WebhookChanges): Promise<unknown>[] {
  return webhookStatements(changes).map(({ text, values }) => sql.unsafe(text, values.map(bound)).execute())
}
