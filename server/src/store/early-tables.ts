// Converts the tables of the development versions before 1.0, whose stock was a view of the history.
import { nameWords } from '../core/catalog/name-words.ts'
import { SYSTEM_KEY_ID } from '../core/stock/command.ts'
import type { Dialect } from './sql.ts'

/** The version number of the early tables. Tables of releases can have the same number, but not EARLY_COLUMN. */
const EARLY_VERSION = 4
const EARLY_COLUMN = 'settled_stock.pet_id'

export function areEarlyTables(version: number | undefined, columns: readonly string[]): boolean {
  return version === EARLY_VERSION && columns.includes(EARLY_COLUMN)
}

/** The early tables and views whose rows are converted. */
const CONVERTED_TABLES = [
  'pets',
  'stock',
  'orders',
  'history',
  'keys',
  'key_secrets',
  'audit',
  'limit_windows',
  'bans',
  'usage_days',
]

/** Copies the rows, so that the early tables can be dropped and those of the first migration can take their names. */
export const SAVE_EARLY_ROWS = CONVERTED_TABLES.map(
  (table) => `CREATE TEMPORARY TABLE early_${table} AS SELECT * FROM ${table};`,
).join('\n')

export const DROP_SAVED_ROWS = CONVERTED_TABLES.map((table) => `DROP TABLE early_${table};`).join('\n')

/** Columns that did not change. */
const COPIED_COLUMNS = {
  key_secrets: 'hash, key_id, hint, created_at, expires_at',
  limit_windows:
    'key_id, minute_started_at, minute_used, minute_rejected, day_started_at, day_used, day_rejected, last_used_at',
  bans: 'key_id, number, began_at, ends_at, lifted_at',
  usage_days: 'key_id, day, accepted, rejected',
}

export const CONVERTED_PET_COLUMNS = {
  id: 'integer',
  name: 'text',
  words: 'text',
  category_id: 'integer',
} as const

export interface EarlyPet {
  readonly id: bigint
  readonly name: string
  readonly category_id: bigint
}

/** The values of CONVERTED_PET_COLUMNS. */
export function convertPet({ id, name, category_id }: EarlyPet): [bigint, string, string, bigint] {
  return [id, name, nameWords(name), category_id]
}

/**
 * Fills the tables of the first migration, except pets. `now` is SQL for the time in milliseconds. The time of a removal was
 * not recorded, so it becomes `now`. Open orders reserve units, as they do after an import; an open order of a missing pet is
 * cancelled. Keys get the permission `stock`, unless they are read-only.
 */
export function insertEarlyRows(
  { apiKeyOrderColumn }: Pick<Dialect, 'apiKeyOrderColumn'>,
  now: string,
): string {
  const copies = Object.entries(COPIED_COLUMNS).map(
    ([table, columns]) => `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM early_${table};`,
  )
  return `
    INSERT INTO categories (id, name)
      SELECT DISTINCT category_id, 'Category ' || category_id FROM early_pets;
    INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, previous)
      SELECT id, 'change', pet_id, before, after, status, at, key_id, lag(id) OVER (PARTITION BY pet_id ORDER BY id)
      FROM early_history ORDER BY id;
    INSERT INTO log (id, kind, pet_id, at, key_id, previous)
      SELECT (SELECT max(id) FROM early_history) + row_number() OVER (ORDER BY pet_id), 'removed', pet_id, ${now},
        '${SYSTEM_KEY_ID}', max(id)
      FROM early_history WHERE pet_id NOT IN (SELECT id FROM early_pets) GROUP BY pet_id;
    INSERT INTO orders (id, pet_id, quantity, state, created_at, ship_date)
      SELECT id, pet_id, quantity, CASE
          WHEN complete THEN 'complete' WHEN pet_id IN (SELECT id FROM early_pets) THEN 'open' ELSE 'cancelled'
        END, ${now}, ship_date
      FROM early_orders ORDER BY id;
    INSERT INTO stock (pet_id, quantity, status, reserved, last_change)
      SELECT early_stock.pet_id, quantity, status, coalesce(reserved, 0), last_changes.last_change
      FROM early_stock
      LEFT JOIN (SELECT pet_id, sum(quantity) AS reserved FROM orders WHERE state = 'open' GROUP BY pet_id) AS open_orders
        ON open_orders.pet_id = early_stock.pet_id
      LEFT JOIN (SELECT pet_id, max(id) AS last_change FROM early_history GROUP BY pet_id) AS last_changes
        ON last_changes.pet_id = early_stock.pet_id
      ORDER BY early_stock.pet_id;
    INSERT INTO keys (id, name, plan, per_minute, per_day, permissions, created_at, expires_at, revoked_at)
      SELECT id, name, plan, per_minute, per_day, CASE WHEN read_only THEN 'none' ELSE 'stock' END,
        created_at, expires_at, revoked_at
      FROM early_keys ORDER BY ${apiKeyOrderColumn};
    INSERT INTO audit (at, actor, action, key_id, detail)
      SELECT at, actor, action, key_id, detail FROM early_audit ORDER BY id;
    ${copies.join('\n')}`
}
