import { Database } from 'bun:sqlite'
import {
  areEarlyTables,
  CONVERTED_PET_COLUMNS,
  convertPet,
  DROP_SAVED_ROWS,
  type EarlyPet,
  insertEarlyRows,
  SAVE_EARLY_ROWS,
} from '../early-tables.ts'
import { IS_PET_EDIT } from '../log-rows.ts'
import { CROSSINGS_INDEX, DROP_LOW_STOCK_INDEX, UNAPPLIED_THRESHOLDS_INDEX } from '../low-stock.ts'
import { needsMigration, requireOwnTables, type TablesMode } from '../opening.ts'
import { sharedTables } from '../tables.ts'
import { DIALECT } from './dialect.ts'

/** The first migration creates this index, and a later migration drops it. */
export const FULL_TEXT_INDEX = `\
  -- The words consist of letters, digits and blanks only, and this tokenizer does not change them.
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
    -- NULL if the threshold of the category applies.
    low_stock_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_by_category ON pets (category_id, id);
  CREATE INDEX pets_by_words ON pets (words, id);
${FULL_TEXT_INDEX}
  -- The units on the shelf and how many of them open orders reserve, correct at every commit. The status is in this table
  -- and not in pets, so that listing the stock reads one narrow table. last_change is the pet's latest row in the log, and
  -- each row links to the previous row. An index by pet would also find these rows, but every update would write to a random
  -- page of the index.
  CREATE TABLE stock (
    pet_id      INTEGER PRIMARY KEY REFERENCES pets (id) ON DELETE CASCADE,
    quantity    INTEGER NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    status      TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    reserved    INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    -- The threshold that applies to the pet, and whether the pet is low. They are copied here, so that a change of the
    -- stock reads no other row.
    low_at      INTEGER,
    is_low      INTEGER NOT NULL DEFAULT 0,
    last_change INTEGER
  ) STRICT;
  CREATE INDEX stock_low ON stock (pet_id) WHERE is_low;
  CREATE INDEX stock_by_status ON stock (status, pet_id);

  -- The log of all changes, in the order of their commits. The oldest rows may be pruned, because no state depends on them.
  -- There is no foreign key, because the log outlives the pet. Kinds:
  --   change: the quantity of a pet changed.
  --   pet: a pet was created or edited; the row has its new state.
  --   removed: a pet was removed.
  --   order, low, recovered: an order changed, or a pet crossed its threshold. The column previous does not link these rows.
  --   category: a category changed.
  --   relist: too much changed at once, so subscribers must read the whole stock again.
  CREATE TABLE log (
    id       INTEGER PRIMARY KEY,
    -- Compares with the two most frequent kinds before IN, for which SQLite builds a temporary table.
    kind     TEXT NOT NULL CHECK (
      kind = 'change' OR kind = 'order' OR kind IN ('low', 'recovered', 'pet', 'removed', 'category', 'relist')),
    pet_id   INTEGER,
    before   INTEGER,
    after    INTEGER,
    status   TEXT,
    at       INTEGER NOT NULL,
    key_id   TEXT NOT NULL,
    -- The id of the pet's previous row.
    previous INTEGER,
    -- The reason that the caller gave.
    reason    TEXT,
    reference TEXT,
    -- The order, pet or category after the change, as JSON.
    detail    TEXT
  ) STRICT;
  CREATE INDEX log_of_entries ON log (pet_id, id) WHERE ${IS_PET_EDIT};
  ${CROSSINGS_INDEX};
  CREATE TRIGGER log_is_not_edited BEFORE UPDATE ON log
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

  -- identity distinguishes cursors of this database from cursors of other databases. Ids up to pruned_up_to are never
  -- reused, and cursors below it are no longer valid.
  CREATE TABLE log_state (
    identity     TEXT NOT NULL,
    pruned_up_to INTEGER NOT NULL
  ) STRICT;
  INSERT INTO log_state VALUES (lower(hex(randomblob(8))), 0);
  CREATE TRIGGER log_is_pruned AFTER DELETE ON log
    BEGIN UPDATE log_state SET pruned_up_to = max(pruned_up_to, OLD.id); END;

  -- The last id that was generated for each table.
  CREATE TABLE last_ids (orders INTEGER NOT NULL, pets INTEGER NOT NULL, categories INTEGER NOT NULL) STRICT;
  INSERT INTO last_ids VALUES (0, 0, 0);

  ${sharedTables({
    ...DIALECT.types,
    bytewiseText: 'TEXT',
    insertionOrder: '',
    serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
    plainTable: 'STRICT',
    keyedTable: 'STRICT, WITHOUT ROWID',
    hotTable: 'STRICT',
  })}
`

/** Searches now use an index in memory (core/catalog/pet-index.ts), so the cost of writing this index is saved. */
const DROP_FULL_TEXT_INDEX = `
  DROP TRIGGER IF EXISTS pet_words_added;
  DROP TRIGGER IF EXISTS pet_words_removed;
  DROP TRIGGER IF EXISTS pet_words_changed;
  DROP TABLE IF EXISTS pet_words`

/**
 * Earlier versions created `orders` with a CHECK constraint that lists the states. Now only the program decides which states an
 * order can have: see core/orders/order.ts. SQLite cannot drop a CHECK constraint, so the table is rebuilt.
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

/** The indexes serve lists of a customer's orders. They hold only orders with a customer, so other orders cost nothing more. */
const ADD_ORDER_CUSTOMER = `
  ALTER TABLE orders ADD COLUMN closed_at INTEGER;
  ALTER TABLE orders ADD COLUMN customer TEXT;
  ALTER TABLE orders ADD COLUMN note TEXT;
  ALTER TABLE orders ADD COLUMN customer_words TEXT;
  CREATE INDEX orders_by_customer ON orders (state, customer_words, id) WHERE customer_words IS NOT NULL;
  CREATE INDEX orders_by_pet_and_customer ON orders (pet_id, state, customer_words, id) WHERE customer_words IS NOT NULL`

/** See core/keys/pairing.ts. A key has at most one pairing code. */
const ADD_PAUSED_KEYS_AND_PAIRING_CODES = `
  ALTER TABLE keys ADD COLUMN paused_at INTEGER;
  CREATE TABLE pairing_codes (
    key_id     TEXT PRIMARY KEY REFERENCES keys (id),
    hash       TEXT NOT NULL UNIQUE,
    expires_at INTEGER NOT NULL,
    created_by TEXT NOT NULL
  ) STRICT`

/** The ids of keys; NULL for orders that are older than these columns. */
const ADD_ORDER_AUTHORS = `
  ALTER TABLE orders ADD COLUMN created_by TEXT;
  ALTER TABLE orders ADD COLUMN closed_by TEXT`

/** See steady-clock.ts. */
const ADD_CLOCKS = `
  CREATE TABLE clocks (
    boot_id   TEXT PRIMARY KEY,
    offset_ms INTEGER NOT NULL
  ) STRICT`

/** `held` is JSON: the pets whose events wait. `is_parked` is NULL unless the event is not tried again. */
const ADD_HELD_PETS = `
  ALTER TABLE webhooks ADD COLUMN held TEXT;
  ALTER TABLE webhook_attempts ADD COLUMN is_parked INTEGER`

/** See core/catalog/threshold-changes.ts. */
const ADD_THRESHOLD_CHANGES = `
  ALTER TABLE categories ADD COLUMN threshold_change TEXT;
  ${UNAPPLIED_THRESHOLDS_INDEX}`

/**
 * The version of the tables is the number of applied migrations. New migrations are appended. A migration that has been
 * released is never edited.
 */
const MIGRATIONS = [
  FIRST_TABLES,
  // The id of the key that created the webhook; NULL for webhooks that are older than this column.
  'ALTER TABLE webhooks ADD COLUMN created_by TEXT',
  DROP_FULL_TEXT_INDEX,
  DROP_ORDER_STATE_CHECK,
  ADD_ORDER_CUSTOMER,
  ADD_PAUSED_KEYS_AND_PAIRING_CODES,
  ADD_ORDER_AUTHORS,
  DROP_LOW_STOCK_INDEX,
  ADD_CLOCKS,
  ADD_HELD_PETS,
  ADD_THRESHOLD_CHANGES,
]

export const NEWEST_VERSION = MIGRATIONS.length

/** Migrates the file to the newest version, if `mode` allows it. Safe if several processes start at once. */
export function migrate(database: Database, mode: TablesMode): void {
  const apply = database.transaction(() => {
    const version = versionOf(database)
    if (!needsMigration(version, NEWEST_VERSION, mode)) return
    const isEarly = hasEarlyTables(database)
    if (isEarly) convertEarlyTables(database)
    // Another program may have set a negative version.
    const appliedCount = isEarly ? 1 : Math.max(0, version ?? 0)
    for (const migration of MIGRATIONS.slice(appliedCount)) database.run(migration)
    database.run(`PRAGMA user_version = ${NEWEST_VERSION}`)
    if (isEarly) for (const text of DIALECT.newIdentity) database.run(text)
  })
  // The version is read before the columns, so columns that another process adds in between do no harm.
  const version = versionOf(database)
  if (version !== undefined && version > 0 && !hasEarlyTables(database)) {
    requireOwnTables(version, NEWEST_VERSION, missingColumns(database, version))
  }
  if (needsMigration(version, NEWEST_VERSION, mode)) apply.immediate()
}

export function hasEarlyTables(database: Database): boolean {
  return areEarlyTables(versionOf(database), columnsOf(database))
}

const DROP_EARLY_TABLES = `
  DROP VIEW stock;
  DROP VIEW late_changes;
  DROP TABLE settled_stock;
  DROP TABLE settled;
  DROP TABLE removed_stock;
  DROP TABLE history;
  DROP TABLE stock_changes;
  DROP TABLE orders;
  DROP TABLE pets;
  DROP TABLE key_secrets;
  DROP TABLE keys;
  DROP TABLE audit;
  DROP TABLE limit_windows;
  DROP TABLE bans;
  DROP TABLE usage_days`

/** Replaces the early tables by those of the first migration. */
function convertEarlyTables(database: Database): void {
  database.run(SAVE_EARLY_ROWS)
  database.run(DROP_EARLY_TABLES)
  database.run(FIRST_TABLES)
  const insertPet = database.query<unknown, [bigint, string, string, bigint]>(
    `INSERT INTO pets (${Object.keys(CONVERTED_PET_COLUMNS)}) VALUES (?, ?, ?, ?)`,
  )
  for (const pet of database.query<EarlyPet, []>('SELECT * FROM early_pets ORDER BY id').iterate()) {
    insertPet.run(...convertPet(pet))
  }
  database.run(insertEarlyRows(DIALECT, "CAST(unixepoch('subsec') * 1000 AS INTEGER)"))
  database.run(DROP_SAVED_ROWS)
}

/**
 * The tables and columns that the file lacks, although the tables of `version` have them. If this program does not know
 * `version` yet, NEWEST_VERSION is used instead.
 */
export function missingColumns(database: Database, version: number): string[] {
  const model = new Database(':memory:')
  try {
    for (const migration of MIGRATIONS.slice(0, version)) model.run(migration)
    const expected = columnsOf(model)
    for (const migration of MIGRATIONS.slice(version)) model.run(migration)
    // Columns that a later migration drops are allowed to be missing.
    const kept = new Set(columnsOf(model))
    const found = new Set(columnsOf(database))
    return expected.filter((name) => kept.has(name) && !found.has(name))
  } finally {
    model.close()
  }
}

/** Lists virtual tables without their columns, because reading these opens the table, which fails on a damaged file. */
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
