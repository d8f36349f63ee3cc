import type { ChangeOrigin } from '../core/stock/command.ts'
import { crossingDetailSql } from './catalog-rows.ts'
import { type Dialect, type SqlValue, type Statement, statement } from './sql.ts'

/** Whether a row of `stock` is low: the same rule as `isLow` of core/stock/inventory.ts. */
export const IS_LOW = '(low_at IS NOT NULL AND quantity - reserved <= low_at)'
/** Whether a row of `stock` has crossed its threshold since the last log row about it. */
export const HAS_CROSSED = `is_low <> ${IS_LOW}`

/** For the time at which a pet became low. Changes of quantities are not in this index and cost nothing more. */
export const CROSSINGS_INDEX = `CREATE INDEX log_of_crossings ON log (pet_id, id) WHERE kind = 'low'`

/** Whether a row of `stock` belongs to the step of an import that covers the ids from $1 to $2. */
export const IN_STEP =
  'pet_id BETWEEN $1 AND $2 AND pet_id IN (SELECT id FROM differing WHERE id BETWEEN $1 AND $2)'

/** The threshold that applies to a pet, from `pets` left joined with `categories`. */
export const THRESHOLD = 'coalesce(pets.low_stock_at, categories.low_stock_at)'

/**
 * Logs the pets that have crossed their thresholds, in the commit that changes them. `which` is a condition on rows of
 * `stock`, whose parameters start with $1. All these rows are locked.
 */
export function crossingStatements(
  { nextLogId, jsonObject }: Dialect,
  which: string,
  values: readonly SqlValue[],
  { at, keyId }: Pick<ChangeOrigin, 'at' | 'keyId'>,
): Statement[] {
  const [atValue, keyValue] = [`$${values.length + 1}`, `$${values.length + 2}`]
  return [
    statement(
      `INSERT INTO log (id, kind, pet_id, at, key_id, detail)
      SELECT ${nextLogId}, CASE WHEN is_low THEN 'recovered' ELSE 'low' END, pet_id, CAST(${atValue} AS BIGINT), ${keyValue},
        ${crossingDetailSql(jsonObject)}
      FROM (SELECT * FROM stock WHERE ${which} AND ${HAS_CROSSED} ORDER BY pet_id) AS crossed`,
      ...values,
      at,
      keyId,
    ),
    statement(`UPDATE stock SET is_low = NOT is_low WHERE ${which} AND ${HAS_CROSSED}`, ...values),
  ]
}

const OF_CATEGORY = 'pet_id IN (SELECT id FROM pets WHERE category_id = $1 AND low_stock_at IS NULL)'

/** Applies the new threshold of a category to its pets that have none of their own. */
export function categoryThresholdStatements(
  dialect: Dialect,
  category: { readonly id: bigint; readonly lowStockAt?: number },
  by: Pick<ChangeOrigin, 'at' | 'keyId'>,
): Statement[] {
  return [
    statement(
      `UPDATE stock SET low_at = CAST($2 AS BIGINT) WHERE ${OF_CATEGORY}`,
      category.id,
      category.lowStockAt ?? null,
    ),
    ...crossingStatements(dialect, OF_CATEGORY, [category.id], by),
  ]
}
