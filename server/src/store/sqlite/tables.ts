import { IS_OF_PET } from '../log-rows.ts'
import { CROSSINGS_INDEX } from '../low-stock.ts'
import { sharedTables } from '../tables.ts'
import { DIALECT } from './dialect.ts'

/** Part of the first tables; a later migration drops it. */
export const FULL_TEXT_INDEX = `\
  -- In words there is nothing but letters, digits and blanks: this tokenizer leaves them as they are.
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

/** The tables as the first release makes them. */
export const FIRST_TABLES = `
  CREATE TABLE pets (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    -- Those of the name, as they are searched and sorted by: see core/catalog/name-words.ts.
    words       TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    barcode     TEXT,
    -- Of its own; its category's counts where there is none.
    low_stock_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_by_category ON pets (category_id, id);
  CREATE INDEX pets_by_words ON pets (words, id);
${FULL_TEXT_INDEX}
  -- What is on the shelf and what open orders reserve of it, right at every commit. The status stands here, not in pets, so that listing the stock reads
  -- one narrow table. The last change is the pet's latest row in the log, from which its earlier ones follow: an index by
  -- pet would do as well, but every update would write to a random page of it.
  CREATE TABLE stock (
    pet_id      INTEGER PRIMARY KEY REFERENCES pets (id) ON DELETE CASCADE,
    quantity    INTEGER NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    status      TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    reserved    INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    -- The threshold that counts for the pet, and whether so few are available: who changes the stock has both in the row.
    low_at      INTEGER,
    is_low      INTEGER NOT NULL DEFAULT 0,
    last_change INTEGER
  ) STRICT;
  CREATE INDEX stock_low ON stock (pet_id) WHERE is_low;
  CREATE INDEX stock_by_status ON stock (status, pet_id);

  -- What happened, in the order of the commits, and never what is: rows may be removed, oldest first. A change: of a
  -- quantity. A pet: it came or is another one, with its state right after that. An order, low or recovered: beside
  -- that; the pet's rows do not lead to it. Category and relist have no pet; relist: so many at once that the whole list is
  -- to be read again. No foreign key: the log outlives the pet.
  CREATE TABLE log (
    id       INTEGER PRIMARY KEY,
    -- These two by far the most: SQLite makes a table of the others each time that it looks at them.
    kind     TEXT NOT NULL CHECK (
      kind = 'change' OR kind = 'order' OR kind IN ('low', 'recovered', 'pet', 'removed', 'category', 'relist')),
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
    -- What happened to an order, a pet or a category, and how it was then.
    detail    TEXT
  ) STRICT;
  CREATE INDEX log_of_entries ON log (pet_id, id) WHERE ${IS_OF_PET};
  ${CROSSINGS_INDEX};
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

  -- The last ids that were given here.
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
