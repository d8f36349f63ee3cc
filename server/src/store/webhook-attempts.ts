import {
  type DeliveryAttempt,
  type ListedAttempt,
  MAX_KEPT_DELIVERIES,
  type WebhookStore,
} from '../core/webhooks/webhook-store.ts'
import { insertRows, type SqlDatabase, type SqlValue, statement } from './sql.ts'

interface AttemptRow {
  readonly id: bigint
  readonly message_id: string
  readonly type: string
  readonly at: bigint
  readonly duration_ms: bigint
  readonly attempt: bigint
  readonly is_delivered: boolean | bigint
  readonly status: bigint | null
  readonly error: string | null
  readonly response: string
}

const ATTEMPT_FIELDS = 'message_id, type, at, duration_ms, attempt, is_delivered, status, error, response'

export function attemptVerbs(
  database: SqlDatabase,
): Pick<WebhookStore, 'listDeliveries' | 'recordDeliveries'> {
  return {
    listDeliveries: async (webhookId, limit, before) => {
      const rows = await database.rows<AttemptRow>(
        `SELECT id, ${ATTEMPT_FIELDS} FROM webhook_attempts
          WHERE webhook_id = $1 AND ($3 OR id < $4) ORDER BY id DESC LIMIT CAST($2 AS BIGINT)`,
        ...[webhookId, limit, before === undefined, before ?? 0n],
      )
      return rows.map(toAttempt)
    },

    recordDeliveries: async (webhookId, attempts) => {
      const inserts = insertRows(
        `webhook_attempts (webhook_id, ${ATTEMPT_FIELDS})`,
        attempts.map((attempt) => [webhookId, ...attemptValues(attempt)]),
      )
      const removal = statement(
        `DELETE FROM webhook_attempts WHERE webhook_id = $1 AND id <= (
          SELECT id FROM webhook_attempts WHERE webhook_id = $1 ORDER BY id DESC LIMIT 1 OFFSET ${MAX_KEPT_DELIVERIES})`,
        webhookId,
      )
      try {
        await database.commit([...inserts, removal], 'forgettable')
      } catch (error) {
        // Of one that was removed while they were under way, nothing is kept.
        const isThere = await database.rows('SELECT id FROM webhooks WHERE id = $1', webhookId)
        if (isThere.length > 0) throw error
      }
    },
  }
}

function attemptValues(attempt: DeliveryAttempt): SqlValue[] {
  const { messageId, type, at, durationMs, isDelivered, status, error, response } = attempt
  return [
    ...[messageId, type, at, Math.round(durationMs), attempt.attempt, isDelivered],
    ...[status ?? null, error ?? null, response],
  ]
}

function toAttempt(row: AttemptRow): ListedAttempt {
  const { id, message_id: messageId, type, response, status, error } = row
  return {
    ...{ id, messageId, type, response, at: Number(row.at), durationMs: Number(row.duration_ms) },
    ...{ attempt: Number(row.attempt), isDelivered: Boolean(row.is_delivered) },
    ...(status === null ? {} : { status: Number(status) }),
    ...(error === null ? {} : { error }),
  }
}
