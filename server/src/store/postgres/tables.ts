import { IS_OF_PET } from '../log-rows.ts'
import { CROSSINGS_INDEX } from '../low-stock.ts'
import { sharedTables } from '../tables.ts'
import { DIALECT, WORDS_VECTOR } from './dialect.ts'
import { IDS_A_NUMBER } from './log-ids.ts'

/** Any number that nobody else takes: one caller at a time gives places in the log. */
export const NUMBERING_LOCK = 0x6e756d626572

/** So many places are given at once where somebody is owed all of them. */
const MAX_OWED = 10_000_000

/** The tables as the first release makes them. */
export const FIRST_TABLES = `
  CREATE TABLE pets (
    id          bigint PRIMARY KEY,
    name        text NOT NULL,
    -- Those of the name, as they are searched and sorted by: see core/catalog/name-words.ts.
    words       text COLLATE "C" NOT NULL,
    category_id bigint NOT NULL,
    barcode     text COLLATE "C",
    -- Of its own; its category's counts where there is none.
    low_stock_at bigint
  );
  CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_by_category ON pets (category_id, id);
  CREATE INDEX pets_by_words ON pets (words, id);
  -- What is new waits in a list that every search reads: a short one.
  CREATE INDEX pet_words ON pets USING gin (${WORDS_VECTOR}) WITH (gin_pending_list_limit = 256);

  -- What is on the shelf and what open orders reserve of it, right at every commit. The status stands here, not in pets, so that listing the stock reads
  -- one narrow table. The room in each page lets a new quantity be written beside the old one, without a touch of the
  -- index. The last change is the pet's latest row in the log, from which its earlier ones follow.
  CREATE TABLE stock (
    pet_id      bigint PRIMARY KEY REFERENCES pets (id) ON DELETE CASCADE,
    quantity    bigint NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    status      text NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    reserved    bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    -- The threshold that counts for the pet, and whether so few are available: who changes the stock has both in the row.
    low_at      bigint,
    is_low      boolean NOT NULL DEFAULT false,
    last_change bigint
  ) WITH (fillfactor = 80);
  CREATE INDEX stock_by_status ON stock (status, pet_id);
  CREATE INDEX stock_low ON stock (pet_id) WHERE is_low;

  -- A commit takes one number for its rows while their pets are locked: so ids tell the order of what happened to a pet.
  CREATE SEQUENCE log_ids INCREMENT BY ${IDS_A_NUMBER};

  -- What happened, and never what is: rows may be removed, oldest first. A change: of a quantity. A pet: it came or is
  -- another one, with its state right after that. An order, low or recovered: beside that; the pet's rows do not lead to
  -- it. Category and relist have no pet; relist: so many at once that the whole list is to be read again. No foreign key:
  -- the log outlives the pet. The transaction that wrote a row tells who has seen it.
  CREATE TABLE log (
    id       bigint PRIMARY KEY,
    kind     text NOT NULL CHECK (
      kind IN ('change', 'order', 'low', 'recovered', 'pet', 'removed', 'category', 'relist')),
    pet_id   bigint,
    before   bigint,
    after    bigint,
    status   text,
    at       bigint NOT NULL,
    key_id   text COLLATE "C" NOT NULL,
    -- The pet's row before this one.
    previous bigint,
    xid      xid8 NOT NULL DEFAULT pg_current_xact_id(),
    -- What it was made for.
    reason    text,
    reference text,
    -- What happened to an order, a pet or a category, and how it was then.
    detail    text
  );
  CREATE INDEX log_by_xid ON log (xid);
  CREATE INDEX log_of_entries ON log (pet_id, id) WHERE ${IS_OF_PET};
  ${CROSSINGS_INDEX};

  CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'the log is append-only; petstore history prune removes what is old'; END $$;
  CREATE TRIGGER log_is_not_edited BEFORE UPDATE OR TRUNCATE ON log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

  -- Made with the database. How often rows were removed, and the latest transaction of which some were: so that nobody
  -- goes on from before that.
  CREATE TABLE log_state (
    is_only    boolean PRIMARY KEY CHECK (is_only),
    identity   text NOT NULL,
    prunings   bigint NOT NULL,
    pruned_xid xid8 NOT NULL
  );
  INSERT INTO log_state VALUES (true, gen_random_uuid(), 0, '0');
  CREATE FUNCTION note_pruning() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE log_state SET prunings = prunings + 1, pruned_xid = greatest(pruned_xid, gone.xid)
        FROM (SELECT xid FROM removed ORDER BY xid DESC LIMIT 1) AS gone;
      RETURN NULL;
    END $$;
  CREATE TRIGGER log_is_pruned AFTER DELETE ON log
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION note_pruning();

  -- Snapshots can be compared as long as this is the same: another start of the server, or a table restored from a dump,
  -- may number its transactions otherwise.
  CREATE FUNCTION log_server() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT concat(extract(epoch FROM pg_postmaster_start_time()), '/', 'log'::regclass::oid)
  $$;

  -- What a snapshot does not show and we see: written by a transaction that was under way then, or had not begun.
  CREATE FUNCTION log_since(seen pg_snapshot, most bigint)
  RETURNS TABLE (id bigint, pet_id bigint, kind text) LANGUAGE sql STABLE AS $$
    (SELECT id, pet_id, kind FROM log WHERE xid >= pg_snapshot_xmax(seen)
      AND xid < pg_snapshot_xmax(pg_current_snapshot()) ORDER BY xid LIMIT most)
    UNION ALL
    (SELECT id, pet_id, kind FROM log WHERE xid = ANY (ARRAY(SELECT pg_snapshot_xip(seen))) ORDER BY xid LIMIT most)
  $$;

  -- Places without gaps for those who follow the log, given after the commit. One without a row: read the list again.
  CREATE TABLE log_places (
    place  bigint PRIMARY KEY,
    log_id bigint
  );
  -- How far places have been given. The identity is that of cursors: a fail-over goes on in another timeline, a restored
  -- dump in another table or server, where a place may be of something else. Rows up to the floor came with such a dump.
  CREATE TABLE log_numbering (
    is_only  boolean PRIMARY KEY CHECK (is_only),
    server   text NOT NULL,
    identity text NOT NULL,
    snapshot pg_snapshot NOT NULL,
    prunings bigint NOT NULL,
    floor    bigint NOT NULL,
    last     bigint NOT NULL
  );
  INSERT INTO log_numbering VALUES (true, '', '', pg_current_snapshot(), 0, 0, 0);

  -- Gives places to what has happened by now, one caller at a time. Where more came than is worth telling, or some of it
  -- has been removed, or it is another database than before, all that can be said is to read the list again. The lock
  -- takes no transaction number: the one that writes is younger than all that its snapshot counts as over, so once it is
  -- on disk no crash gives one of those out again.
  CREATE FUNCTION number_log(most bigint) RETURNS log_numbering LANGUAGE plpgsql AS $$
  DECLARE
    state log_numbering;
    seen  pg_snapshot;
    fresh bigint[];
    ours  text;
    cut   record;
  BEGIN
    -- A webhook is owed everything.
    IF EXISTS (SELECT FROM webhooks) THEN most := ${MAX_OWED}; END IF;
    SELECT * INTO state FROM log_numbering;
    IF state.server = log_server() AND state.prunings = (SELECT prunings FROM log_state)
      AND NOT EXISTS (SELECT FROM log_since(state.snapshot, 1)) THEN
      RETURN state;
    END IF;
    PERFORM pg_advisory_xact_lock(${NUMBERING_LOCK});
    -- One statement, hence one snapshot: what gets a place is what the next caller counts as seen.
    SELECT numbering.*, pg_current_snapshot() AS now, log_server() AS here, log_state.prunings AS cuts,
      log_state.prunings <> numbering.prunings AND pruned_xid >= pg_snapshot_xmin(snapshot) AS is_cut,
      ARRAY(SELECT id FROM log_since(snapshot, most + 1) WHERE id > floor AND kind <> 'category' ORDER BY id) AS fresh
      INTO cut FROM log_numbering AS numbering, log_state;
    ours := cut.identity;
    IF cut.server <> cut.here THEN
      SELECT to_hex(hashtextextended(concat_ws('/', identity, (SELECT system_identifier FROM pg_control_system()),
        'log'::regclass::oid, substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)), 0)) INTO ours FROM log_state;
    END IF;
    fresh := cut.fresh;
    IF ours <> cut.identity THEN
      SELECT coalesce(max(id), cut.floor) INTO cut.floor FROM log WHERE xid >= pg_snapshot_xmax(cut.now);
    END IF;
    IF ours <> cut.identity OR cut.is_cut OR cardinality(fresh) > most THEN fresh := ARRAY[NULL]::bigint[]; END IF;
    INSERT INTO log_places SELECT cut.last + number, log_id FROM unnest(fresh) WITH ORDINALITY AS given (log_id, number);
    UPDATE log_numbering SET server = cut.here, identity = ours, snapshot = cut.now, prunings = cut.cuts,
      floor = cut.floor, last = cut.last + cardinality(fresh)
      RETURNING * INTO state;
    RETURN state;
  END $$;

  CREATE SEQUENCE order_ids;
  CREATE SEQUENCE pet_ids;
  CREATE SEQUENCE category_ids;

  ${sharedTables({
    ...DIALECT.types,
    id: 'TEXT COLLATE "C"',
    number: 'number BIGINT GENERATED ALWAYS AS IDENTITY,',
    serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    plain: '',
    byKey: '',
    hot: 'WITH (fillfactor = 50)',
  })}
`
