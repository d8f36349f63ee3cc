import type { Dialect } from './sql.ts'

/** The fragments of SQL that differ between the databases. */
interface Terms extends Readonly<Dialect['types']> {
  /** The type of a text that is compared bytewise. */
  readonly id: string
  /** A column for the order of insertion, if the database does not keep that order itself. */
  readonly number: string
  readonly serial: string
  /** The end of the definition of an ordinary table. */
  readonly plain: string
  /** The end of the definition of a table that is read by its primary key only. */
  readonly byKey: string
  /** The end of the definition of a table whose rows change often. */
  readonly hot: string
}

/** The tables of the first release that are the same in both databases. */
export const sharedTables = ({ integer, text, boolean, id, number, serial, plain, byKey, hot }: Terms) => `
  -- No foreign key from pets: every change of the catalogue locks it.
  CREATE TABLE categories (
    id           ${integer} PRIMARY KEY,
    name         ${text} NOT NULL,
    low_stock_at ${integer}
  ) ${plain};

  -- stock.reserved is the sum of the open orders. An order is only changed while the stock row of its pet is locked. Ids
  -- start at 1; imports may bring any. No foreign key: a closed order outlives the pet.
  CREATE TABLE orders (
    id         ${integer} PRIMARY KEY,
    pet_id     ${integer} NOT NULL,
    quantity   ${integer} NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    state      ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    expires_at ${integer},
    ship_date  ${integer}
  ) ${plain};
  -- Includes the quantity, so that open orders are summed from the index alone.
  CREATE INDEX orders_by_state ON orders (state, id, quantity);
  CREATE INDEX orders_by_pet ON orders (pet_id, state, id);
  CREATE INDEX orders_held ON orders (pet_id, expires_at) WHERE state = 'open' AND expires_at IS NOT NULL;
  CREATE INDEX orders_by_expiry ON orders (expires_at) WHERE state = 'open' AND expires_at IS NOT NULL;

  -- A key outlives its secrets: rotating replaces the secret and keeps limits and history.
  CREATE TABLE keys (
    ${number}
    id          ${id} PRIMARY KEY,
    name        ${text} NOT NULL,
    plan        ${text} NOT NULL,
    per_minute  ${integer} NOT NULL,
    per_day     ${integer} NOT NULL,
    permissions ${text} NOT NULL,
    created_at  ${integer} NOT NULL,
    expires_at  ${integer},
    revoked_at  ${integer}
  ) ${plain};

  CREATE TABLE key_secrets (
    hash       ${id} PRIMARY KEY,
    key_id     ${id} NOT NULL REFERENCES keys (id),
    hint       ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    expires_at ${integer}
  ) ${byKey};
  CREATE INDEX key_secrets_by_key ON key_secrets (key_id);

  CREATE TABLE audit (
    id     ${serial},
    at     ${integer} NOT NULL,
    actor  ${text} NOT NULL,
    action ${text} NOT NULL,
    key_id ${id} NOT NULL,
    detail ${text} NOT NULL
  ) ${plain};

  -- last_used_at is NULL in a row that exists only to be locked.
  CREATE TABLE limit_windows (
    key_id            ${id} PRIMARY KEY,
    minute_started_at ${integer} NOT NULL,
    minute_used       ${integer} NOT NULL,
    minute_rejected   ${integer} NOT NULL,
    day_started_at    ${integer} NOT NULL,
    day_used          ${integer} NOT NULL,
    day_rejected      ${integer} NOT NULL,
    last_used_at      ${integer}
  ) ${hot};

  -- Numbered, because their times move when the clock is set back.
  CREATE TABLE bans (
    key_id    ${id} NOT NULL,
    number    ${integer} NOT NULL,
    began_at  ${integer} NOT NULL,
    ends_at   ${integer} NOT NULL,
    lifted_at ${integer},
    PRIMARY KEY (key_id, number)
  ) ${byKey};

  -- The requests of a key on a day (UTC), for the usage report.
  CREATE TABLE usage_days (
    key_id   ${id} NOT NULL,
    day      ${id} NOT NULL,
    accepted ${integer} NOT NULL,
    rejected ${integer} NOT NULL,
    PRIMARY KEY (key_id, day)
  ) ${hot};

  -- The answers to requests with an Idempotency-Key, written in the commit of the change.
  CREATE TABLE idempotency (
    key_id      ${id} NOT NULL,
    key         ${id} NOT NULL,
    fingerprint ${text} NOT NULL,
    answer      ${text} NOT NULL,
    at          ${integer} NOT NULL,
    PRIMARY KEY (key_id, key)
  ) ${hot};
  CREATE INDEX idempotency_by_age ON idempotency (at);

  -- The cursor is the last delivered event, and the lease names the process that delivers. The secret is stored readable
  -- because deliveries are signed with it. The revision changes with every edit and with every new lease owner.
  CREATE TABLE webhooks (
    id               ${integer} PRIMARY KEY,
    url              ${text} NOT NULL,
    kinds            ${text} NOT NULL,
    paused           ${boolean} NOT NULL,
    created_at       ${integer} NOT NULL,
    secret           ${text} NOT NULL,
    old_secret       ${text},
    old_secret_until ${integer},
    cursor           ${text} NOT NULL,
    relist_at        ${integer},
    failing_since    ${integer},
    failed_attempts  ${integer},
    retry_at         ${integer},
    off_at           ${integer},
    off_reason       ${text},
    revision         ${integer} NOT NULL,
    lease_owner      ${text} NOT NULL DEFAULT '',
    lease_until      ${integer} NOT NULL DEFAULT 0
  ) ${hot};

  -- The latest attempts of each webhook.
  CREATE TABLE webhook_attempts (
    id           ${serial},
    webhook_id   ${integer} NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    message_id   ${text} NOT NULL,
    type         ${text} NOT NULL,
    at           ${integer} NOT NULL,
    duration_ms  ${integer} NOT NULL,
    attempt      ${integer} NOT NULL,
    is_delivered ${boolean} NOT NULL,
    status       ${integer},
    error        ${text},
    response     ${text} NOT NULL
  ) ${plain};
  CREATE INDEX webhook_attempts_by_webhook ON webhook_attempts (webhook_id, id);
`
