import { OpenRefused, type TablesMode } from '../opening.ts'
import { inLongSession, type RowSource, type SqlDatabase } from '../sql.ts'
import {
  migrationsOf,
  needsMigration,
  newestVersion,
  requireOwnTables,
  type TableVersions,
} from '../table-versions.ts'
import { NewerTablesError } from './failures.ts'
import { TABLES, UPGRADE_OF_1_1_0 } from './tables.ts'

export const VERSIONS: TableVersions = {
  createdVersion: 17,
  tables: TABLES,
  migrations: [{ from: 9, to: 17, sql: UPGRADE_OF_1_1_0 }],
}

const NEWEST_VERSION = newestVersion(VERSIONS)

/**
 * The oldest program that can use tables of NEWEST_VERSION. A program is identified by the newest version of the tables that it
 * knows. A migration that only adds tables and columns keeps this number. See docs/upgrading.md.
 */
const OLDEST_PROGRAM = 17

/** An advisory lock. The number is arbitrary: the ASCII codes of "petstore". */
const MIGRATION_LOCK = 0x70657473746f7265n

/** The version of the tables, and the oldest program that can use them. */
interface Version {
  readonly number: number
  readonly oldestProgram: number
}

/** Reads `oldest_program` through JSON, because the tables of versions before 1.1 lack this column. */
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
    return isNewerButUsable || !needsMigration(version?.number, VERSIONS, mode)
  }
  const tables = await findTables(database)
  if (tables !== undefined && tables.number > 0) requireOwnTables(VERSIONS, tables.number, tables.columns)
  if (isUpToDate(tables)) return
  await inLongSession(database, (session) =>
    session.writeInTransaction(async () => {
      await session.rows('SELECT pg_advisory_xact_lock($1)', MIGRATION_LOCK)
      await session.run(`
        CREATE TABLE IF NOT EXISTS migrations (
          number         integer PRIMARY KEY,
          applied_at     timestamptz NOT NULL DEFAULT now(),
          oldest_program integer
        )`)
      const version = await versionOf(session)
      // Version 0 means that no migration was applied yet, so it counts as no tables. Tables of another program were refused
      // above, except in the mode `migrate`.
      if (isUpToDate(version.number === 0 ? undefined : version)) return
      for (const sql of migrationsOf(VERSIONS, version.number)) await session.run(sql)
      await session.run(
        'INSERT INTO migrations (number, oldest_program) VALUES ($1, $2)',
        NEWEST_VERSION,
        OLDEST_PROGRAM,
      )
    }),
  )
}

/** The error to report if a newer program has migrated the tables to a version that this program cannot use. */
export async function findNewerTablesError(database: RowSource): Promise<NewerTablesError | undefined> {
  const { number, oldestProgram } = await versionOf(database)
  if (number <= NEWEST_VERSION || oldestProgram <= NEWEST_VERSION) return undefined
  return new NewerTablesError(
    `the tables have version ${number}, this program supports ${NEWEST_VERSION}; start the newer program`,
  )
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
