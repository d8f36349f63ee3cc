import type { Dialect } from './sql.ts'

/** What the tables below are made of in each database. */
interface Words extends Readonly<Dialect['types']> {
  /** The type of a text that is compared byte by byte. */
  readonly id: string
  /** A column that tells in which order the rows were added, where the database does not keep that by itself. */
  readonly number: string
  readonly serial: string
  /** End a table: any, one that is found by its key alone, and one whose rows change with every request. */
  readonly plain: string
  readonly byKey: string
  readonly hot: string
}

/** Those tables of the first release that both databases have alike. */
export const sharedTables = ({ integer, text, boolean, id, number, serial, plain, byKey, hot }: Words) => `
  -- Those of pets, without a foreign key: who changes the catalogue has locked it.
  CREATE TABLE categories (
    id           ${integer} PRIMARY KEY,
    name         ${text} NOT NULL,
    low_stock_at ${integer}
  ) ${plain};

  -- What is open is counted in stock.reserved, and only who has locked that row changes an order of its pet. Ids run
  -- from 1 on; those of imports may be any. No foreign key: an order that is closed outlives the pet.
  CREATE TABLE orders (
    id         ${integer} PRIMARY KEY,
    pet_id     ${integer} NOT NULL,
    quantity   ${integer} NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    state      ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    expires_at ${integer},
    ship_date  ${integer}
  ) ${plain};
  -- With the quantity, so that what is open is added up without a look at the orders.
  CREATE INDEX orders_by_state ON orders (state, id, quantity);
  CREATE INDEX orders_by_pet ON orders (pet_id, state, id);
  CREATE INDEX orders_held ON orders (pet_id, expires_at) WHERE state = 'open' AND expires_at IS NOT NULL;
  CREATE INDEX orders_by_expiry ON orders (expires_at) WHERE state = 'open' AND expires_at IS NOT NULL;

  -- A key outlives its secrets: rotating gives it a new one, and limits and history go on.
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

  -- Last used never: a row that is there only to be locked.
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

  -- Numbered, since a clock that is set back moves their times.
  CREATE TABLE bans (
    key_id    ${id} NOT NULL,
    number    ${integer} NOT NULL,
    began_at  ${integer} NOT NULL,
    ends_at   ${integer} NOT NULL,
    lifted_at ${integer},
    PRIMARY KEY (key_id, number)
  ) ${byKey};

  -- Requests of one key on one day (UTC), for the usage report.
  CREATE TABLE usage_days (
    key_id   ${id} NOT NULL,
    day      ${id} NOT NULL,
    accepted ${integer} NOT NULL,
    rejected ${integer} NOT NULL,
    PRIMARY KEY (key_id, day)
  ) ${hot};

  -- What requests with an Idempotency-Key were answered with, remembered in the commit that decided them.
  CREATE TABLE idempotency (
    key_id      ${id} NOT NULL,
    key         ${id} NOT NULL,
    fingerprint ${text} NOT NULL,
    answer      ${text} NOT NULL,
    at          ${integer} NOT NULL,
    PRIMARY KEY (key_id, key)
  ) ${hot};
  CREATE INDEX idempotency_by_age ON idempotency (at);

  -- Who is told of what happens, how far they have been told, and which process tells them. The secret has to be readable:
  -- it is what deliveries are signed with. Another revision with every change, and whenever another process takes it on.
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

  -- The latest of each webhook.
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
