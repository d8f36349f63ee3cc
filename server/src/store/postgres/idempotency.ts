import type { SQL } from 'bun'
import {
  type Answers,
  answerId,
  type IdempotencyKey,
  type RememberedAnswer,
} from '../../core/stock/idempotency.ts'
import { arrayText, quotedElement } from './parameters.ts'

interface AnswerRow {
  key_id: string
  key: string
  fingerprint: string
  answer: string
  at: bigint
}

/**
 * Locks the keys in the given order. A new key gets a row without an answer, which concurrent commits with the same key wait
 * for; a known key is locked and read.
 */
export function lockIdempotencyKeys(sql: SQL, keys: readonly IdempotencyKey[]) {
  return sql<AnswerRow[]>`
    INSERT INTO idempotency (key_id, key, fingerprint, answer, at)
    SELECT key_id, key, '', '', at FROM unnest(
      ${arrayText(keys, ({ keyId }) => quotedElement(keyId))}::text[],
      ${arrayText(keys, ({ key }) => quotedElement(key))}::text[],
      ${arrayText(keys, ({ at }) => at)}::bigint[]
    ) AS named (key_id, key, at)
    ON CONFLICT (key_id, key) DO UPDATE SET at = idempotency.at
    RETURNING key_id, key, fingerprint, answer, at`.execute()
}

export function toAnswers(rows: readonly AnswerRow[]): Answers {
  const answers = new Map<string, RememberedAnswer>()
  for (const { key_id: keyId, key, fingerprint, answer, at } of rows) {
    if (answer === '') continue
    answers.set(answerId({ keyId, key }), { keyId, key, fingerprint, answer, at: Number(at) })
  }
  return answers
}

export function remember(sql: SQL, answers: readonly RememberedAnswer[]) {
  return sql`
    INSERT INTO idempotency (key_id, key, fingerprint, answer, at)
    SELECT * FROM unnest(
      ${arrayText(answers, ({ keyId }) => quotedElement(keyId))}::text[],
      ${arrayText(answers, ({ key }) => quotedElement(key))}::text[],
      ${arrayText(answers, ({ fingerprint }) => quotedElement(fingerprint))}::text[],
      ${arrayText(answers, ({ answer }) => quotedElement(answer))}::text[],
      ${arrayText(answers, ({ at }) => at)}::bigint[]
    )
    ON CONFLICT (key_id, key)
    DO UPDATE SET fingerprint = excluded.fingerprint, answer = excluded.answer, at = excluded.at`.execute()
}
