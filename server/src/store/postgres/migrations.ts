import {
  areEarlyTables,
  CONVERTED_PET_COLUMNS,
  convertPet,
  DROP_SAVED_ROWS,
  type EarlyPet,
  insertEarlyRows,
  SAVE_EARLY_ROWS,
} from '../early-tables.ts'
import { DROP_LOW_STOCK_INDEX, UNAPPLIED_THRESHOLDS_INDEX } from '../low-stock.ts'
import { needsMigration, OpenRefused, requireOwnTables, type TablesMode } from '../opening.ts'
import { inLongSession, type LongSession, type RowSource, type SqlDatabase } from '../sql.ts'
import { DIALECT } from './dialect.ts'
import { NewerTablesError } from './failures.ts'
import {
  FAILOVER_TABLES,
  FIRST_TABLES,
  FIX_LOG_NUMBERING,
  FIX_PRUNING_AFTER_RESTORE,
  NUMBER_CATEGORIES,
} from './tables.ts'

interface Migration {
  readonly number: number
  readonly sql: string
  /**
   * The oldest program that can use the migrated tables. A program is identified by the newest version of the tables that it
   * knows. Instances are replaced one by one, so a migration only adds tables and columns. A later migration removes the
   * parts that only old instances need. See docs/upgrading.md.
   */
  readonly oldestProgram: number
}

/** The program decides which states an order can have: see core/orders/order.ts. */
const DROP_ORDER_STATE_CHECK = `
  SET LOCAL lock_timeout = '3s';
  ALTER TABLE orders DROP CONSTRAINT IF EXISTS orders_state_check`

/** The indexes serve lists of a customer's orders. They hold only orders with a customer, so other orders cost nothing more. */
const ADD_ORDER_CUSTOMER = `
  SET LOCAL lock_timeout = '3s';
  ALTER TABLE orders ADD COLUMN closed_at bigint, ADD COLUMN customer text, ADD COLUMN note text,
    ADD COLUMN customer_words text COLLATE "C";
  CREATE INDEX orders_by_customer ON orders (state, customer_words, id) WHERE customer_words IS NOT NULL;
  CREATE INDEX orders_by_pet_and_customer ON orders (pet_id, state, customer_words, id) WHERE customer_words IS NOT NULL`
/** The columns hold ids of keys; NULL for orders that are older than these columns. */
const ADD_ORDER_AUTHORS = `
  SET LOCAL lock_timeout = '3s';
  ALTER TABLE orders ADD COLUMN created_by text, ADD COLUMN closed_by text`
/** See core/keys/pairing.ts. A key has at most one pairing code. */
const ADD_PAUSED_KEYS_AND_PAIRING_CODES = `
  SET LOCAL lock_timeout = '3s';
  ALTER TABLE keys ADD COLUMN paused_at bigint;
  CREATE TABLE pairing_codes (
    key_id     text COLLATE "C" PRIMARY KEY REFERENCES keys (id),
    hash       text COLLATE "C" NOT NULL UNIQUE,
    expires_at bigint NOT NULL,
    created_by text NOT NULL
  )`

/** Searches use an index in memory (core/catalog/pet-index.ts), so no query uses these indexes. */
const DROP_UNUSED_INDEXES = `
  SET LOCAL lock_timeout = '3s';
  ${DROP_LOW_STOCK_INDEX};
  DROP INDEX IF EXISTS pet_words`
/** See steady-clock.ts. Each machine has a row for each of its starts. */
const ADD_CLOCKS = `
  CREATE TABLE clocks (
    boot_id   text PRIMARY KEY,
    offset_ms bigint NOT NULL
  )`

/** `held` is JSON: the pets whose events wait. `is_parked` is NULL unless the event is not tried again. */
const ADD_HELD_PETS = `
  SET LOCAL lock_timeout = '3s';
  ALTER TABLE webhooks ADD COLUMN held text;
  ALTER TABLE webhook_attempts ADD COLUMN is_parked boolean`

/** See core/catalog/threshold-changes.ts. */
const ADD_THRESHOLD_CHANGES = `
  SET LOCAL lock_timeout = '3s';
  ALTER TABLE categories ADD COLUMN threshold_change text;
  ${UNAPPLIED_THRESHOLDS_INDEX}`

const FIRST_VERSION = 1

/** New migrations are appended. A migration that has been released is never edited. */
const MIGRATIONS: readonly Migration[] = [
  { number: FIRST_VERSION, sql: FIRST_TABLES, oldestProgram: 1 },
  { number: 2, sql: FAILOVER_TABLES, oldestProgram: 1 },
  // The id of the key that created the webhook; NULL for webhooks that are older than this column.
  { number: 3, sql: 'ALTER TABLE webhooks ADD COLUMN created_by text', oldestProgram: 1 },
  { number: 4, sql: DROP_ORDER_STATE_CHECK, oldestProgram: 1 },
  { number: 5, sql: ADD_ORDER_CUSTOMER, oldestProgram: 1 },
  { number: 6, sql: ADD_PAUSED_KEYS_AND_PAIRING_CODES, oldestProgram: 1 },
  { number: 7, sql: ADD_ORDER_AUTHORS, oldestProgram: 1 },
  { number: 8, sql: FIX_LOG_NUMBERING, oldestProgram: 1 },
  { number: 9, sql: FIX_PRUNING_AFTER_RESTORE, oldestProgram: 1 },
  { number: 10, sql: DROP_UNUSED_INDEXES, oldestProgram: 1 },
  { number: 11, sql: ADD_CLOCKS, oldestProgram: 1 },
  { number: 12, sql: ADD_HELD_PETS, oldestProgram: 1 },
  { number: 13, sql: NUMBER_CATEGORIES, oldestProgram: 1 },
  { number: 14, sql: ADD_THRESHOLD_CHANGES, oldestProgram: 1 },
]

const NEWEST_VERSION = MIGRATIONS.at(-1)?.number ?? 0

/** An advisory lock. The number is arbitrary: the ASCII codes of "petstore". */
const MIGRATION_LOCK = 0x70657473746f7265n

/** The version of the tables, and the oldest program that can use them. */
interface Version {
  readonly number: number
  readonly oldestProgram: number
}

/** Reads `oldest_program` through JSON, because databases of the first release do not have this column. */
const VERSION = `
  SELECT number, coalesce(CAST(to_jsonb(migrations) ->> 'oldest_program' AS integer), number) AS "oldestProgram"
  FROM migrations ORDER BY number DESC LIMIT 1`

/**
 * Migrates the database to the newest version. Throws OpenRefused if the tables have to change but `mode` forbids it. If
 * several processes start at once, one of them migrates and the others wait. Newer tables that this program can use are not
 * changed.
 */
export async function migrate(database: SqlDatabase, mode: TablesMode): Promise<void> {
  /** Throws if the tables have to change but `mode` forbids it. */
  const isUpToDate = (version: Version | undefined) => {
    const isNewerButUsable =
      version !== undefined && version.number > NEWEST_VERSION && version.oldestProgram <= NEWEST_VERSION
    return isNewerButUsable || !needsMigration(version?.number, NEWEST_VERSION, mode)
  }
  const tables = await findTables(database)
  const isEarly = tables !== undefined && areEarlyTables(tables.number, tables.columns)
  if (tables !== undefined && tables.number > 0 && !isEarly) {
    const present = new Set(tables.columns)
    const missing = expectedColumns(tables.number).filter((name) => !present.has(name))
    requireOwnTables(tables.number, NEWEST_VERSION, missing)
  }
  if (isUpToDate(tables)) return
  await inLongSession(database, (session) =>
    session.writeInTransaction(async () => {
      await session.rows('SELECT pg_advisory_xact_lock($1)', MIGRATION_LOCK)
      await session.run(`
        CREATE TABLE IF NOT EXISTS migrations (
          number         integer PRIMARY KEY,
          applied_at     timestamptz NOT NULL DEFAULT now(),
          oldest_program integer
        );
        ALTER TABLE migrations ADD COLUMN IF NOT EXISTS oldest_program integer`)
      const version = await versionOf(session)
      // Version 0 means that no migration was applied yet, so it counts as no tables. Tables of another program were refused
      // above, except in the mode `migrate`.
      if (isUpToDate(version.number === 0 ? undefined : version)) return
      if (isEarly) await saveRowsAndDropEarlyTables(session)
      const appliedVersion = isEarly ? 0 : version.number
      for (const { number, sql, oldestProgram } of MIGRATIONS) {
        if (number <= appliedVersion) continue
        await session.run(sql)
        if (isEarly && number === FIRST_VERSION) await convertEarlyRows(session)
        await session.run(
          'INSERT INTO migrations (number, oldest_program) VALUES ($1, $2)',
          number,
          oldestProgram,
        )
      }
      if (isEarly) for (const text of DIALECT.newIdentity) await session.run(text)
    }),
  )
}

/** Instances of the development version before 1.0 have to be stopped: the conversion fails if one of them uses the tables. */
const DROP_EARLY_TABLES = `
  SET LOCAL lock_timeout = '3s';
  DROP VIEW log_end, stock, late_changes;
  DROP TABLE settled_stock, settled, history, stock_changes, orders, pets, key_secrets, keys, audit, limit_windows, bans,
    usage_days, log_head;
  DROP FUNCTION take_log_ids(bigint), store_time(bigint), day_of(bigint), refuse_change();
  DELETE FROM migrations`

const PETS_PER_BATCH = 5_000

async function saveRowsAndDropEarlyTables(session: LongSession): Promise<void> {
  await session.run(SAVE_EARLY_ROWS)
  await session.run(DROP_EARLY_TABLES)
}

/** Fills the tables of the first migration. */
async function convertEarlyRows(session: LongSession): Promise<void> {
  await session.run('CREATE INDEX early_pets_by_id ON early_pets (id)')
  let lastId: bigint | null = null
  for (;;) {
    const pets: EarlyPet[] = await session.rows<EarlyPet>(
      `SELECT * FROM early_pets WHERE CAST($1 AS bigint) IS NULL OR id > $1 ORDER BY id LIMIT ${PETS_PER_BATCH}`,
      lastId,
    )
    if (pets.length > 0) await session.insert('pets', CONVERTED_PET_COLUMNS, pets.map(convertPet))
    lastId = pets.at(-1)?.id ?? null
    if (pets.length < PETS_PER_BATCH) break
  }
  await session.run(insertEarlyRows(DIALECT, 'CAST(floor(extract(epoch FROM now()) * 1000) AS bigint)'))
  await session.run(DROP_SAVED_ROWS)
}

/** The error to report if a newer program has migrated the tables to a version that this program cannot use. */
export async function findNewerTablesError(database: RowSource): Promise<NewerTablesError | undefined> {
  const { number, oldestProgram } = await versionOf(database)
  if (number <= NEWEST_VERSION || oldestProgram <= NEWEST_VERSION) return undefined
  return new NewerTablesError(
    `the tables have version ${number}, this program supports ${NEWEST_VERSION}; start the newer program`,
  )
}

/** The columns that the migrations up to `version` create. */
export function expectedColumns(version: number): string[] {
  return MIGRATIONS.filter(({ number }) => number <= version).flatMap(({ sql }) => addedColumns(sql))
}

/** The version of the tables, and their columns, such as `stock.quantity`. */
interface FoundTables extends Version {
  readonly columns: readonly string[]
}

/**
 * Returns `undefined` if there are no tables, and version 0 if there are tables, but no migration was applied to them. Must not
 * be called in the transaction that holds the migration lock: another process may have created a table in the meantime, and the
 * connection may have cached that the table does not exist.
 */
async function findTables(database: RowSource): Promise<FoundTables | undefined> {
  const [found] = await database.rows<{ hasMigrations: boolean; isOurs: boolean; isEmpty: boolean }>(`
    SELECT to_regclass('migrations') IS NOT NULL AS "hasMigrations",
      EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = to_regclass('migrations') AND attname = 'number' AND atttypid = 'integer'::regtype
      ) AS "isOurs",
      NOT EXISTS (
        SELECT FROM pg_class WHERE relnamespace = to_regnamespace(current_schema()) AND relkind IN ('r', 'p')
      ) AS "isEmpty"`)
  if (found?.isOurs) return readTables(database)
  if (found?.hasMigrations) {
    throw new OpenRefused(
      'the database belongs to another program, which has its own table "migrations": choose another database or schema',
    )
  }
  return found?.isEmpty ? undefined : { number: 0, oldestProgram: 0, columns: [] }
}

/** Uses one statement, so that the version and the columns come from one snapshot. */
async function readTables(database: RowSource): Promise<FoundTables> {
  const [row] = await database.rows<{ columns: string } & Version>(`
    SELECT version.*, (
        SELECT coalesce(string_agg(concat(relname, '.', attname), ' '), '')
        FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
        WHERE relkind IN ('r', 'p') AND relnamespace <> 'pg_catalog'::regnamespace
          AND pg_table_is_visible(pg_class.oid) AND attnum > 0 AND NOT attisdropped
      ) AS columns
    FROM (${VERSION}) AS version`)
  return row === undefined
    ? { number: 0, oldestProgram: 0, columns: [] }
    : { ...row, columns: row.columns.split(' ') }
}

async function versionOf(database: RowSource): Promise<Version> {
  const [row] = await database.rows<Version>(VERSION)
  return row ?? { number: 0, oldestProgram: 0 }
}

/**
 * The columns that a migration adds, such as `stock.quantity`. Parses CREATE TABLE with one column per line, and ALTER TABLE
 * with ADD COLUMN. A test compares the result with the columns that PostgreSQL creates.
 */
function addedColumns(sql: string): string[] {
  const created = [...sql.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+) \(\n(.*?)\n {2}\)/gs)].flatMap(
    ([, table, body = '']) =>
      [...body.matchAll(/^ {4}([a-z]\w*) /gm)].map(([, column]) => `${table}.${column}`),
  )
  const altered = [...sql.matchAll(/ALTER TABLE (\w+)([^;]*)/g)].flatMap(([, table, changes = '']) =>
    [...changes.matchAll(/ADD COLUMN (\w+)/g)].map(([, column]) => `${table}.${column}`),
  )
  return [...created, ...altered]
}
