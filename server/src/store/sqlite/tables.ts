import { IS_OF_ENTRY } from '../log-rows.ts'
import { sharedTables } from '../tables.ts'
import { DIALECT } from './dialect.ts'

/** The tables as the first release makes them. */
export const FIRST_TABLES = `
  CREATE TABLE pets (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    category_id INTEGER NOT NULL
  ) STRICT;

  -- What is on the shelf and what open orders reserve of it, right at every commit. The status stands here, not in pets, so that listing the stock reads
  -- one narrow table. The last change is the pet's latest row in the log, from which its earlier ones follow: an index by
  -- pet would do as well, but every update would write to a random page of it.
  CREATE TABLE stock (
    pet_id      INTEGER PRIMARY KEY REFERENCES pets (id) ON DELETE CASCADE,
    quantity    INTEGER NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    status      TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    reserved    INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    last_change INTEGER
  ) STRICT;
  CREATE INDEX stock_by_status ON stock (status, pet_id);

  -- What happened, in the order of the commits, and never what is: rows may be removed, oldest first. A change: of a
  -- quantity. An order: what happened to one, beside the quantity; the pet's rows do not lead to it. An entry: added or of another status, with its state right after that. Relist, without a pet: so many at once that
  -- the whole list is to be read again. No foreign key: the log outlives the pet.
  CREATE TABLE log (
    id       INTEGER PRIMARY KEY,
    -- These two by far the most: SQLite makes a table of the others each time that it looks at them.
    kind     TEXT NOT NULL CHECK (
      kind = 'change' OR kind = 'order' OR kind IN ('entry', 'removed', 'renamed', 'relist')),
    pet_id   INTEGER,
    before   INTEGER,
    after    INTEGER,
    status   TEXT,
    at       INTEGER NOT NULL,
    key_id   TEXT NOT NULL,
    -- The pet's row before this one.
    previous INTEGER,
    -- What it was made for.
    reason    TEXT,
    reference TEXT,
    -- What happened to an order, and the order.
    detail    TEXT
  ) STRICT;
  CREATE INDEX log_of_entries ON log (pet_id, id) WHERE ${IS_OF_ENTRY};
  CREATE TRIGGER log_is_not_edited BEFORE UPDATE ON log
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

  -- Which database it is, so that a cursor of another one is known for what it is; and how far the log has been removed,
  -- so that no id is given twice and nobody goes on from before that.
  CREATE TABLE log_state (
    identity     TEXT NOT NULL,
    pruned_up_to INTEGER NOT NULL
  ) STRICT;
  INSERT INTO log_state VALUES (lower(hex(randomblob(8))), 0);
  CREATE TRIGGER log_is_pruned AFTER DELETE ON log
    BEGIN UPDATE log_state SET pruned_up_to = max(pruned_up_to, OLD.id); END;

  -- The last id that an order was given here.
  CREATE TABLE order_ids (last INTEGER NOT NULL) STRICT;
  INSERT INTO order_ids VALUES (0);

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
