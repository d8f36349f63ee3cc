/** The functions as the first release made them. */
export const FIRST_FUNCTIONS = `
  -- Sets quantities in the order given, where conditions stand, and answers in that order. The rows are locked in the order of their ids,
  -- whatever the order of the changes, so two batches that name the same pets wait for each other and never
  -- deadlock. What follows works in memory: a pet can be named twice, and a condition is on what stands by then.
  CREATE FUNCTION set_quantities(
    pet_ids bigint[], quantities bigint[], key_ids text[], ats bigint[], conditions text[]
  ) RETURNS TABLE (outcome text, quantity bigint, status text) LANGUAGE plpgsql AS $$
  DECLARE
    ids      bigint[];
    held     bigint[];
    statuses text[];
    change   record;
    n        integer := 0;
    outcomes text[] := '{}';
    told     bigint[] := '{}';
    states   text[] := '{}';
    changes  integer := 0;
    places   integer[] := '{}';
    befores  bigint[] := '{}';
  BEGIN
    SELECT array_agg(locked.pet_id), array_agg(locked.quantity), array_agg(locked.status)
      INTO ids, held, statuses
      FROM (SELECT s.pet_id, s.quantity, s.status FROM stock s
        WHERE s.pet_id = ANY (pet_ids) ORDER BY s.pet_id FOR NO KEY UPDATE) locked;

    FOR change IN
      SELECT asked.quantity, asked.condition, found.place::integer AS place
      FROM unnest(pet_ids, quantities, conditions) WITH ORDINALITY asked (pet_id, quantity, condition, number)
      LEFT JOIN unnest(ids) WITH ORDINALITY found (pet_id, place) ON found.pet_id = asked.pet_id
      ORDER BY asked.number
    LOOP
      n := n + 1;
      IF change.place IS NULL THEN
        outcomes[n] := 'unknown_pet';
        told[n] := NULL;
        states[n] := NULL;
        CONTINUE;
      END IF;
      states[n] := statuses[change.place];
      IF change.condition IS NOT NULL AND NOT (
        held[change.place] || ' ' || states[n] = ANY (string_to_array(change.condition, ','))
      ) THEN
        outcomes[n] := 'conflict';
        told[n] := held[change.place];
        CONTINUE;
      END IF;
      outcomes[n] := 'set';
      told[n] := change.quantity;
      IF held[change.place] <> change.quantity THEN
        changes := changes + 1;
        places[changes] := n;
        befores[changes] := held[change.place];
        held[change.place] := change.quantity;
      END IF;
    END LOOP;

    IF changes > 0 THEN
      UPDATE stock s SET quantity = now.quantity FROM unnest(ids, held) now (pet_id, quantity)
        WHERE s.pet_id = now.pet_id AND s.quantity <> now.quantity;
      INSERT INTO history (pet_id, before, after, at, key_id, status)
        SELECT pet_ids[made.place], made.before, quantities[made.place], ats[made.place], key_ids[made.place],
          states[made.place]
        FROM unnest(places, befores) WITH ORDINALITY made (place, before, number) ORDER BY made.number;
    END IF;
    RETURN QUERY SELECT * FROM unnest(outcomes, told, states);
  END $$;

  -- The events of the stock, numbered in an order that everybody sees alike. Transactions commit in any order, so
  -- what is new is found by comparing snapshots, and numbered by whoever asks first; within one such round the ids
  -- of the logs tell the order. A row without a log_id: read the whole list again.
  CREATE TABLE stock_events (
    number      bigint PRIMARY KEY,
    is_quantity boolean NOT NULL,
    pet_id      bigint,
    log_id      bigint
  );
  CREATE TABLE event_numbering (
    is_only  boolean PRIMARY KEY CHECK (is_only),
    server   text NOT NULL,
    snapshot pg_snapshot NOT NULL,
    last     bigint NOT NULL
  );
  INSERT INTO event_numbering VALUES (true, '', pg_current_snapshot(), 0);

  -- What a snapshot does not show and we see: written by a transaction that was under way then, or had not begun.
  CREATE FUNCTION log_since(seen pg_snapshot, most integer)
  RETURNS TABLE (is_quantity boolean, pet_id bigint, id bigint) LANGUAGE sql STABLE AS $$
    (SELECT true, pet_id, id FROM history WHERE xid >= pg_snapshot_xmax(seen)
      AND xid < pg_snapshot_xmax(pg_current_snapshot()) ORDER BY xid LIMIT most)
    UNION ALL
    (SELECT false, pet_id, id FROM stock_changes WHERE xid >= pg_snapshot_xmax(seen)
      AND xid < pg_snapshot_xmax(pg_current_snapshot()) AND kind <> 'renamed'
      ORDER BY xid LIMIT most)
    UNION ALL
    (SELECT true, pet_id, id FROM history WHERE xid = ANY (ARRAY(SELECT pg_snapshot_xip(seen))) ORDER BY xid LIMIT most)
    UNION ALL
    (SELECT false, pet_id, id FROM stock_changes
      WHERE xid = ANY (ARRAY(SELECT pg_snapshot_xip(seen))) AND kind <> 'renamed'
      ORDER BY xid LIMIT most)
  $$;

  -- Numbers what has happened by now, and gives the last number. On another server than before (a restart, a
  -- fail-over, a restored dump) snapshots cannot be compared: all that can be said is to read the list again.
  CREATE FUNCTION number_events(most integer) RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE
    state   event_numbering;
    started text := extract(epoch FROM pg_postmaster_start_time())::text;
  BEGIN
    SELECT * INTO state FROM event_numbering;
    IF state.server = started AND NOT EXISTS (SELECT 1 FROM log_since(state.snapshot, 1)) THEN
      RETURN state.last;
    END IF;
    SELECT * INTO state FROM event_numbering FOR UPDATE;
    IF state.server <> started THEN
      INSERT INTO stock_events VALUES (state.last + 1, false, NULL, NULL);
      UPDATE event_numbering SET server = started, snapshot = pg_current_snapshot(), last = last + 1;
      RETURN state.last + 1;
    END IF;
    -- One statement, hence one snapshot: what is numbered is what the snapshot shows.
    WITH fresh AS MATERIALIZED (SELECT * FROM log_since(state.snapshot, most + 1)),
    size AS (SELECT count(*) AS rows FROM fresh),
    numbered AS (
      INSERT INTO stock_events
      SELECT state.last + row_number() OVER (ORDER BY fresh.id), fresh.*
        FROM fresh WHERE (SELECT rows FROM size) <= most
      UNION ALL SELECT state.last + 1, false, NULL, NULL FROM size WHERE rows > most
    )
    UPDATE event_numbering SET snapshot = pg_current_snapshot(),
      last = state.last + (SELECT CASE WHEN rows > most THEN 1 ELSE rows END FROM size)
      RETURNING * INTO state;
    DELETE FROM stock_events WHERE number <= state.last - 2 * most;
    RETURN state.last;
  END $$;
`
