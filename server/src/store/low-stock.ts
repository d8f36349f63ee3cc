import type { CatalogStore } from '../core/catalog/catalog-store.ts'
import type { ChangeOrigin } from '../core/stock/change-origin.ts'
import { crossingDetailSql } from './catalog-rows.ts'
import { insertLogSql } from './log-rows.ts'
import {
  type Dialect,
  inLongSession,
  type LongSession,
  type SqlDatabase,
  type SqlValue,
  type Statement,
  statement,
} from './sql.ts'

/** A condition on `stock`: the pet is low. It is the rule of `isLow` in core/stock/stock-draft.ts; a test compares both. */
export const IS_LOW = '(low_at IS NOT NULL AND quantity - reserved <= low_at)'
/** A condition on `stock`: the pet has crossed its threshold, and the crossing is not in the log yet. */
export const HAS_CROSSED = `is_low <> ${IS_LOW}`

/** Finds the time at which a pet became low. The index has only `low` rows, so other log rows do not cost an index write. */
export const CROSSINGS_INDEX = `CREATE INDEX log_of_crossings ON log (pet_id, id) WHERE kind = 'low'`

/** A condition on `stock`: an import changes the pet in its step from id $1 to id $2. */
export const IN_STEP =
  'pet_id BETWEEN $1 AND $2 AND pet_id IN (SELECT id FROM differing WHERE id BETWEEN $1 AND $2)'

/**
 * The threshold that applies to a pet, from `pets` and `categories`. It is the rule of `thresholdOf` in
 * core/stock/stock-draft.ts; a test compares both.
 */
export const THRESHOLD = 'coalesce(pets.low_stock_at, categories.low_stock_at)'
/** Sets the thresholds of the rows of `stock` that fulfil the condition. */
export const setThresholds = (condition: string) => `
  UPDATE stock SET low_at = (
    SELECT ${THRESHOLD} FROM pets JOIN categories ON categories.id = category_id WHERE pets.id = pet_id)
  WHERE ${condition}`

/**
 * Statements that log the pets that have crossed their thresholds, in the commit that changes them. `condition` selects rows of
 * `stock`, which the commit must have locked. The parameters of `condition` start with $1; `values` holds their values.
 */
export function crossingStatements(
  { nextLogId, jsonObjectFunction }: Dialect,
  condition: string,
  values: readonly SqlValue[],
  { at, keyId }: Pick<ChangeOrigin, 'at' | 'keyId'>,
): Statement[] {
  const atParameter = `$${values.length + 1}`
  const keyParameter = `$${values.length + 2}`
  return [
    statement(
      insertLogSql(
        {
          id: nextLogId,
          kind: "CASE WHEN is_low THEN 'recovered' ELSE 'low' END",
          pet_id: 'pet_id',
          at: `CAST(${atParameter} AS BIGINT)`,
          key_id: keyParameter,
          detail: crossingDetailSql(jsonObjectFunction),
        },
        `FROM (SELECT * FROM stock WHERE ${condition} AND ${HAS_CROSSED} ORDER BY pet_id) AS crossed`,
      ),
      ...values,
      at,
      keyId,
    ),
    statement(`UPDATE stock SET is_low = NOT is_low WHERE ${condition} AND ${HAS_CROSSED}`, ...values),
  ]
}

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
