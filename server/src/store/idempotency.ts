import { type Answers, answerId, NO_ANSWER, type RememberedAnswer } from '../core/stock/decide.ts'
import type { StockStore } from '../core/stock/stock-store.ts'
import { COPIED_TABLES } from '../core/transfer/copy.ts'
import type { RowOf } from './record-rows.ts'
import { type SqlDatabase, type SqlValue, statement } from './sql.ts'

/** A row without an answer exists only to be locked. */
export type AnswerRow = RowOf<'idempotency'>

export const ANSWER_COLUMNS = COPIED_TABLES.idempotency
export const ANSWER_COLUMN_NAMES = Object.keys(ANSWER_COLUMNS)

/** The values of an answer in the order of ANSWER_COLUMNS. */
export function answerValues(answer: RememberedAnswer): SqlValue[] {
  return [answer.keyId, answer.idempotencyKey, answer.fingerprint, answer.answer, answer.forgetAt]
}

export function toAnswers(rows: readonly AnswerRow[]): Answers {
  const answers = new Map<string, RememberedAnswer>()
  for (const { key_id: keyId, key: idempotencyKey, fingerprint, answer, forget_at } of rows) {
    if (answer === NO_ANSWER) continue
    const id = answerId({ keyId, idempotencyKey })
    answers.set(id, { keyId, idempotencyKey, fingerprint, answer, forgetAt: Number(forget_at) })
  }
  return answers
}

export type AnswerMethods = Pick<StockStore, 'findAnswer' | 'forgetAnswers'>

export function answerMethods(database: SqlDatabase): AnswerMethods {
  const { forUpdate, skipLocked } = database.dialect
  return {
    findAnswer: async (sent) => {
      const rows = await database.rows<AnswerRow>(
        `SELECT ${ANSWER_COLUMN_NAMES} FROM idempotency WHERE key_id = $1 AND key = $2`,
        sent.keyId,
        sent.idempotencyKey,
      )
      return toAnswers(rows).get(answerId(sent))
    },
    forgetAnswers: async (now, maxAnswers) => {
      // Usually there is nothing to remove, and then no commit is needed.
      const [oldRow] = await database.rows('SELECT 1 FROM idempotency WHERE forget_at <= $1 LIMIT 1', now)
      if (oldRow === undefined) return 0
      const [removed = 0] = await database.commit([
        statement(
          `DELETE FROM idempotency WHERE (key_id, key) IN (
            SELECT key_id, key FROM idempotency WHERE forget_at <= $1 ORDER BY forget_at LIMIT CAST($2 AS BIGINT) ${forUpdate} ${skipLocked})`,
          now,
          maxAnswers,
        ),
      ])
      return removed
    },
  }
}
