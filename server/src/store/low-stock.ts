import type { ChangeOrigin } from '../core/stock/command.ts'
import { crossingDetailSql } from './catalog-rows.ts'
import { type Dialect, type SqlValue, type Statement, statement } from './sql.ts'

/** A condition on `stock`: the pet is low. It is the rule of `isLow` in core/stock/stock-draft.ts. */
export const IS_LOW = '(low_at IS NOT NULL AND quantity - reserved <= low_at)'
/** A condition on `stock`: the pet has crossed its threshold, and the crossing is not in the log yet. */
export const HAS_CROSSED = `is_low <> ${IS_LOW}`

/** Finds the time at which a pet became low. The index has only `low` rows, so other log rows do not cost an index write. */
export const CROSSINGS_INDEX = `CREATE INDEX log_of_crossings ON log (pet_id, id) WHERE kind = 'low'`

/** A condition on `stock`: an import changes the pet in its step from id $1 to id $2. */
export const IN_STEP =
  'pet_id BETWEEN $1 AND $2 AND pet_id IN (SELECT id FROM differing WHERE id BETWEEN $1 AND $2)'

/** The threshold that applies to a pet, from `pets` and `categories`. */
export const THRESHOLD = 'coalesce(pets.low_stock_at, categories.low_stock_at)'

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
      `INSERT INTO log (id, kind, pet_id, at, key_id, detail)
      SELECT ${nextLogId}, CASE WHEN is_low THEN 'recovered' ELSE 'low' END, pet_id,
        CAST(${atParameter} AS BIGINT), ${keyParameter},
        ${crossingDetailSql(jsonObjectFunction)}
      FROM (SELECT * FROM stock WHERE ${condition} AND ${HAS_CROSSED} ORDER BY pet_id) AS crossed`,
      ...values,
      at,
      keyId,
    ),
    statement(`UPDATE stock SET is_low = NOT is_low WHERE ${condition} AND ${HAS_CROSSED}`, ...values),
  ]
}

/** A condition on `stock`: the threshold of category $1 applies to the pet. */
const HAS_THRESHOLD_OF_CATEGORY =
  'pet_id IN (SELECT id FROM pets WHERE category_id = $1 AND low_stock_at IS NULL)'

/** Statements that apply the new threshold of a category to all its pets that have no threshold of their own. */
export function categoryThresholdStatements(
  dialect: Dialect,
  category: { readonly id: bigint; readonly lowStockAt?: number },
  by: Pick<ChangeOrigin, 'at' | 'keyId'>,
): Statement[] {
  return [
    statement(
      `UPDATE stock SET low_at = CAST($2 AS BIGINT) WHERE ${HAS_THRESHOLD_OF_CATEGORY}`,
      category.id,
      category.lowStockAt ?? null,
    ),
    ...crossingStatements(dialect, HAS_THRESHOLD_OF_CATEGORY, [category.id], by),
  ]
}
