/** The tables of the peers on SQLite; dataset.ts fills them. */
export const SCHEMA = `
  CREATE TABLE inventory (
    petId    INTEGER PRIMARY KEY,
    quantity INTEGER NOT NULL,
    status   TEXT NOT NULL,
    reserved INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE orders (
    id        INTEGER PRIMARY KEY,
    state     TEXT NOT NULL,
    createdAt INTEGER NOT NULL,
    keyId     TEXT NOT NULL
  );
  CREATE TABLE order_lines (
    orderId  INTEGER NOT NULL,
    petId    INTEGER NOT NULL,
    quantity INTEGER NOT NULL,
    PRIMARY KEY (orderId, petId)
  ) WITHOUT ROWID;
  CREATE TABLE history (
    id       INTEGER PRIMARY KEY,
    petId    INTEGER NOT NULL,
    quantity INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    keyId    TEXT NOT NULL,
    reason   TEXT
  );
  CREATE INDEX history_by_pet ON history (petId, id);
  CREATE TABLE keys (
    hash      TEXT PRIMARY KEY,
    id        TEXT NOT NULL,
    perMinute INTEGER NOT NULL,
    perDay    INTEGER NOT NULL
  ) WITHOUT ROWID;
`

/**
 * The same on PostgreSQL. Integers have 32 bits, although the API has 64: Bun.SQL returns a bigint as a string, which
 * the peer would have to convert.
 */
export const POSTGRES_SCHEMA = `
  CREATE TABLE inventory (
    pet_id   integer PRIMARY KEY,
    quantity integer NOT NULL,
    status   text NOT NULL,
    reserved integer NOT NULL DEFAULT 0
  );
  CREATE TABLE orders (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    state      text NOT NULL DEFAULT 'open',
    created_at timestamptz NOT NULL DEFAULT now(),
    key_id     text NOT NULL
  );
  CREATE TABLE order_lines (
    order_id bigint NOT NULL,
    pet_id   integer NOT NULL,
    quantity integer NOT NULL,
    PRIMARY KEY (order_id, pet_id)
  );
  CREATE TABLE history (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pet_id   integer NOT NULL,
    quantity integer NOT NULL,
    at       timestamptz NOT NULL DEFAULT now(),
    key_id   text NOT NULL
  );
  CREATE INDEX history_by_pet ON history (pet_id, id);
  CREATE TABLE keys (
    hash       text PRIMARY KEY,
    id         text NOT NULL,
    per_minute integer NOT NULL,
    per_day    integer NOT NULL
  );
`
