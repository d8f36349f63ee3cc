import { ID_STEP } from '../own-ids.ts'
import { IDS_A_NUMBER } from './log-ids.ts'
import { NUMBERING_LOCK } from './tables.ts'

/** Any number that no other advisory lock uses: one session at a time registers a server that has just started. */
const SERVER_LOCK = 0x736572766572

/** How many rows of the log one call of number_log looks at, so that it stays far below the statement timeout. */
const PORTION = 20_000

/** More rows than any log has. */
const ALL = '9223372036854775807'

/**
 * The second migration: crashes, promotions and restored dumps are recognised, and the log is numbered in portions. The
 * functions that it replaces keep their signatures, so that instances of the version before go on beside it.
 */
export const FAILOVER_TABLES = `
  SET LOCAL lock_timeout = '3s';

  -- Identifies one run of the server. Crash recovery truncates an unlogged table, a standby has no rows in it when it is
  -- promoted, and a restart changes the start time: in each case the row is missing or does not match, and register_server
  -- writes another token. A dump restores the row, but log has another oid then.
  CREATE UNLOGGED TABLE running_server (
    is_only boolean PRIMARY KEY CHECK (is_only),
    token   text NOT NULL,
    started timestamptz NOT NULL,
    log_oid oid NOT NULL
  );

  -- NULL if this run of the server has not been registered yet, and on a standby, which cannot read unlogged tables.
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

  -- Different after a dump was restored, on the same server or on another.
  CREATE FUNCTION server_origin() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT concat_ws('/', (SELECT system_identifier FROM pg_control_system()), 'log'::regclass::oid)
  $$;

  -- Different after a promotion, and after a recovery to a point in time.
  CREATE FUNCTION server_timeline() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8)
  $$;

  -- Where ids were given last. If it is elsewhere, ids may have been given that this database does not know of.
  CREATE TABLE id_origin (
    is_only  boolean PRIMARY KEY CHECK (is_only),
    origin   text NOT NULL,
    timeline text NOT NULL
  );
  INSERT INTO id_origin VALUES (true, server_origin(), server_timeline());

  -- Skips more ids than can have been lost with commits, so that no id is given twice.
  CREATE FUNCTION skip_ids() RETURNS void LANGUAGE sql AS $$
    SELECT setval('order_ids', (SELECT last_value FROM order_ids) + ${ID_STEP});
    SELECT setval('pet_ids', (SELECT last_value FROM pet_ids) + ${ID_STEP});
    SELECT setval('category_ids', (SELECT last_value FROM category_ids) + ${ID_STEP});
    SELECT setval('log_ids', (SELECT last_value FROM log_ids) + ${BigInt(ID_STEP) * BigInt(IDS_A_NUMBER)});
  $$;

  CREATE FUNCTION register_server() RETURNS text LANGUAGE plpgsql AS $$
    DECLARE
      registered text := server_token();
    BEGIN
      IF registered IS NOT NULL THEN RETURN registered; END IF;
      PERFORM pg_advisory_xact_lock(${SERVER_LOCK});
      -- Another session may have registered it meanwhile.
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

  -- The last cursors of earlier timelines that are valid on this one, with blanks between them.
  -- A round numbers more rows than fit one portion. It gives places up to round_last to all rows that its snapshot shows,
  -- by id; they have ids up to round_last_id, and those up to round_id have been looked at.
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

  -- Cursors stay valid if they are of this very server; their identity was computed like this.
  UPDATE log_numbering SET origin = numbering_origin(), timeline = server_timeline()
    WHERE identity = (SELECT to_hex(hashtextextended(concat_ws('/', identity,
      (SELECT system_identifier FROM pg_control_system()), 'log'::regclass::oid, server_timeline()), 0)) FROM log_state);

  -- Notes in log_numbering that the log goes on in this run of the server. The caller holds the lock of number_log.
  CREATE FUNCTION adopt_numbering() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      token   text := register_server();
      another text := to_hex(hashtextextended(gen_random_uuid()::text, 0));
      state   log_numbering;
    BEGIN
      SELECT * INTO state FROM log_numbering;
      IF state.server = token THEN RETURN; END IF;
      IF state.origin <> numbering_origin() THEN
        -- A restored dump: its places may stand for other rows than the cursors that were given mean, and the transaction
        -- numbers of its rows are those of another server. Rows up to the floor came with it.
        state.last := coalesce(state.round_last, state.last) + 1;
        INSERT INTO log_places VALUES (state.last, NULL);
        UPDATE log_numbering SET identity = another, earlier = '', snapshot = now.snapshot, last = state.last,
          round_snapshot = NULL, round_id = NULL, round_last_id = NULL, round_last = NULL,
          prunings = (SELECT prunings FROM log_state),
          floor = coalesce((SELECT max(id) FROM log WHERE xid >= pg_snapshot_xmax(now.snapshot)
            OR xid = ANY (ARRAY(SELECT pg_snapshot_xip(now.snapshot)))), floor)
          FROM (SELECT pg_current_snapshot() AS snapshot) AS now;
      ELSIF state.timeline <> server_timeline() THEN
        -- A promoted standby: it has all places up to here. The old primary may have given more of them, whose rows are lost.
        UPDATE log_numbering SET identity = another, earlier = concat(earlier, ' ',
          coalesce(state.round_last, state.last), '.', state.identity);
      END IF;
      UPDATE log_numbering SET server = token, origin = numbering_origin(), timeline = server_timeline();
    END $$;

  -- Gives places to rows that have none, one caller at a time, and returns how far it has come. A call does a bounded
  -- amount of work: if there is more, the next call goes on. If there is no webhook and more rows than a stream is worth, or
  -- if rows were removed before they had a place, a place without a row asks followers to list the stock again.
  CREATE OR REPLACE FUNCTION number_log(most bigint) RETURNS log_numbering LANGUAGE plpgsql AS $$
    DECLARE
      state   log_numbering;
      found   record;
      is_owed boolean := EXISTS (SELECT FROM webhooks);
    BEGIN
      -- Webhooks are owed every event.
      IF is_owed THEN most := ${PORTION}; END IF;
      SELECT * INTO state FROM log_numbering;
      IF state.server = server_token() AND state.round_snapshot IS NULL
        AND state.prunings = (SELECT prunings FROM log_state)
        AND NOT EXISTS (SELECT FROM log_since(state.snapshot, 1)) THEN
        RETURN state;
      END IF;
      -- This lock assigns no transaction id. The id of the transaction that writes is above all that its snapshot counts as
      -- completed, so once it is on disk no crash or promotion assigns one of those again.
      PERFORM pg_advisory_xact_lock(${NUMBERING_LOCK});
      PERFORM adopt_numbering();
      SELECT * INTO state FROM log_numbering;
      IF state.round_snapshot IS NOT NULL THEN RETURN number_portion(); END IF;
      -- One statement, hence one snapshot: what gets a place is what the next caller counts as seen.
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

  -- Only counts: followers may have cursors up to the last place of the round from now on.
  CREATE FUNCTION begin_round() RETURNS log_numbering LANGUAGE plpgsql AS $$
    DECLARE
      state log_numbering;
    BEGIN
      UPDATE log_numbering AS numbering SET round_snapshot = fresh.now, round_id = fresh.first_id - 1,
        round_last_id = fresh.last_id, round_last = last + fresh.rows
        FROM (
          SELECT pg_current_snapshot() AS now, min(log.id) AS first_id, max(log.id) AS last_id,
            count(*) FILTER (WHERE log.id > floor AND kind <> 'category') AS rows
          FROM log_numbering, log_since(snapshot, ${ALL}) AS log
        ) AS fresh
        RETURNING numbering.* INTO state;
      RETURN state;
    END $$;

  -- By id, so that what happened to a pet stays in order.
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
      -- Rows that were removed meanwhile leave a gap in the places. A follower that reaches the gap lists the stock again.
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
