import { ANSWERS_KEPT_MS } from '../core/stock/decide.ts'
import { IS_FACT, LOG_INDEXES } from './log-rows.ts'
import type { Dialect } from './sql.ts'

/** The parts of table definitions that differ between the databases. */
export interface TableTerms extends Readonly<Dialect['types']> {
  /** The type of a text that is compared byte by byte. */
  readonly bytewiseText: string
  /** The definition of a column for the order of insertion, if the database does not keep this order itself. */
  readonly insertionOrder: string
  /** The type of a primary key for which the database generates ascending numbers. */
  readonly serial: string
  readonly plainTable: string
  /** The options of a table whose rows are mostly found by their primary key. */
  readonly keyedTable: string
  /** The options of a table whose rows change often. */
  readonly hotTable: string
  /** A column as JSON, and the functions that build JSON. */
  readonly json: { readonly of: (text: string) => string; readonly object: string; readonly array: string }
}

/** Few categories have an unapplied threshold. */
const UNAPPLIED_THRESHOLDS_INDEX =
  'CREATE INDEX unapplied_thresholds ON categories (id) WHERE threshold_change IS NOT NULL'

/** Finds the answers that need not be remembered any more. */
const ANSWERS_INDEX = 'CREATE INDEX idempotency_by_age ON idempotency (forget_at)'

/** Serves pages of the audit log of one key. */
const AUDIT_INDEX = 'CREATE INDEX audit_by_key ON audit (key_id, id)'

/** See steady-clock.ts. On PostgreSQL, each machine has a row for each of its starts. */
const clocksTable = ({ integer, text, plainTable }: TableTerms) => `
  CREATE TABLE clocks (
    boot_id   ${text} PRIMARY KEY,
    offset_ms ${integer} NOT NULL
  ) ${plainTable};
`

const catalogTables = ({ integer, text, plainTable }: TableTerms) => `
  -- pets.category_id is not a foreign key. Instead, a commit locks the catalogue before it changes pets or categories.
  CREATE TABLE categories (
    id           ${integer} PRIMARY KEY,
    name         ${text} NOT NULL,
    low_stock_at ${integer},
    -- The id of a new threshold that some pets may lack: see core/catalog/threshold-changes.ts.
    threshold_change ${text}
  ) ${plainTable};
  ${UNAPPLIED_THRESHOLDS_INDEX};
`

/**
 * Indexes of orders: by state, reference and customer for lists, by the end of a hold, and of those with personal data. Indexes by
 * state and by pet are partial, although they have all rows: so PostgreSQL cannot scan them to find an order by its id. It would,
 * until the statistics of a new table are current.
 */
const ORDER_INDEXES = `
  CREATE INDEX orders_by_state ON orders (state, id, created_at) WHERE state IS NOT NULL;
  CREATE INDEX orders_by_reference ON orders (reference, state, id) WHERE reference IS NOT NULL;
  CREATE INDEX orders_by_customer ON orders (state, customer_words, id) WHERE customer_words IS NOT NULL;
  CREATE INDEX orders_by_hold ON orders (hold_until) WHERE hold_until IS NOT NULL;
  CREATE INDEX orders_with_persons ON orders (closed_at)
    WHERE closed_at IS NOT NULL AND (customer IS NOT NULL OR note IS NOT NULL);`

const orderLinesTable = ({ integer, text, keyedTable }: TableTerms) => `
  -- state and hold_until are those of the order. pet_id is not a foreign key, because a closed order outlives its pets.
  CREATE TABLE order_lines (
    order_id   ${integer} NOT NULL,
    pet_id     ${integer} NOT NULL,
    quantity   ${integer} NOT NULL CHECK (quantity BETWEEN 0 AND 9007199254740991),
    state      ${text} NOT NULL,
    hold_until ${integer},
    PRIMARY KEY (order_id, pet_id)
  ) ${keyedTable};
  CREATE INDEX order_lines_by_pet ON order_lines (pet_id, state, order_id) WHERE pet_id IS NOT NULL;
  CREATE INDEX order_lines_held ON order_lines (pet_id, hold_until) WHERE hold_until IS NOT NULL;
`

const orderTables = (terms: TableTerms) => {
  const { integer, text, bytewiseText, plainTable } = terms
  return `
  -- stock.reserved is the sum of the pet's lines in orders that reserve their units. An order changes only while the stock rows
  -- of all its pets are locked. Generated ids start at 1, but an import may use any id. Personal data is in the columns customer,
  -- customer_words and note, and in no other table.
  CREATE TABLE orders (
    id         ${integer} PRIMARY KEY,
    state      ${text} NOT NULL,
    -- The end of the hold, if the order reserves its units until then.
    hold_until ${integer},
    reference  ${bytewiseText},
    customer   ${text},
    note       ${text},
    customer_words ${bytewiseText},
    metadata   ${text},
    ship_date  ${integer},
    created_at ${integer} NOT NULL,
    expires_at ${integer},
    closed_at  ${integer},
    -- The ids of keys.
    created_by ${text},
    closed_by  ${text},
    adjustment_id ${integer}
  ) ${plainTable};
  ${ORDER_INDEXES}
  ${orderLinesTable(terms)}`
}

const keyTables = ({
  integer,
  text,
  bytewiseText,
  insertionOrder,
  serial,
  plainTable,
  keyedTable,
}: TableTerms) => `
  -- A key outlives its secrets: rotating a key replaces its secret and keeps its limits and history.
  CREATE TABLE keys (
    ${insertionOrder}
    id          ${bytewiseText} PRIMARY KEY,
    name        ${text} NOT NULL,
    plan        ${text} NOT NULL,
    per_minute  ${integer} NOT NULL,
    per_day     ${integer} NOT NULL,
    permissions ${text} NOT NULL,
    created_at  ${integer} NOT NULL,
    expires_at  ${integer},
    revoked_at  ${integer},
    paused_at   ${integer}
  ) ${plainTable};

  CREATE TABLE key_secrets (
    hash       ${bytewiseText} PRIMARY KEY,
    key_id     ${bytewiseText} NOT NULL REFERENCES keys (id),
    hint       ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    expires_at ${integer}
  ) ${keyedTable};
  CREATE INDEX key_secrets_by_key ON key_secrets (key_id);

  -- See core/keys/pairing.ts. A key has at most one pairing code.
  CREATE TABLE pairing_codes (
    key_id     ${bytewiseText} PRIMARY KEY REFERENCES keys (id),
    hash       ${bytewiseText} NOT NULL UNIQUE,
    expires_at ${integer} NOT NULL,
    created_by ${text} NOT NULL
  ) ${plainTable};

  CREATE TABLE audit (
    id     ${serial},
    at     ${integer} NOT NULL,
    actor  ${text} NOT NULL,
    action ${text} NOT NULL,
    key_id ${bytewiseText} NOT NULL,
    detail ${text} NOT NULL
  ) ${plainTable};
  ${AUDIT_INDEX};
`

const limitTables = ({ integer, text, bytewiseText, hotTable }: TableTerms) => `
  -- last_used_at is NULL in a row that exists only to be locked. The ban is the latest one, which may have ended.
  CREATE TABLE limit_windows (
    key_id            ${bytewiseText} PRIMARY KEY,
    minute_started_at ${integer} NOT NULL,
    minute_used       ${integer} NOT NULL,
    minute_rejected   ${integer} NOT NULL,
    minute_first_rejected_at ${integer},
    day_started_at    ${integer} NOT NULL,
    day_used          ${integer} NOT NULL,
    day_rejected      ${integer} NOT NULL,
    day_first_rejected_at ${integer},
    last_used_at      ${integer},
    ban_began_at      ${integer},
    ban_ends_at       ${integer}
  ) ${hotTable};

  -- The answers to requests with an Idempotency-Key, written in the commit of the change.
  CREATE TABLE idempotency (
    key_id      ${bytewiseText} NOT NULL,
    key         ${bytewiseText} NOT NULL,
    fingerprint ${text} NOT NULL,
    answer      ${text} NOT NULL,
    forget_at   ${integer} NOT NULL,
    PRIMARY KEY (key_id, key)
  ) ${hotTable};
  ${ANSWERS_INDEX};
`

const webhookTables = ({ integer, text, boolean, serial, plainTable, hotTable }: TableTerms) => `
  -- cursor is the last delivered event. lease_owner is the process that delivers. The secret is not hashed, because deliveries
  -- are signed with it. revision changes with every edit and with every new owner of the lease. created_by is the id of a key,
  -- and NULL for the oldest webhooks. held is JSON: the pets whose events wait.
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
    lease_until      ${integer} NOT NULL DEFAULT 0,
    created_by       ${text},
    held             ${text}
  ) ${hotTable};

  -- The latest attempts of each webhook. is_parked is NULL unless the event is not tried again.
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
    response     ${text} NOT NULL,
    is_parked    ${boolean}
  ) ${plainTable};
  CREATE INDEX webhook_attempts_by_webhook ON webhook_attempts (webhook_id, id);
`

/** The tables that are the same in both databases. */
export const sharedTables = (terms: TableTerms) =>
  [catalogTables, orderTables, keyTables, limitTables, webhookTables, clocksTable]
    .map((tables) => tables(terms))
    .join('')

/** Changes the shared tables of 1.1.0 to those of `sharedTables`. */
export const sharedUpgrade = (terms: TableTerms) => `
  ${clocksTable(terms)}
  ALTER TABLE webhooks ADD COLUMN held ${terms.text};
  ALTER TABLE webhook_attempts ADD COLUMN is_parked ${terms.boolean};
  ALTER TABLE categories ADD COLUMN threshold_change ${terms.text};
  ${UNAPPLIED_THRESHOLDS_INDEX};
  ${AUDIT_INDEX};
  DROP INDEX IF EXISTS stock_low;
  ALTER TABLE limit_windows ADD COLUMN minute_first_rejected_at ${terms.integer};
  ALTER TABLE limit_windows ADD COLUMN day_first_rejected_at ${terms.integer};
  ALTER TABLE limit_windows ADD COLUMN ban_began_at ${terms.integer};
  ALTER TABLE limit_windows ADD COLUMN ban_ends_at ${terms.integer};
  UPDATE limit_windows SET ban_began_at = bans.began_at, ban_ends_at = bans.ends_at
  FROM bans
  WHERE bans.key_id = limit_windows.key_id AND lifted_at IS NULL
    AND number = (SELECT max(number) FROM bans AS key_bans WHERE key_bans.key_id = limit_windows.key_id);
  DROP TABLE bans;
  DROP TABLE usage_days;
  ALTER TABLE stock DROP COLUMN last_change;
  ALTER TABLE stock DROP COLUMN is_low;
  ALTER TABLE log DROP COLUMN previous;
  DROP INDEX log_of_entries;
  DROP INDEX pets_by_words;
  DROP INDEX idempotency_by_age;
  ALTER TABLE idempotency RENAME COLUMN at TO forget_at;
  UPDATE idempotency SET forget_at = forget_at + ${ANSWERS_KEPT_MS};
  ${ANSWERS_INDEX};
  ${factsUpgrade(terms)}
  ${ordersUpgrade(terms)}
`

const SALE_REFERENCE = 'order '
const COMPLETED_DETAIL = '{"change":"completed","id":"'

/** Finds the sales of orders. Callers may have used such a reference, but only a sale of an order precedes the row of its order. */
const orderSalesUpgrade = (integer: string) => `
  UPDATE log SET order_id = CAST(substr(reference, ${SALE_REFERENCE.length + 1}) AS ${integer})
  FROM (SELECT id, detail FROM log WHERE kind = 'order') AS next
  WHERE next.id = log.id + 1 AND kind = 'change' AND reason = 'sold' AND reference LIKE '${SALE_REFERENCE}%'
    AND substr(next.detail, 1, length(reference) + ${COMPLETED_DETAIL.length - SALE_REFERENCE.length + 1})
      = '${COMPLETED_DETAIL}' || substr(reference, ${SALE_REFERENCE.length + 1}) || '"';
`

/**
 * Makes each earlier change of a quantity an adjustment of its own. Without a reason, and with the reason `counted`, it is a
 * count; otherwise a movement. The log must be editable.
 */
const factsUpgrade = ({ integer, text }: TableTerms) => `
  ${['document', 'occurred_at', 'delta', 'counted', 'reserved', 'order_id', 'reverses']
    .map((column) => `ALTER TABLE log ADD COLUMN ${column} ${integer};`)
    .join('\n  ')}
  ALTER TABLE log ADD COLUMN effect ${text};
  ALTER TABLE pets ADD COLUMN metadata ${text};
  UPDATE log SET document = id,
    counted = CASE WHEN reason IS NULL OR reason = 'counted' THEN after END,
    delta = CASE WHEN reason <> 'counted' THEN after - before END
  WHERE kind = 'change';
  UPDATE log SET document = id, before = 0, counted = after
  WHERE kind = 'pet' AND detail LIKE '{"change":"created"%';
  UPDATE log SET document = id, counted = 0 WHERE kind = 'removed';
  ${orderSalesUpgrade(integer)}
  ALTER TABLE stock ADD COLUMN counted_at ${integer};
  ALTER TABLE stock ADD COLUMN moved_at ${integer};
  ${LOG_INDEXES}
  UPDATE stock SET
    counted_at = (SELECT max(at) FROM log WHERE log.pet_id = stock.pet_id AND counted IS NOT NULL),
    moved_at = (SELECT max(at) FROM log WHERE log.pet_id = stock.pet_id AND delta IS NOT NULL);
`

/**
 * Makes each earlier order an order with one line. Removes personal data from the log, from remembered answers and from attempts
 * of webhooks. The log must be editable.
 */
const ordersUpgrade = (terms: TableTerms) => {
  const { integer, text, bytewiseText, json } = terms
  const body = json.of(`(${json.of('answer')} ->> 'body')`)
  const detail = (name: string) => `(${json.of('detail')} ->> '${name}')`
  return `
  ${orderLinesTable(terms)}
  ALTER TABLE orders ADD COLUMN hold_until ${integer};
  ALTER TABLE orders ADD COLUMN reference ${bytewiseText};
  ALTER TABLE orders ADD COLUMN metadata ${text};
  ALTER TABLE orders ADD COLUMN adjustment_id ${integer};
  UPDATE orders SET hold_until = expires_at WHERE state = 'open' AND expires_at IS NOT NULL;
  UPDATE orders SET adjustment_id = (SELECT min(document) FROM log WHERE log.order_id = orders.id AND ${IS_FACT})
  WHERE state = 'complete';
  INSERT INTO order_lines (order_id, pet_id, quantity, state, hold_until)
    SELECT id, pet_id, quantity, state, hold_until FROM orders;
  ${['by_state', 'by_pet', 'held', 'by_expiry', 'by_customer', 'by_pet_and_customer']
    .map((name) => `DROP INDEX orders_${name};`)
    .join('\n  ')}
  ALTER TABLE orders DROP COLUMN pet_id;
  ALTER TABLE orders DROP COLUMN quantity;
  ${ORDER_INDEXES}
  UPDATE log SET order_id = CAST(${detail('id')} AS ${integer}), after = NULL, detail = CAST(${json.object}(
      'change', ${detail('change')}, 'state', ${detail('state')}, 'lines', ${json.array}(${json.object}(
        'petId', ${detail('petId')}, 'quantity', CAST(${detail('quantity')} AS ${integer})))
    ) AS ${text})
  WHERE kind = 'order' AND detail IS NOT NULL;
  DELETE FROM idempotency WHERE replace(answer, '"body":"{\\"orders\\":', '') <> answer;
  UPDATE idempotency SET answer = CAST(${json.object}(
      'status', CAST(${json.of('answer')} ->> 'status' AS ${integer}), 'headers', ${json.of('answer')} -> 'headers',
      'orderId', CAST(${body} ->> 'id' AS ${text})
    ) AS ${text})
  WHERE replace(answer, '"body":"{\\"id\\":', '') <> answer AND replace(answer, '\\"complete\\":', '') <> answer;
  UPDATE webhook_attempts SET response = '' WHERE type LIKE 'order.%';
`
}
