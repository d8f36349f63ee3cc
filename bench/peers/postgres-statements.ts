/**
 * The tables of the peers on PostgreSQL; the harness fills them. Whole numbers of 32 bits, though the contract
 * has 64: Bun.SQL gives a bigint as a string, and the peer would spend its time on turning that into digits.
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
    pet_id     integer NOT NULL,
    quantity   integer NOT NULL,
    state      text NOT NULL DEFAULT 'open',
    created_at timestamptz NOT NULL DEFAULT now(),
    key_id     text NOT NULL
  );
  CREATE TABLE history (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pet_id   integer NOT NULL,
    quantity integer NOT NULL,
    at       timestamptz NOT NULL DEFAULT now(),
    key_id   text NOT NULL
  );
  CREATE TABLE keys (
    hash       text PRIMARY KEY,
    id         text NOT NULL,
    per_minute integer NOT NULL,
    per_day    integer NOT NULL
  );
`
