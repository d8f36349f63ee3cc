import { SKIPPED_ID_COUNT } from '../generated-ids.ts'
import { IS_PET_EDIT } from '../log-rows.ts'
import { CROSSINGS_INDEX } from '../low-stock.ts'
import { sharedTables } from '../tables.ts'
import { DIALECT, IDS_PER_BLOCK } from './dialect.ts'

/** An advisory lock: one caller at a time assigns places in the log. The number is arbitrary. */
const NUMBERING_LOCK = 0x6e756d626572

/** The maximum number of places that one call assigns if there are webhooks, which must get every event. */
const MAX_PLACES = 10_000_000

/** The tables of the first release. */
export const FIRST_TABLES = `
  CREATE TABLE pets (
    id          bigint PRIMARY KEY,
    name        text NOT NULL,
    -- The words of the name, for searching and sorting: see core/catalog/name-words.ts.
    words       text COLLATE "C" NOT NULL,
    category_id bigint NOT NULL,
    barcode     text COLLATE "C",
    -- NULL if the threshold of the category applies.
    low_stock_at bigint
  );
  CREATE UNIQUE INDEX pets_by_barcode ON pets (barcode) WHERE barcode IS NOT NULL;
  CREATE INDEX pets_by_category ON pets (category_id, id);
  CREATE INDEX pets_by_words ON pets (words, id);
  -- Every search reads the index's list of pending entries, so this list is kept short.
  CREATE INDEX pet_words ON pets USING gin (array_to_tsvector(string_to_array(words, ' '))) WITH (gin_pending_list_limit = 256);

  -- The units on the shelf and how many of them open orders reserve, correct at every commit. The status is in this table
  -- and not in pets, so that listing the stock reads one narrow table. Each page has free space, so that an update stays in
  -- its page and does not write to the indexes. last_change is the pet's latest row in the log, and each row links to the
  -- previous row.
  CREATE TABLE stock (
    pet_id      bigint PRIMARY KEY REFERENCES pets (id) ON DELETE CASCADE,
    quantity    bigint NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    status      text NOT NULL CHECK (status IN ('available', 'pending', 'sold')),
    reserved    bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    -- The threshold that applies to the pet, and whether the pet is low. They are copied here, so that a change of the
    -- stock reads no other row.
    low_at      bigint,
    is_low      boolean NOT NULL DEFAULT false,
    last_change bigint
  ) WITH (fillfactor = 80);
  CREATE INDEX stock_by_status ON stock (status, pet_id);
  CREATE INDEX stock_low ON stock (pet_id) WHERE is_low;

  -- A commit takes numbers while its pets are locked, so the ids of a pet's log rows are in the order of its changes.
  CREATE SEQUENCE log_ids INCREMENT BY ${IDS_PER_BLOCK};

  -- The log of all changes. The oldest rows may be pruned, because no state depends on them. There is no foreign key, because
  -- the log outlives the pet. xid is the transaction that wrote the row and shows which snapshots include the row. Kinds:
  --   change: the quantity of a pet changed.
  --   pet: a pet was created or edited; the row has its new state.
  --   removed: a pet was removed.
  --   order, low, recovered: an order changed, or a pet crossed its threshold. The column previous does not link these rows.
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
    -- The id of the pet's previous row.
    previous bigint,
    xid      xid8 NOT NULL DEFAULT pg_current_xact_id(),
    -- The reason that the caller gave.
    reason    text,
    reference text,
    -- The order, pet or category after the change, as JSON.
    detail    text
  );
  CREATE INDEX log_by_xid ON log (xid);
  CREATE INDEX log_of_entries ON log (pet_id, id) WHERE ${IS_PET_EDIT};
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
  CREATE FUNCTION note_pruning() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE log_state SET prunings = prunings + 1, pruned_xid = greatest(pruned_xid, gone.xid)
        FROM (SELECT xid FROM removed ORDER BY xid DESC LIMIT 1) AS gone;
      RETURN NULL;
    END $$;
  CREATE TRIGGER log_is_pruned AFTER DELETE ON log
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION note_pruning();

  -- Two snapshots can be compared only if this value was the same for both. After a restart of the server or the restore of a
  -- dump, the same transaction id may belong to another transaction.
  CREATE FUNCTION log_server() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT concat(extract(epoch FROM pg_postmaster_start_time()), '/', 'log'::regclass::oid)
  $$;

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

  -- Assigns places to new rows, one caller at a time. If there are too many rows, if some were pruned, or if the server has
  -- changed, it assigns one place without a row.
  --
  -- The snapshot must not count a transaction id as completed that a crash could assign again. So the lock is an advisory lock,
  -- which needs no transaction id: this transaction gets its id only when it writes, after the snapshot was taken. Its id is
  -- above all ids that the snapshot counts as completed, and once it is on disk, the server does not assign lower ids again.
  CREATE FUNCTION number_log(most bigint) RETURNS log_numbering LANGUAGE plpgsql AS $$
  DECLARE
    state log_numbering;
    seen  pg_snapshot;
    fresh bigint[];
    ours  text;
    cut   record;
  BEGIN
    -- Webhooks must get every event.
    IF EXISTS (SELECT FROM webhooks) THEN most := ${MAX_PLACES}; END IF;
    SELECT * INTO state FROM log_numbering;
    IF state.server = log_server() AND state.prunings = (SELECT prunings FROM log_state)
      AND NOT EXISTS (SELECT FROM log_since(state.snapshot, 1)) THEN
      RETURN state;
    END IF;
    PERFORM pg_advisory_xact_lock(${NUMBERING_LOCK});
    -- One statement uses one snapshot, so the rows that get a place are exactly the rows that the next call skips.
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
    bytewiseText: 'TEXT COLLATE "C"',
    insertionOrder: 'number BIGINT GENERATED ALWAYS AS IDENTITY,',
    serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    plainTable: '',
    keyedTable: '',
    hotTable: 'WITH (fillfactor = 50)',
  })}
`

/** An advisory lock: one session at a time registers a server that has just started. The number is arbitrary. */
const SERVER_LOCK = 0x736572766572

/** The number of log rows that one call of number_log examines, which takes far less than the statement timeout. */
const PORTION = 20_000

/** The highest bigint, for a LIMIT that does not limit. */
const NO_LIMIT = '9223372036854775807'

/**
 * The second migration adds functions that detect crashes, promotions and restored dumps, and number the log in
 * portions. The functions that it replaces keep their signatures, so that instances of the previous version keep working.
 */
export const FAILOVER_TABLES = `
  SET LOCAL lock_timeout = '3s';

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

  CREATE OR REPLACE FUNCTION log_server() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(server_token(), concat(extract(epoch FROM pg_postmaster_start_time()), '/', 'log'::regclass::oid))
  $$;

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
    SELECT setval('log_ids', (SELECT last_value FROM log_ids) + ${BigInt(SKIPPED_ID_COUNT) * BigInt(IDS_PER_BLOCK)});
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

  -- earlier: the last valid cursor of each earlier timeline, separated by blanks.
  -- If there are more new rows than one call can number, they are numbered in a round of several calls, in the order of their
  -- ids. The round covers the rows that are visible in round_snapshot. round_last is the last place of the round, round_last_id
  -- the highest id, and rows up to round_id already have places.
  ALTER TABLE log_numbering
    ADD COLUMN origin text NOT NULL DEFAULT '',
    ADD COLUMN timeline text NOT NULL DEFAULT '',
    ADD COLUMN earlier text NOT NULL DEFAULT '',
    ADD COLUMN round_snapshot pg_snapshot,
    ADD COLUMN round_id bigint,
    ADD COLUMN round_last_id bigint,
    ADD COLUMN round_last bigint;

  CREATE FUNCTION numbering_origin() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT concat_ws('/', identity, server_origin()) FROM log_state
  $$;

  -- Keeps the cursors valid that this server has issued. The first version computed their identity in this way.
  UPDATE log_numbering SET origin = numbering_origin(), timeline = server_timeline()
    WHERE identity = (SELECT to_hex(hashtextextended(concat_ws('/', identity,
      (SELECT system_identifier FROM pg_control_system()), 'log'::regclass::oid, server_timeline()), 0)) FROM log_state);

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

  -- Assigns places to new rows, one caller at a time, and returns the state. A call does a bounded amount of work, and the next
  -- call continues. If rows were pruned before they had a place, or if there are more than "most" new rows and no webhook needs
  -- them, it assigns one place without a row, so that subscribers read the whole stock again.
  CREATE OR REPLACE FUNCTION number_log(most bigint) RETURNS log_numbering LANGUAGE plpgsql AS $$
    DECLARE
      state   log_numbering;
      found   record;
      is_owed boolean := EXISTS (SELECT FROM webhooks);
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
        prunings <> state.prunings AND pruned_xid >= pg_snapshot_xmin(state.snapshot) AS is_cut,
        ARRAY(SELECT id FROM log_since(state.snapshot, most + 1)
          WHERE id > state.floor AND kind <> 'category' ORDER BY id) AS fresh
        INTO found FROM log_state;
      IF is_owed AND NOT found.is_cut AND cardinality(found.fresh) > most THEN RETURN begin_round(); END IF;
      IF found.is_cut OR cardinality(found.fresh) > most THEN found.fresh := ARRAY[NULL]::bigint[]; END IF;
      INSERT INTO log_places
        SELECT state.last + number, log_id FROM unnest(found.fresh) WITH ORDINALITY AS given (log_id, number);
      UPDATE log_numbering
        SET snapshot = found.now, prunings = found.prunings, last = state.last + cardinality(found.fresh)
        RETURNING * INTO state;
      RETURN state;
    END $$;

  -- Begins a round: counts the rows, which reserves their places. From now on cursors up to round_last are valid.
  CREATE FUNCTION begin_round() RETURNS log_numbering LANGUAGE plpgsql AS $$
    DECLARE
      state log_numbering;
    BEGIN
      UPDATE log_numbering AS numbering SET round_snapshot = fresh.now, round_id = fresh.first_id - 1,
        round_last_id = fresh.last_id, round_last = last + fresh.rows
        FROM (
          SELECT pg_current_snapshot() AS now, min(log.id) AS first_id, max(log.id) AS last_id,
            count(*) FILTER (WHERE log.id > floor AND kind <> 'category') AS rows
          FROM log_numbering, log_since(snapshot, ${NO_LIMIT}) AS log
        ) AS fresh
        RETURNING numbering.* INTO state;
      RETURN state;
    END $$;

  -- Numbers the next rows of the round. They are in the order of their ids, which keeps the events of a pet in order.
  CREATE FUNCTION number_portion() RETURNS log_numbering LANGUAGE plpgsql AS $$
    DECLARE
      state   log_numbering;
      portion record;
      removed record;
    BEGIN
      SELECT * INTO state FROM log_numbering;
      SELECT prunings, prunings <> state.prunings AND pruned_xid >= pg_snapshot_xmin(state.snapshot) AS is_cut
        INTO removed FROM log_state;
      SELECT max(id) AS last_id, ARRAY(SELECT unnest(array_agg(id) FILTER (WHERE id > state.floor AND kind <> 'category'
          AND pg_visible_in_snapshot(xid, state.round_snapshot) AND NOT pg_visible_in_snapshot(xid, state.snapshot)))
          ORDER BY 1) AS fresh
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

/**
 * Replaces number_log. It compares the number of examined rows with its limit, because some of the examined rows get no place.
 * Before, the rows beyond the limit were skipped if one of the examined rows was of the kind category.
 */
export const FIX_LOG_NUMBERING = `
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
            FILTER (WHERE id > state.floor AND kind <> 'category'), '{}') AS fresh
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
`

/**
 * Replaces note_pruning. After the restore of a dump, the transaction ids of its rows mean nothing on this server. So
 * note_pruning ignores pruned rows up to the floor, and replaces a pruned_xid that this server has not reached.
 */
export const FIX_PRUNING_AFTER_RESTORE = `
  CREATE OR REPLACE FUNCTION note_pruning() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE log_state SET prunings = prunings + 1, pruned_xid = CASE
          WHEN pruned_xid < pg_snapshot_xmax(pg_current_snapshot()) THEN greatest(pruned_xid, gone.xid) ELSE gone.xid END
        FROM (SELECT xid FROM removed WHERE id > (SELECT floor FROM log_numbering) ORDER BY xid DESC LIMIT 1) AS gone;
      RETURN NULL;
    END $$;
`

/** A change of a category has a negative `log_id`: see PlaceRow in log.ts. */
const NUMBERED_ID = "CASE kind WHEN 'category' THEN -id ELSE id END"

/**
 * Gives changes of categories places in the log, so that they become events. Replaces the functions of earlier migrations by
 * the same functions without the condition that left out these rows.
 */
export const NUMBER_CATEGORIES = [
  replacedFunction(FAILOVER_TABLES, 'begin_round', {
    "(WHERE log.id > floor AND kind <> 'category')": '(WHERE log.id > floor)',
  }),
  replacedFunction(FAILOVER_TABLES, 'number_portion', {
    "ARRAY(SELECT unnest(array_agg(id) FILTER (WHERE id > state.floor AND kind <> 'category'": `coalesce(array_agg(${NUMBERED_ID} ORDER BY id) FILTER (WHERE id > state.floor`,
    [`AND NOT pg_visible_in_snapshot(xid, state.snapshot)))
          ORDER BY 1) AS fresh`]: "AND NOT pg_visible_in_snapshot(xid, state.snapshot)), '{}') AS fresh",
  }),
  replacedFunction(FIX_LOG_NUMBERING, 'number_log', {
    'array_agg(id ORDER BY id)': `array_agg(${NUMBERED_ID} ORDER BY id)`,
    "(WHERE id > state.floor AND kind <> 'category')": '(WHERE id > state.floor)',
  }),
].join('\n')

/** A statement that replaces a function by the one of a migration, with other texts. */
function replacedFunction(migration: string, name: string, texts: Readonly<Record<string, string>>): string {
  const [, definition] = new RegExp(`FUNCTION (${name}\\(.*?END \\$\\$;)`, 's').exec(migration) ?? []
  if (definition === undefined) throw new Error(`the migration has no function ${name}`)
  let replaced = `CREATE OR REPLACE FUNCTION ${definition}`
  for (const [text, other] of Object.entries(texts)) {
    if (!replaced.includes(text)) throw new Error(`the function ${name} has no ${text}`)
    // A function, because a text may contain patterns such as `$$`.
    replaced = replaced.replace(text, () => other)
  }
  return replaced
}
