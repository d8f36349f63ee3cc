import type { ChangeOrigin } from '../core/stock/command.ts'
import { crossingDetailSql } from './catalog-rows.ts'
import { type Dialect, type SqlValue, type Statement, statement } from './sql.ts'

/** Of a row of `stock`: says what `isLow` of core/stock/inventory.ts says. */
export const IS_LOW = '(low_at IS NOT NULL AND quantity - reserved <= low_at)'
/** It is not what it was when this was last told. */
export const HAS_CROSSED = `is_low <> ${IS_LOW}`

/** Finds when a pet became low. A change of a quantity is no row of it, and so costs nothing more. */
export const CROSSINGS_INDEX = `CREATE INDEX log_of_crossings ON log (pet_id, id) WHERE kind = 'low'`

/** Of a row of `stock`: its pet is one of those of an import with ids from $1 to $2. */
export const IN_STEP =
  'pet_id BETWEEN $1 AND $2 AND pet_id IN (SELECT id FROM differing WHERE id BETWEEN $1 AND $2)'

/** The threshold that counts for a pet, of `pets` and, where there is one, of its row in `categories`. */
export const THRESHOLD = 'coalesce(pets.low_stock_at, categories.low_stock_at)'

/**
 * For work on many pets at once, in the commit that changes them: tells of those that have crossed their thresholds, among
 * the pets that `which` says, with its values from $1 on. All of these are locked.
 */
export function tellCrossings(
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
      ...[...values, at, keyId],
    ),
    statement(`UPDATE stock SET is_low = NOT is_low WHERE ${which} AND ${HAS_CROSSED}`, ...values),
  ]
}

const OF_CATEGORY = 'pet_id IN (SELECT id FROM pets WHERE category_id = $1 AND low_stock_at IS NULL)'

/** Gives the pets of a category that have no threshold of their own its new one. */
export function newThreshold(
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
    ...tellCrossings(dialect, OF_CATEGORY, [category.id], by),
  ]
}
