import { Database } from 'bun:sqlite'
import { IS_PET_ROW } from '../log-rows.ts'
import { CROSSINGS_INDEX } from '../low-stock.ts'
import { needsMigration, requireOwnTables, type TablesMode } from '../opening.ts'
import { sharedTables } from '../tables.ts'
import { DIALECT } from './dialect.ts'

/** Created by the first migration and dropped by a later one. */
export const FULL_TEXT_INDEX = `\
  -- Words consist of letters, digits and blanks only. This tokenizer does not change them.
  CREATE VIRTUAL TABLE pet_words USING fts5 (
    words, content = 'pets', content_rowid = 'id', tokenize = 'ascii', detail = none, columnsize = 0);
  CREATE TRIGGER pet_words_added AFTER INSERT ON pets
    BEGIN INSERT INTO pet_words (rowid, words) VALUES (NEW.id, NEW.words); END;
  CREATE TRIGGER pet_words_removed AFTER DELETE ON pets
    BEGIN INSERT INTO pet_words (pet_words, rowid, words) VALUES ('delete', OLD.id, OLD.words); END;
  CREATE TRIGGER pet_words_changed AFTER UPDATE OF words ON pets WHEN OLD.words <> NEW.words
    BEGIN
      INSERT INTO pet_words (pet_words, rowid, words) VALUES ('delete', OLD.id, OLD.words);
      INSERT INTO pet_words (rowid, words) VALUES (NEW.id, NEW.words);
    END;
`

/** The tables of the first release. */
export const FIRST_TABLES = `
  CREATE TABLE pets (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    -- The words of the name, for searching and sorting: see core/catalog/name-words.ts.
    words       TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    barcode     TEXT,
    -- If it is NULL, the threshold of the category applies.
    low_stock_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_by_category ON pets (category_id, id);
  CREATE INDEX pets_by_words ON pets (words, id);
${FULL_TEXT_INDEX}
  -- The units on the shelf and how many of them open orders reserve, correct at every commit. The status is here and not in
  -- pets so that listing the stock reads one narrow table. last_change is the pet's latest row in the log, which leads to
  -- its earlier rows. An index by pet would do the same, but every update would write to a random page of it.
  CREATE TABLE stock (
    pet_id      INTEGER PRIMARY KEY REFERENCES pets (id) ON DELETE CASCADE,
    quantity    INTEGER NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    status      TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    reserved    INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    -- The threshold that applies to the pet, and whether it is low: a change of the stock needs no other row.
    low_at      INTEGER,
    is_low      INTEGER NOT NULL DEFAULT 0,
    last_change INTEGER
  ) STRICT;
  CREATE INDEX stock_low ON stock (pet_id) WHERE is_low;
  CREATE INDEX stock_by_status ON stock (status, pet_id);

  -- The log of everything that happened, in the order of the commits. Rows may be pruned, oldest first, because no state
  -- depends on them. change: of a quantity. pet: created or edited, with its state afterwards. order, low, recovered: not
  -- linked by previous. category and relist have no pet; relist: followers must read the whole list again, because too much
  -- changed at once. No foreign key: the log outlives the pet.
  CREATE TABLE log (
    id       INTEGER PRIMARY KEY,
    -- The two most frequent kinds come first: SQLite builds a temporary table for IN.
    kind     TEXT NOT NULL CHECK (
      kind = 'change' OR kind = 'order' OR kind IN ('low', 'recovered', 'pet', 'removed', 'category', 'relist')),
    pet_id   INTEGER,
    before   INTEGER,
    after    INTEGER,
    status   TEXT,
    at       INTEGER NOT NULL,
    key_id   TEXT NOT NULL,
    -- The previous row of the pet.
    previous INTEGER,
    -- Why the change was made, as the caller said.
    reason    TEXT,
    reference TEXT,
    -- The order, pet or category after the change, as JSON.
    detail    TEXT
  ) STRICT;
  CREATE INDEX log_of_entries ON log (pet_id, id) WHERE ${IS_PET_ROW};
  ${CROSSINGS_INDEX};
  CREATE TRIGGER log_is_not_edited BEFORE UPDATE ON log
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

  -- identity tells cursors of this database from those of another. Ids up to pruned_up_to are never reused, and cursors
  -- before it are no longer valid.
  CREATE TABLE log_state (
    identity     TEXT NOT NULL,
    pruned_up_to INTEGER NOT NULL
  ) STRICT;
  INSERT INTO log_state VALUES (lower(hex(randomblob(8))), 0);
  CREATE TRIGGER log_is_pruned AFTER DELETE ON log
    BEGIN UPDATE log_state SET pruned_up_to = max(pruned_up_to, OLD.id); END;

  -- The last generated ids.
  CREATE TABLE last_ids (orders INTEGER NOT NULL, pets INTEGER NOT NULL, categories INTEGER NOT NULL) STRICT;
  INSERT INTO last_ids VALUES (0, 0, 0);

  ${sharedTables({
    ...DIALECT.types,
    id: 'TEXT',
    number: '',
    serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    plain: 'STRICT',
    byKey: 'STRICT, WITHOUT ROWID',
    hot: 'STRICT',
  })}
`

interface Migration {
  readonly number: number
  readonly sql: string
}

/** Searches use the index in memory (core/catalog/pet-index.ts). The full-text index cost a write for every new pet. */
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

/** Migrates the file to the newest version, if `tables` allows it. Safe if several processes start at once. */
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
  // The version is read before the columns. If another process adds columns in between, that does no harm.
  if (version !== undefined && version > 0) {
    requireOwnTables(version, NEWEST, missingColumns(database, version))
  }
  if (needsMigration(version, NEWEST, tables)) apply.immediate()
}

/** The tables and columns of `version`, or of this program's newest version if that is lower, that the file lacks. */
export function missingColumns(database: Database, version: number): string[] {
  const model = new Database(':memory:')
  try {
    for (const { number, sql } of MIGRATIONS) if (number <= version) model.run(sql)
    const created = columnsOf(model)
    for (const { number, sql } of MIGRATIONS) if (number > version) model.run(sql)
    // Columns that a later migration drops may be missing.
    const kept = new Set(columnsOf(model))
    const found = new Set(columnsOf(database))
    return created.filter((name) => kept.has(name) && !found.has(name))
  } finally {
    model.close()
  }
}

/** A virtual table is listed without its columns: reading these would open it, which fails on a damaged file. */
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

/** `undefined` if there are no tables. */
export function versionOf(database: Database): number | undefined {
  const row = database.query<{ user_version: bigint }, []>('PRAGMA user_version').get()
  const isEmpty = database.query('SELECT 1 FROM sqlite_schema LIMIT 1').get() === null
  return isEmpty ? undefined : Number(row?.user_version ?? 0)
}
