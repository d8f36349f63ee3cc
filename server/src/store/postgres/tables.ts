import { MAX_LOG_ROWS } from '../../core/stock/decide.ts'
import { SKIPPED_ID_COUNT } from '../generated-ids.ts'
import { LOG_INDEXES } from '../log-rows.ts'
import { CROSSINGS_INDEX } from '../low-stock.ts'
import { sharedTables, sharedUpgrade, type TableTerms } from '../tables.ts'
import { DIALECT } from './dialect.ts'

/** An advisory lock: one caller at a time assigns places in the log. The number is arbitrary. */
const NUMBERING_LOCK = 0x6e756d626572

/** An advisory lock: one session at a time registers a server that has just started. The number is arbitrary. */
const SERVER_LOCK = 0x736572766572

/** More log ids than lost commits can have used. The same as in 1.1.0, whose tables keep their functions. */
const SKIPPED_LOG_IDS = 200_000_000_000n

/** The number of log rows that one call of number_log examines, which takes far less than the statement timeout. */
const PORTION = 20_000

/** The highest bigint, for a LIMIT that does not limit. */
const NO_LIMIT = '9223372036854775807'

const TERMS: TableTerms = {
  ...DIALECT.types,
  bytewiseText: 'TEXT COLLATE "C"',
  insertionOrder: 'number BIGINT GENERATED ALWAYS AS IDENTITY,',
  serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  plainTable: '',
  keyedTable: '',
  hotTable: 'WITH (fillfactor = 50)',
  json: { of: (text) => `CAST(${text} AS json)`, object: 'json_build_object', array: 'json_build_array' },
}

/** Functions that give log rows their places. */
const NUMBERING_FUNCTIONS = `
  -- Assigns places to new rows, one caller at a time, and returns the state. A call does a bounded amount of work, and the next
  -- call continues. If rows were pruned before they had a place, or if there are more than "most" new rows and no webhook needs
  -- them, it assigns one place without a row, so that subscribers read the whole stock again.
  CREATE OR REPLACE FUNCTION number_log(most bigint) RETURNS log_numbering LANGUAGE plpgsql AS $$
    DECLARE
      state    log_numbering;
      found    record;
      is_owed  boolean := EXISTS (SELECT FROM webhooks);
      too_many boolean;
    BEGIN
      -- Webhooks must get every event.
      IF is_owed THEN most := ${PORTION}; END IF;
      SELECT * INTO state FROM log_numbering;
      IF state.server = server_token() AND state.round_snapshot IS NULL
        AND state.prunings = (SELECT prunings FROM log_state)
        AND NOT EXISTS (SELECT FROM log_since(state.snapshot, 1)) THEN
        RETURN state;
      END IF;
      -- An advisory lock needs no transaction id, so this transaction gets its id only when it writes, after the snapshot was
      -- taken. Its id is above all ids that the snapshot counts as completed. Once it is on disk, no crash or promotion assigns
      -- lower ids again.
      PERFORM pg_advisory_xact_lock(${NUMBERING_LOCK});
      PERFORM adopt_numbering();
      SELECT * INTO state FROM log_numbering;
      IF state.round_snapshot IS NOT NULL THEN RETURN number_portion(); END IF;
      -- One statement uses one snapshot, so the rows that get a place are exactly the rows that the next call skips.
      SELECT pg_current_snapshot() AS now, prunings,
        prunings <> state.prunings AND pruned_xid >= pg_snapshot_xmin(state.snapshot) AS is_cut, examined.*
        INTO found FROM log_state, (
          SELECT count(*) AS examined_rows, coalesce(array_agg(id ORDER BY id)
            FILTER (WHERE id > state.floor), '{}') AS fresh
          FROM log_since(state.snapshot, most + 1)
        ) AS examined;
      too_many := found.examined_rows > most;
      IF is_owed AND NOT found.is_cut AND too_many THEN RETURN begin_round(); END IF;
      IF found.is_cut OR too_many THEN found.fresh := ARRAY[NULL]::bigint[]; END IF;
      INSERT INTO log_places
        SELECT state.last + number, log_id FROM unnest(found.fresh) WITH ORDINALITY AS given (log_id, number);
      UPDATE log_numbering
        SET snapshot = found.now, prunings = found.prunings, last = state.last + cardinality(found.fresh)
        RETURNING * INTO state;
      RETURN state;
    END $$;

  -- Begins a round: counts the rows, which reserves their places. From now on cursors up to round_last are valid.
  CREATE OR REPLACE FUNCTION begin_round() RETURNS log_numbering LANGUAGE plpgsql AS $$
    DECLARE
      state log_numbering;
    BEGIN
      UPDATE log_numbering AS numbering SET round_snapshot = fresh.now, round_id = fresh.first_id - 1,
        round_last_id = fresh.last_id, round_last = last + fresh.rows
        FROM (
          SELECT pg_current_snapshot() AS now, min(log.id) AS first_id, max(log.id) AS last_id,
            count(*) FILTER (WHERE log.id > floor) AS rows
          FROM log_numbering, log_since(snapshot, ${NO_LIMIT}) AS log
        ) AS fresh
        RETURNING numbering.* INTO state;
      RETURN state;
    END $$;

  -- Numbers the next rows of the round. They are in the order of their ids, which keeps the events of a pet in order.
  CREATE OR REPLACE FUNCTION number_portion() RETURNS log_numbering LANGUAGE plpgsql AS $$
    DECLARE
      state   log_numbering;
      portion record;
      removed record;
    BEGIN
      SELECT * INTO state FROM log_numbering;
      SELECT prunings, prunings <> state.prunings AND pruned_xid >= pg_snapshot_xmin(state.snapshot) AS is_cut
        INTO removed FROM log_state;
      SELECT max(id) AS last_id,
        coalesce(array_agg(id ORDER BY id) FILTER (WHERE id > state.floor
          AND pg_visible_in_snapshot(xid, state.round_snapshot) AND NOT pg_visible_in_snapshot(xid, state.snapshot)), '{}')
          AS fresh
        INTO portion
        FROM (SELECT id, kind, xid FROM log WHERE id > state.round_id AND id <= state.round_last_id
          ORDER BY id LIMIT ${PORTION}) AS looked_at;
      INSERT INTO log_places
        SELECT state.last + number, log_id FROM unnest(portion.fresh) WITH ORDINALITY AS given (log_id, number);
      state.last := state.last + cardinality(portion.fresh);
      IF NOT removed.is_cut AND portion.last_id < state.round_last_id THEN
        UPDATE log_numbering SET last = state.last, round_id = portion.last_id RETURNING * INTO state;
        RETURN state;
      END IF;
      -- Rows that were pruned meanwhile leave a gap in the places. A subscriber that reaches it reads the whole stock again.
      IF removed.is_cut OR state.last <> state.round_last THEN
        state.last := state.round_last + 1;
        INSERT INTO log_places VALUES (state.last, NULL);
      END IF;
      UPDATE log_numbering SET last = state.last, snapshot = state.round_snapshot, prunings = removed.prunings,
        round_snapshot = NULL, round_id = NULL, round_last_id = NULL, round_last = NULL
        RETURNING * INTO state;
      RETURN state;
    END $$;
`

/** Creates all tables. */
export const TABLES = `
  CREATE TABLE pets (
    id          bigint PRIMARY KEY,
    name        text NOT NULL,
    -- The words of the name, for searching and sorting: see core/catalog/name-words.ts.
    words       text COLLATE "C" NOT NULL,
    category_id bigint NOT NULL,
    barcode     text COLLATE "C",
    -- NULL if the threshold of the category applies.
    low_stock_at bigint,
    metadata    text
  );
  CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_by_category ON pets (category_id, id);

  -- The units on the shelf and how many of them orders reserve, correct at every commit. The status is in this table
  -- and not in pets, so that listing the stock reads one narrow table. Each page has free space, so that an update stays in
  -- its page and does not write to the indexes.
  CREATE TABLE stock (
    pet_id      bigint PRIMARY KEY REFERENCES pets (id) ON DELETE CASCADE,
    quantity    bigint NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    status      text NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    reserved    bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    -- The threshold that applies to the pet. It is copied here, so that a change of the stock reads no other row.
    low_at      bigint,
    -- The times of the latest count and of the latest movement, so that most facts are decided without their history.
    counted_at  bigint,
    moved_at    bigint
  ) WITH (fillfactor = 80);
  CREATE INDEX stock_by_status ON stock (status, pet_id);

  -- A commit takes one number while its pets are locked, so the ids of a pet's log rows are in the order of its changes. The
  -- ids of its rows follow that number.
  CREATE SEQUENCE log_ids INCREMENT BY ${MAX_LOG_ROWS};

  -- The log of all changes. The oldest rows may be pruned, because no state depends on them. There is no foreign key, because
  -- the log outlives the pet. xid is the transaction that wrote the row and shows which snapshots include the row. Kinds:
  --   change: the quantity of a pet changed.
  --   pet: a pet was created or edited; the row has its new state.
  --   removed: a pet was removed.
  --   order, low, recovered: an order changed, or a pet crossed its threshold.
  --   category: a category changed.
  --   relist: too much changed at once, so subscribers must read the whole stock again.
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
    xid      xid8 NOT NULL DEFAULT pg_current_xact_id(),
    -- The reason that the caller gave.
    reason    text,
    reference text,
    -- The order without personal data, pet or category after the change, as JSON. In the first row of an adjustment: its note and its number of rows.
    detail    text,
    -- The adjustment that the row is a line of: the id of its first row. Its rows follow each other.
    document  bigint,
    -- When it happened; NULL if that is "at", when it was recorded.
    occurred_at bigint,
    -- The units of a movement, or the counted quantity. A reversed count has neither.
    delta     bigint,
    counted   bigint,
    -- NULL if the line was applied to the stock.
    effect    text,
    -- The reserved units of the pet after the change.
    reserved  bigint,
    -- The order that the row is about, and the adjustment that it reverses.
    order_id  bigint,
    reverses  bigint
  );
  CREATE INDEX log_by_xid ON log (xid);
  ${LOG_INDEXES}
  ${CROSSINGS_INDEX};

  CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'the log is append-only; petstore history prune removes what is old'; END $$;
  CREATE TRIGGER log_is_not_edited BEFORE UPDATE OR TRUNCATE ON log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

  -- How often the log was pruned, and the latest transaction whose rows were pruned. Earlier cursors are no longer valid.
  CREATE TABLE log_state (
    is_only    boolean PRIMARY KEY CHECK (is_only),
    identity   text NOT NULL,
    prunings   bigint NOT NULL,
    pruned_xid xid8 NOT NULL
  );
  INSERT INTO log_state VALUES (true, gen_random_uuid(), 0, '0');
  -- After the restore of a dump, the transaction ids of its rows mean nothing on this server. So note_pruning ignores pruned
  -- rows up to the floor, and replaces a pruned_xid that this server has not reached.
  CREATE FUNCTION note_pruning() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE log_state SET prunings = prunings + 1, pruned_xid = CASE
          WHEN pruned_xid < pg_snapshot_xmax(pg_current_snapshot()) THEN greatest(pruned_xid, gone.xid) ELSE gone.xid END
        FROM (SELECT xid FROM removed WHERE id > (SELECT floor FROM log_numbering) ORDER BY xid DESC LIMIT 1) AS gone;
      RETURN NULL;
    END $$;
  CREATE TRIGGER log_is_pruned AFTER DELETE ON log
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION note_pruning();

  -- The rows that are visible now but were not visible in the snapshot: at that time, their transactions were running or had
  -- not started.
  CREATE FUNCTION log_since(seen pg_snapshot, most bigint)
  RETURNS TABLE (id bigint, pet_id bigint, kind text) LANGUAGE sql STABLE AS $$
    (SELECT id, pet_id, kind FROM log WHERE xid >= pg_snapshot_xmax(seen)
      AND xid < pg_snapshot_xmax(pg_current_snapshot()) ORDER BY xid LIMIT most)
    UNION ALL
    (SELECT id, pet_id, kind FROM log WHERE xid = ANY (ARRAY(SELECT pg_snapshot_xip(seen))) ORDER BY xid LIMIT most)
  $$;

  -- Subscribers read the log in the order of its places, which are assigned after the commit and have no gaps. A place without
  -- a row means that the subscriber must read the whole stock again.
  CREATE TABLE log_places (
    place  bigint PRIMARY KEY,
    log_id bigint
  );
  -- The state of the numbering: which rows have a place, and the last place. The identity is part of each cursor, because a
  -- place may belong to another row after a failover or the restore of a dump. Rows up to the floor came with a dump.
  -- earlier: the last valid cursor of each earlier timeline, separated by blanks.
  -- If there are more new rows than one call can number, they are numbered in a round of several calls, in the order of their
  -- ids. The round covers the rows that are visible in round_snapshot. round_last is the last place of the round, round_last_id
  -- the highest id, and rows up to round_id already have places.
  CREATE TABLE log_numbering (
    is_only        boolean PRIMARY KEY CHECK (is_only),
    server         text NOT NULL,
    identity       text NOT NULL,
    snapshot       pg_snapshot NOT NULL,
    prunings       bigint NOT NULL,
    floor          bigint NOT NULL,
    last           bigint NOT NULL,
    origin         text NOT NULL DEFAULT '',
    timeline       text NOT NULL DEFAULT '',
    earlier        text NOT NULL DEFAULT '',
    round_snapshot pg_snapshot,
    round_id       bigint,
    round_last_id  bigint,
    round_last     bigint
  );
  INSERT INTO log_numbering VALUES (true, '', '', pg_current_snapshot(), 0, 0, 0);

  CREATE SEQUENCE order_ids;
  CREATE SEQUENCE pet_ids;
  CREATE SEQUENCE category_ids;

  ${sharedTables(TERMS)}

  -- The token identifies one run of the server. register_server writes another token if the row is missing or does not match.
  -- The row is missing after a crash, because recovery truncates unlogged tables, and after the promotion of a standby, because
  -- unlogged tables are not replicated. It does not match after a restart, which changes the start time, or after the restore
  -- of a dump, which changes the oid of the table log.
  CREATE UNLOGGED TABLE running_server (
    is_only boolean PRIMARY KEY CHECK (is_only),
    token   text NOT NULL,
    started timestamptz NOT NULL,
    log_oid oid NOT NULL
  );

  -- Returns NULL if this run of the server has not been registered yet, and on a standby, which cannot read unlogged tables.
  CREATE FUNCTION server_token() RETURNS text LANGUAGE plpgsql STABLE AS $$
    DECLARE
      registered text;
    BEGIN
      IF pg_is_in_recovery() THEN RETURN NULL; END IF;
      SELECT token INTO registered FROM running_server
        WHERE is_only AND started = pg_postmaster_start_time() AND log_oid = 'log'::regclass;
      RETURN registered;
    END $$;

  -- The value changes when a dump is restored, on the same server or on another server.
  CREATE FUNCTION server_origin() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()), 'log'::regclass::oid)
  $$;

  -- The value changes with a promotion and with a recovery to a point in time.
  CREATE FUNCTION server_timeline() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)
  $$;

  -- The server that generated the last ids. Another server may have generated ids that this database does not know.
  CREATE TABLE id_origin (
    is_only  boolean PRIMARY KEY CHECK (is_only),
    origin   text NOT NULL,
    timeline text NOT NULL
  );
  INSERT INTO id_origin VALUES (true, server_origin(), server_timeline());

  -- Skips more ids than lost commits can have used, so that no id is used twice.
  CREATE FUNCTION skip_ids() RETURNS void LANGUAGE sql AS $$
    SELECT setval('order_ids', (SELECT last_value FROM order_ids) + ${SKIPPED_ID_COUNT});
    SELECT setval('pet_ids', (SELECT last_value FROM pet_ids) + ${SKIPPED_ID_COUNT});
    SELECT setval('category_ids', (SELECT last_value FROM category_ids) + ${SKIPPED_ID_COUNT});
    SELECT setval('log_ids', (SELECT last_value FROM log_ids) + ${SKIPPED_LOG_IDS});
  $$;

  CREATE FUNCTION register_server() RETURNS text LANGUAGE plpgsql AS $$
    DECLARE
      registered text := server_token();
    BEGIN
      IF registered IS NOT NULL THEN RETURN registered; END IF;
      PERFORM pg_advisory_xact_lock(${SERVER_LOCK});
      -- Another session may have registered the server meanwhile.
      registered := server_token();
      IF registered IS NOT NULL THEN RETURN registered; END IF;
      UPDATE id_origin SET origin = server_origin(), timeline = server_timeline()
        WHERE (origin, timeline) <> (server_origin(), server_timeline());
      IF FOUND THEN PERFORM skip_ids(); END IF;
      INSERT INTO running_server
        VALUES (true, gen_random_uuid(), pg_postmaster_start_time(), 'log'::regclass)
        ON CONFLICT (is_only) DO UPDATE
          SET token = excluded.token, started = excluded.started, log_oid = excluded.log_oid
        RETURNING token INTO registered;
      RETURN registered;
    END $$;

  CREATE FUNCTION own_ids(sequence regclass, number bigint) RETURNS bigint[] LANGUAGE plpgsql AS $$
    BEGIN
      IF number > 0 THEN PERFORM register_server(); END IF;
      RETURN ARRAY(SELECT nextval(sequence) FROM generate_series(1, number));
    END $$;

  CREATE FUNCTION numbering_origin() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT concat_ws('/', identity, server_origin()) FROM log_state
  $$;

  -- Adapts log_numbering to this run of the server, if it belongs to another run. The caller holds the lock of number_log.
  CREATE FUNCTION adopt_numbering() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      token   text := register_server();
      another text := to_hex(hashtextextended(gen_random_uuid()::text, 0));
      state   log_numbering;
    BEGIN
      SELECT * INTO state FROM log_numbering;
      IF state.server = token THEN RETURN; END IF;
      IF state.origin <> numbering_origin() THEN
        -- A dump was restored. Issued cursors may name other rows, and the rows have transaction ids of another server. Rows
        -- up to the floor came with the dump.
        state.last := coalesce(state.round_last, state.last) + 1;
        INSERT INTO log_places VALUES (state.last, NULL);
        UPDATE log_numbering SET identity = another, earlier = '', snapshot = now.snapshot, last = state.last,
          round_snapshot = NULL, round_id = NULL, round_last_id = NULL, round_last = NULL,
          prunings = (SELECT prunings FROM log_state),
          floor = coalesce((SELECT max(id) FROM log WHERE xid >= pg_snapshot_xmax(now.snapshot)
            OR xid = ANY (ARRAY(SELECT pg_snapshot_xip(now.snapshot)))), floor)
          FROM (SELECT pg_current_snapshot() AS snapshot) AS now;
      ELSIF state.timeline <> server_timeline() THEN
        -- A standby was promoted. Places up to here were replicated. The old primary may have assigned later places, but
        -- their rows are lost.
        UPDATE log_numbering SET identity = another, earlier = concat(earlier, ' ',
          coalesce(state.round_last, state.last), '.', state.identity);
      END IF;
      UPDATE log_numbering SET server = token, origin = numbering_origin(), timeline = server_timeline();
    END $$;
${NUMBERING_FUNCTIONS}`

/** Changes the tables of 1.1.0 to those of TABLES. */
export const UPGRADE_OF_1_1_0 = `
  SET LOCAL lock_timeout = '3s';
  ALTER TABLE log DISABLE TRIGGER log_is_not_edited;
  ${sharedUpgrade(TERMS)}
  ALTER TABLE log ENABLE TRIGGER log_is_not_edited;
  -- The constraint gets the new name of its column.
  ALTER TABLE idempotency ALTER COLUMN forget_at DROP NOT NULL;
  ALTER TABLE idempotency ALTER COLUMN forget_at SET NOT NULL;
  ALTER SEQUENCE log_ids INCREMENT BY ${MAX_LOG_ROWS};
  DROP INDEX IF EXISTS pet_words;
  DROP FUNCTION log_server();
${NUMBERING_FUNCTIONS}`
