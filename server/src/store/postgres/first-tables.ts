/** The tables as the first release made them. */
export const FIRST_TABLES = `
  CREATE TABLE pets (
    id          bigint PRIMARY KEY,
    name        text NOT NULL,
    category_id bigint NOT NULL
  );

  -- The status stands here, not in pets, so that listing the stock reads one narrow table. The room in each page
  -- lets a new quantity be written beside the old one, without a touch of the index.
  CREATE TABLE stock (
    pet_id   bigint PRIMARY KEY REFERENCES pets (id) ON DELETE CASCADE,
    quantity bigint NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    status   text NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
  ) WITH (fillfactor = 80);
  CREATE INDEX stock_by_status ON stock (status, pet_id);

  -- One row of numbers for both logs: taken while the stock of a pet is locked, they tell the order of what
  -- happened to it.
  CREATE SEQUENCE log_ids;

  -- No foreign key: the history outlives the pet. The transaction that wrote a row tells who has seen it.
  CREATE TABLE history (
    id     bigint NOT NULL DEFAULT nextval('log_ids'),
    pet_id bigint NOT NULL,
    before bigint NOT NULL,
    after  bigint NOT NULL,
    at     bigint NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    status text NOT NULL,
    xid    xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (pet_id, id)
  );
  CREATE INDEX history_by_xid ON history (xid);

  CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$;
  CREATE TRIGGER history_is_not_edited BEFORE UPDATE OR DELETE OR TRUNCATE ON history
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

  -- Changes that leave no history row: entries added, removed, of another status, pets of another name. Without a
  -- pet_id: so many at once that the whole list is to be read again.
  CREATE TABLE stock_changes (
    id       bigint PRIMARY KEY DEFAULT nextval('log_ids'),
    kind     text NOT NULL CHECK (kind IN ('entry', 'removed', 'renamed', 'relist')),
    pet_id   bigint,
    quantity bigint,
    status   text,
    xid      xid8 NOT NULL DEFAULT pg_current_xact_id()
  );
  CREATE INDEX stock_changes_by_xid ON stock_changes (xid);

  CREATE TABLE orders (
    id        bigint PRIMARY KEY,
    pet_id    bigint NOT NULL,
    quantity  bigint NOT NULL,
    ship_date bigint NOT NULL,
    complete  boolean NOT NULL
  );

  -- A key outlives its secrets: rotating gives it a new one, and limits and history go on.
  CREATE TABLE keys (
    number     bigint GENERATED ALWAYS AS IDENTITY,
    id         text COLLATE "C" PRIMARY KEY,
    name       text NOT NULL,
    plan       text NOT NULL,
    per_minute bigint NOT NULL,
    per_day    bigint NOT NULL,
    read_only  boolean NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint
  );

  CREATE TABLE key_secrets (
    hash       text COLLATE "C" PRIMARY KEY,
    key_id     text COLLATE "C" NOT NULL REFERENCES keys (id),
    hint       text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint
  );
  CREATE INDEX key_secrets_by_key ON key_secrets (key_id);

  CREATE TABLE audit (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at     bigint NOT NULL,
    actor  text NOT NULL,
    action text NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    detail text NOT NULL
  );

  -- Written for every request, and read by every instance: half of each page is room for the next version.
  CREATE TABLE limit_windows (
    key_id            text COLLATE "C" PRIMARY KEY,
    minute_started_at bigint NOT NULL,
    minute_used       bigint NOT NULL,
    minute_rejected   bigint NOT NULL,
    day_started_at    bigint NOT NULL,
    day_used          bigint NOT NULL,
    day_rejected      bigint NOT NULL,
    last_used_at      bigint
  ) WITH (fillfactor = 50);

  CREATE TABLE bans (
    key_id    text COLLATE "C" NOT NULL,
    began_at  bigint NOT NULL,
    ends_at   bigint NOT NULL,
    lifted_at bigint,
    PRIMARY KEY (key_id, began_at)
  );

  -- Requests of one key on one day (UTC), for the usage report.
  CREATE TABLE usage_days (
    key_id   text COLLATE "C" NOT NULL,
    day      text COLLATE "C" NOT NULL,
    accepted bigint NOT NULL,
    rejected bigint NOT NULL,
    PRIMARY KEY (key_id, day)
  ) WITH (fillfactor = 50);
`
