import type { Database } from 'bun:sqlite'
import type { SubmittedCommand } from '../../core/stock/command.ts'
import {
  type Answers,
  answerId,
  idempotencyKeysOf,
  type RememberedAnswer,
} from '../../core/stock/idempotency.ts'

interface AnswerRow {
  readonly fingerprint: string
  readonly answer: string
  readonly at: bigint
}

/** The remembered answers inside a commit. */
export function answerTable(database: Database) {
  const find = database.query<AnswerRow, [keyId: string, key: string]>(
    'SELECT fingerprint, answer, at FROM idempotency WHERE key_id = ? AND key = ?',
  )
  const write = database.query<unknown, [string, string, string, string, number]>(
    'INSERT OR REPLACE INTO idempotency (key_id, key, fingerprint, answer, at) VALUES (?, ?, ?, ?, ?)',
  )
  return {
    find: (commands: readonly SubmittedCommand[]): Answers => {
      const answers = new Map<string, RememberedAnswer>()
      for (const { keyId, key } of idempotencyKeysOf(commands)) {
        const row = find.get(keyId, key)
        if (row !== null) answers.set(answerId({ keyId, key }), { keyId, key, ...row, at: Number(row.at) })
      }
      return answers
    },
    add: (answers: readonly RememberedAnswer[]): void => {
      for (const { keyId, key, fingerprint, answer, at } of answers)
        write.run(keyId, key, fingerprint, answer, at)
    },
  }
}
