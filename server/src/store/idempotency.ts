import type { StockStore } from '../core/stock/stock-store.ts'
import { type SqlDatabase, statement } from './sql.ts'

export function answerMethods(database: SqlDatabase): Pick<StockStore, 'forgetAnswers'> {
  const { forUpdate, skipLocked } = database.dialect
  return {
    forgetAnswers: async (before, batch) => {
      // Usually there is nothing to remove, and then no commit is needed.
      const [old] = await database.rows('SELECT 1 FROM idempotency WHERE at < $1 LIMIT 1', before)
      if (old === undefined) return 0
      const [removed = 0] = await database.commit([
        statement(
          `DELETE FROM idempotency WHERE (key_id, key) IN (
            SELECT key_id, key FROM idempotency WHERE at < $1 ORDER BY at LIMIT CAST($2 AS BIGINT) ${forUpdate} ${skipLocked})`,
          before,
          batch,
        ),
      ])
      return removed
    },
  }
}
