/** One log with one order, and the stock settled after it. See log.ts, stock-writer.ts and settle.ts. */
export const ONE_LOG = `
  -- How far the two logs, history and stock_changes, have come: one row of numbers for both. Whoever writes to them
  -- locks this row until the commit, so their rows are committed in the order of their ids. The cursors of events that
  -- were given before this are left far behind: their readers begin anew.
  CREATE TABLE log_head (
    is_only  boolean PRIMARY KEY CHECK (is_only),
    position bigint NOT NULL
  ) WITH (fillfactor = 10);
  INSERT INTO log_head SELECT true, 20000 + greatest(
    (SELECT last_value FROM log_ids), (SELECT max(id) FROM history), (SELECT max(id) FROM stock_changes),
    (SELECT last FROM event_numbering));

  CREATE VIEW log_end AS
    SELECT position, concat(extract(epoch FROM pg_postmaster_start_time()), '/', tableoid) AS database FROM log_head;

  -- Gives the position after which so many ids are the caller's.
  CREATE FUNCTION take_log_ids(ids bigint) RETURNS bigint LANGUAGE sql AS $$
    UPDATE log_head SET position = position + ids RETURNING position - ids
  $$;

  DROP FUNCTION number_events(integer);
  DROP FUNCTION log_since(pg_snapshot, integer);
  DROP FUNCTION set_quantities(bigint[], bigint[], text[], bigint[], text[]);
  DROP TABLE stock_events, event_numbering;
  ALTER TABLE history DROP COLUMN xid, ALTER COLUMN id DROP DEFAULT;
  ALTER TABLE stock_changes DROP COLUMN xid, ALTER COLUMN id DROP DEFAULT;
  DROP SEQUENCE log_ids;

  ALTER TABLE stock RENAME TO settled_stock;
  -- Every row of the history up to this id has gone into settled_stock.
  CREATE TABLE settled (
    is_only boolean PRIMARY KEY CHECK (is_only),
    up_to   bigint NOT NULL
  );
  INSERT INTO settled SELECT true, position FROM log_head;
  -- Of each pet that has later ones, the latest. The order and the limit keep the planner from reading all of the history.
  CREATE VIEW late_changes AS
    SELECT DISTINCT ON (pet_id) pet_id, after
    FROM (
      SELECT pet_id, id, after FROM history WHERE id > (SELECT up_to FROM settled) ORDER BY id LIMIT 1000000000
    ) AS late
    ORDER BY pet_id, id DESC;
  -- What the stock is.
  CREATE VIEW stock AS
    SELECT settled_stock.pet_id, coalesce(after, quantity) AS quantity, status
    FROM settled_stock
    LEFT JOIN late_changes ON late_changes.pet_id = settled_stock.pet_id;

  -- The time by the database's clock in milliseconds, or one that is given.
  CREATE FUNCTION store_time(given bigint) RETURNS bigint LANGUAGE sql AS $$
    SELECT coalesce(given, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
  $$;
  CREATE FUNCTION day_of(at bigint) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT to_char(to_timestamp(at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
  $$;
`
