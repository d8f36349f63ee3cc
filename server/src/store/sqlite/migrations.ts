import { Database } from 'bun:sqlite'
import { needsMigration, requireOwnTables, type TablesMode } from '../opening.ts'
import { FIRST_TABLES } from './tables.ts'

interface Migration {
  readonly number: number
  readonly sql: string
}

/** Searches use the index in memory of core/catalog/pet-index.ts; the full-text index cost every new pet a write. */
const DROP_FULL_TEXT_INDEX = `
  DROP TRIGGER IF EXISTS pet_words_added;
  DROP TRIGGER IF EXISTS pet_words_removed;
  DROP TRIGGER IF EXISTS pet_words_changed;
  DROP TABLE IF EXISTS pet_words`

/**
 * The program decides which states an order can have: see core/orders/order.ts. SQLite cannot drop a CHECK constraint, so the
 * table is rebuilt.
 */
const DROP_ORDER_STATE_CHECK = `
  CREATE TABLE orders_rebuilt (
    id         INTEGER PRIMARY KEY,
    pet_id     INTEGER NOT NULL,
    quantity   INTEGER NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    state      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    ship_date  INTEGER
  ) STRICT;
  INSERT INTO orders_rebuilt (id, pet_id, quantity, state, created_at, expires_at, ship_date)
    SELECT id, pet_id, quantity, state, created_at, expires_at, ship_date FROM orders ORDER BY id;
  DROP TABLE orders;
  ALTER TABLE orders_rebuilt RENAME TO orders;
  CREATE INDEX orders_by_state ON orders (state, id, quantity);
  CREATE INDEX orders_by_pet ON orders (pet_id, state, id);
  CREATE INDEX orders_held ON orders (pet_id, expires_at) WHERE state = 'open' AND expires_at IS NOT NULL;
  CREATE INDEX orders_by_expiry ON orders (expires_at) WHERE state = 'open' AND expires_at IS NOT NULL`

/** Append only: a migration that has been released is never edited. */
const MIGRATIONS: readonly Migration[] = [
  { number: 1, sql: FIRST_TABLES },
  // The id of the key that created the webhook; NULL if it was created before this was recorded.
  { number: 2, sql: 'ALTER TABLE webhooks ADD COLUMN created_by TEXT' },
  { number: 3, sql: DROP_FULL_TEXT_INDEX },
  { number: 4, sql: DROP_ORDER_STATE_CHECK },
]

export const NEWEST = MIGRATIONS.at(-1)?.number ?? 0

/** Brings the file to the newest form, if `tables` allows it. Safe when several processes start at once. */
export function migrate(database: Database, tables: TablesMode): void {
  const apply = database.transaction(() => {
    const version = versionOf(database)
    if (!needsMigration(version, NEWEST, tables)) return
    for (const migration of MIGRATIONS) {
      if (migration.number <= (version ?? 0)) continue
      database.run(migration.sql)
      database.run(`PRAGMA user_version = ${migration.number}`)
    }
  })
  const version = versionOf(database)
  // The version is read before the columns: another process may add some in between, which does no harm.
  if (version !== undefined && version > 0) {
    requireOwnTables(version, NEWEST, missingColumns(database, version))
  }
  if (needsMigration(version, NEWEST, tables)) apply.immediate()
}

/** Tables and columns that this program makes in `version`, or in its newest if that is later, and the file does not have. */
export function missingColumns(database: Database, version: number): string[] {
  const model = new Database(':memory:')
  try {
    for (const { number, sql } of MIGRATIONS) if (number <= version) model.run(sql)
    const made = columnsOf(model)
    for (const { number, sql } of MIGRATIONS) if (number > version) model.run(sql)
    // What a later migration drops need not be there.
    const kept = new Set(columnsOf(model))
    const found = new Set(columnsOf(database))
    return made.filter((name) => kept.has(name) && !found.has(name))
  } finally {
    model.close()
  }
}

/** A virtual table is named without its columns: asking for these would open it, which fails on a damaged file. */
function columnsOf(database: Database): string[] {
  return database
    .query<{ name: string }, []>(`
      SELECT tables.name || coalesce('.' || columns.name, '') AS name
      FROM pragma_table_list AS tables
      LEFT JOIN pragma_table_info(CASE tables.type WHEN 'table' THEN tables.name END) AS columns
      WHERE tables.schema = 'main' AND tables.type IN ('table', 'virtual')`)
    .all()
    .map(({ name }) => name)
}

/** `undefined` where there are no tables at all. */
export function versionOf(database: Database): number | undefined {
  const row = database.query<{ user_version: bigint }, []>('PRAGMA user_version').get()
  const isEmpty = database.query('SELECT 1 FROM sqlite_schema LIMIT 1').get() === null
  return isEmpty ? undefined : Number(row?.user_version ?? 0)
}
