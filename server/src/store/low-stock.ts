import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import { inLongSession, type LongSession, type SqlDatabase, statement } from './sql.ts'

/** A condition on `stock`: the pet is low. It is the rule of `isLow` in core/stock/stock-draft.ts; a test compares both. */
export const IS_LOW = '(low_at IS NOT NULL AND quantity - reserved <= low_at)'
/** A condition on `stock`: the pet has crossed its threshold, and the crossing is not in the log yet. */
export const HAS_CROSSED = `is_low <> ${IS_LOW}`

/** Finds the time at which a pet became low. The index has only `low` rows, so other log rows do not cost an index write. */
export const CROSSINGS_INDEX = `CREATE INDEX log_of_crossings ON log (pet_id, id) WHERE kind = 'low'`

/**
 * The threshold that applies to a pet, from `pets` and `categories`. It is the rule of `thresholdOf` in
 * core/stock/stock-draft.ts; a test compares both.
 */
export const THRESHOLD = 'coalesce(pets.low_stock_at, categories.low_stock_at)'
export function thresholdMethods(
  database: SqlDatabase,
): Pick<CatalogStore, 'unappliedThresholds' | 'petsWithOldThreshold' | 'finishThresholdChange'> {
  return {
    unappliedThresholds: async () => {
      const rows = await database.rows<{ id: bigint; threshold_change: string }>(
        'SELECT id, threshold_change FROM categories WHERE threshold_change IS NOT NULL',
      )
      return new Map(rows.map(({ id, threshold_change }) => [id, threshold_change]))
    },

    // A long session reads many ids in batches, so that other requests continue in between.
    petsWithOldThreshold: (categoryId) => {
      const text = `
        SELECT pets.id FROM pets ${database.dialect.joinByIndex('stock', 'stock.pet_id = pets.id')}
          JOIN categories ON categories.id = category_id
        WHERE category_id = ${categoryId} AND low_at IS DISTINCT FROM ${THRESHOLD}
        ORDER BY pets.id`
      const read = async (session: LongSession) => {
        const ids: bigint[] = []
        await session.beginRead()
        for await (const rows of session.batches<{ id: bigint }>(text))
          for (const { id } of rows) ids.push(id)
        return ids
      }
      return inLongSession(database, read, { hasStatementTimeout: true })
    },

    finishThresholdChange: async (categoryId, changeId) => {
      await database.commit([
        statement(
          'UPDATE categories SET threshold_change = NULL WHERE id = $1 AND threshold_change = $2',
          categoryId,
          changeId,
        ),
      ])
    },
  }
}
