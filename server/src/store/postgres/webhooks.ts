import type { SQL } from 'bun'
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
import { arrayOf, toParameter } from './parameters.ts'

/** Any number that no other lock has: the ASCII codes of "webhooks". */
const CREATION_LOCK = 0x776562686f6f6b73n

/**
 * The webhooks that are named, locked in the order of their ids, and how many there are. Those who create one come one
 * after the other, so that nobody exceeds the limits by asking twice at once.
 */
export async function lockWebhooks(sql: SQL, requests: readonly StockRequest[]): Promise<WebhooksFound> {
  const createsOne = requests.some((request) => 'newWebhook' in request)
  const [, rows, creators] = await Promise.all([
    createsOne ? sql`SELECT pg_advisory_xact_lock(${CREATION_LOCK}::bigint)`.execute() : undefined,
    sql
      .unsafe<WebhookRow[]>(
        `SELECT ${WEBHOOK_FIELDS} FROM webhooks WHERE id = ANY ($1::bigint[]) ORDER BY id FOR UPDATE`,
        [arrayOf(webhookIdsOf(requests), (id) => id)],
      )
      .execute(),
    sql.unsafe<CreatorRow[]>(CREATOR_COUNTS).execute(),
  ])
  return toWebhooksFound(rows, creators)
}

export function writeWebhooks(sql: SQL, changes: WebhookChanges): Promise<unknown>[] {
  return webhookStatements(changes).map(({ text, values }) =>
    sql.unsafe(text, values.map(toParameter)).execute(),
  )
}
