import { needsMigration, OpenRefused, requireOwnTables, type TablesMode } from '../opening.ts'
import { inLongSession, type SqlDatabase } from '../sql.ts'
import type { Connection } from './connection.ts'
import { FAILOVER_TABLES } from './failover-tables.ts'
import { NewerTables } from './failures.ts'
import { addedColumns } from './own-columns.ts'
import { FIRST_TABLES } from './tables.ts'

interface Migration {
  readonly number: number
  readonly sql: string
  /**
   * Instances are replaced one after the other, so those of the version before go on beside the new tables: a migration adds.
   * What they still need is taken away by one of a later version, which says here from which tables on a program can work
   * beside it: docs/upgrading.md.
   */
  readonly oldestProgram: number
}

/** The program decides which states an order can have: see core/orders/order.ts. */
const DROP_ORDER_STATE_CHECK = `
  SET LOCAL lock_timeout = '3s';
  ALTER TABLE orders DROP CONSTRAINT IF EXISTS orders_state_check`

/** Append only: a migration that has been released is never edited. */
const MIGRATIONS: readonly Migration[] = [
  { number: 1, sql: FIRST_TABLES, oldestProgram: 1 },
  { number: 2, sql: FAILOVER_TABLES, oldestProgram: 1 },
  // The id of the key that created the webhook; NULL if it was created before this was recorded.
  { number: 3, sql: 'ALTER TABLE webhooks ADD COLUMN created_by text', oldestProgram: 1 },
  { number: 4, sql: DROP_ORDER_STATE_CHECK, oldestProgram: 1 },
]

const NEWEST = MIGRATIONS.at(-1)?.number ?? 0

/** Any number will do, if nobody else takes the same: the ASCII codes of "petstore". */
const MIGRATION_LOCK = 0x70657473746f7265n

/** What the tables of a database are, and which is the oldest program that can work with them. */
interface Version {
  readonly number: number
  readonly oldestProgram: number
}

/** Through JSON, since the first databases had no column `oldest_program`: no older program works with their tables. */
const VERSION = `
  SELECT number, coalesce(CAST(to_jsonb(migrations) ->> 'oldest_program' AS integer), number) AS "oldestProgram"
  FROM migrations ORDER BY number DESC LIMIT 1`

/**
 * Brings the database to the newest form, if `tables` allows it. Safe when several processes start
 * at once: one does it, the others wait. Newer tables that this program can work with are left as they are.
 */
export async function migrate(connection: Connection, tables: TablesMode): Promise<void> {
  const isUpToDate = (version: Version | undefined) =>
    (version !== undefined && version.number > NEWEST && version.oldestProgram <= NEWEST) ||
    !needsMigration(version?.number, NEWEST, tables)
  const found = await findTables(connection)
  if (found !== undefined && found.number > 0) {
    const present = new Set(found.columns)
    const missing = expectedColumns(found.number).filter((name) => !present.has(name))
    requireOwnTables(found.number, NEWEST, missing)
  }
  if (isUpToDate(found)) return
  await inLongSession(connection, (session) =>
    session.writeInSteps(async () => {
      await session.rows('SELECT pg_advisory_xact_lock($1)', MIGRATION_LOCK)
      await session.run(`
        CREATE TABLE IF NOT EXISTS migrations (
          number         integer PRIMARY KEY,
          applied_at     timestamptz NOT NULL DEFAULT now(),
          oldest_program integer
        );
        ALTER TABLE migrations ADD COLUMN IF NOT EXISTS oldest_program integer`)
      const version = await versionOf(session)
      if (isUpToDate(version.number === 0 ? undefined : version)) return
      for (const { number, sql, oldestProgram } of MIGRATIONS) {
        if (number <= version.number) continue
        await session.run(sql)
        await session.run(
          'INSERT INTO migrations (number, oldest_program) VALUES ($1, $2)',
          number,
          oldestProgram,
        )
      }
    }),
  )
}

/** Trouble, where a newer program has made the tables into what this one cannot work with. */
export async function findNewerTables(database: Pick<SqlDatabase, 'rows'>): Promise<NewerTables | undefined> {
  const { number, oldestProgram } = await versionOf(database)
  return number > NEWEST && oldestProgram > NEWEST ? new NewerTables(number, NEWEST) : undefined
}

/** The columns that this program makes by `version`, or by its newest if that is later. */
export function expectedColumns(version: number): string[] {
  return MIGRATIONS.filter(({ number }) => number <= version).flatMap(({ sql }) => addedColumns(sql))
}

/** The version of the tables, and their columns, such as `stock.quantity`. */
interface FoundTables extends Version {
  readonly columns: readonly string[]
}

/**
 * `undefined` if there are no tables at all. Not for the locked part: a connection that has once found no such table
 * may go on believing so.
 */
async function findTables(connection: Connection): Promise<FoundTables | undefined> {
  const [found] = await connection.rows<{ hasMigrations: boolean; isOurs: boolean; isEmpty: boolean }>(`
    SELECT to_regclass('migrations') IS NOT NULL AS "hasMigrations",
      EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = to_regclass('migrations') AND attname = 'number' AND atttypid = 'integer'::regtype
      ) AS "isOurs",
      NOT EXISTS (
        SELECT FROM pg_class WHERE relnamespace = to_regnamespace(current_schema()) AND relkind IN ('r', 'p')
      ) AS "isEmpty"`)
  if (found?.isOurs) return readTables(connection)
  if (found?.hasMigrations) {
    throw new OpenRefused(
      'the database belongs to another program, which has a table "migrations" of its own: choose another database or schema',
    )
  }
  return found?.isEmpty ? undefined : { number: 0, oldestProgram: 0, columns: [] }
}

/** In one statement, so that the version and the columns are of the same moment. */
async function readTables(connection: Connection): Promise<FoundTables> {
  const [row] = await connection.rows<{ columns: string } & Version>(`
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

async function versionOf(database: Pick<SqlDatabase, 'rows'>): Promise<Version> {
  const [row] = await database.rows<Version>(VERSION)
  return row ?? { number: 0, oldestProgram: 0 }
}
