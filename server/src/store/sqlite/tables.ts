import { LOG_INDEXES } from '../log-rows.ts'
import { CROSSINGS_INDEX } from '../low-stock.ts'
import { sharedTables, sharedUpgrade, type TableTerms } from '../tables.ts'
import { DIALECT } from './dialect.ts'

const TERMS: TableTerms = {
  ...DIALECT.types,
  bytewiseText: 'TEXT',
  insertionOrder: '',
  serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  plainTable: 'STRICT',
  keyedTable: 'STRICT, WITHOUT ROWID',
  hotTable: 'STRICT',
  json: { of: (text) => text, object: 'json_object', array: 'json_array' },
}

const APPEND_ONLY = `
  CREATE TRIGGER log_is_not_edited BEFORE UPDATE ON log
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;`

/** Creates all tables. */
export const TABLES = `
  CREATE TABLE pets (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    -- The words of the name, for searching and sorting: see core/catalog/name-words.ts.
    words       TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    barcode     TEXT,
    -- NULL if the threshold of the category applies.
    low_stock_at INTEGER,
    metadata    TEXT
  ) STRICT;
  CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_by_category ON pets (category_id, id);

  -- The units on the shelf and how many of them orders reserve, correct at every commit. The status is in this table
  -- and not in pets, so that listing the stock reads one narrow table.
  CREATE TABLE stock (
    pet_id      INTEGER PRIMARY KEY REFERENCES pets (id) ON DELETE CASCADE,
    quantity    INTEGER NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    status      TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    reserved    INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    -- The threshold that applies to the pet. It is copied here, so that a change of the stock reads no other row.
    low_at      INTEGER,
    -- The times of the latest count and of the latest movement, so that most facts are decided without their history.
    counted_at  INTEGER,
    moved_at    INTEGER
  ) STRICT;
  CREATE INDEX stock_by_status ON stock (status, pet_id);

  -- The log of all changes, in the order of their commits. The oldest rows may be pruned, because no state depends on them.
  -- There is no foreign key, because the log outlives the pet. Kinds:
  --   change: the quantity of a pet changed.
  --   pet: a pet was created or edited; the row has its new state.
  --   removed: a pet was removed.
  --   order, low, recovered: an order changed, or a pet crossed its threshold.
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
    -- The reason that the caller gave.
    reason    TEXT,
    reference TEXT,
    -- The order without personal data, pet or category after the change, as JSON. In the first row of an adjustment: its note and its number of rows.
    detail    TEXT,
    -- The adjustment that the row is a line of: the id of its first row. Its rows follow each other.
    document  INTEGER,
    -- When it happened; NULL if that is "at", when it was recorded.
    occurred_at INTEGER,
    -- The units of a movement, or the counted quantity. A reversed count has neither.
    delta     INTEGER,
    counted   INTEGER,
    -- NULL if the line was applied to the stock.
    effect    TEXT,
    -- The reserved units of the pet after the change.
    reserved  INTEGER,
    -- The order that the row is about, and the adjustment that it reverses.
    order_id  INTEGER,
    reverses  INTEGER
  ) STRICT;
  ${LOG_INDEXES}
  ${CROSSINGS_INDEX};
  ${APPEND_ONLY}

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
  CREATE TABLE last_ids (
    orders     INTEGER NOT NULL,
    pets       INTEGER NOT NULL,
    categories INTEGER NOT NULL
  ) STRICT;
  INSERT INTO last_ids VALUES (0, 0, 0);

  ${sharedTables(TERMS)}
`

/** Changes the tables of 1.1.0 to those of TABLES. */
export const UPGRADE_OF_1_1_0 = `
  DROP TRIGGER log_is_not_edited;
  ${sharedUpgrade(TERMS)}
  ${APPEND_ONLY}
`
