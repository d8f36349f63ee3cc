import { needsMigration, type TablesMode } from '../opening.ts'
import { inLongSession, type SqlDatabase } from '../sql.ts'
import type { Connection } from './connection.ts'
import { FAILOVER_TABLES } from './failover-tables.ts'
import { NewerTables } from './failures.ts'
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

/** Append only: a migration that has been released is never edited. */
const MIGRATIONS: readonly Migration[] = [
  { number: 1, sql: FIRST_TABLES, oldestProgram: 1 },
  { number: 2, sql: FAILOVER_TABLES, oldestProgram: 1 },
  // The id of the key that created the webhook; NULL if it was created before this was recorded.
  { number: 3, sql: 'ALTER TABLE webhooks ADD COLUMN created_by text', oldestProgram: 1 },
]

const NEWEST = MIGRATIONS.at(-1)?.number ?? 0

/** Any number will do, if nobody else takes the same: the ASCII codes of "petstore". */
const MIGRATION_LOCK = 0x70657473746f7265n

/** What the tables of a database are, and which is the oldest program that can work with them. */
interface Version {
  readonly number: number
  readonly oldestProgram: number
}

/**
 * Brings the database to the newest form, if `tables` allows it. Safe when several processes start
 * at once: one does it, the others wait. Newer tables that this program can work with are left as they are.
 */
export async function migrate(connection: Connection, tables: TablesMode): Promise<void> {
  const isUpToDate = (version: Version | undefined) =>
    (version !== undefined && version.number > NEWEST && version.oldestProgram <= NEWEST) ||
    !needsMigration(version?.number, NEWEST, tables)
  if (isUpToDate(await versionWithoutLock(connection))) return
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

/**
 * `undefined` where there are no tables at all. Not for the locked part: a connection that has once found no such table
 * may go on believing so.
 */
async function versionWithoutLock(connection: Connection): Promise<Version | undefined> {
  const [found] = await connection.rows<{ isOurs: boolean; isEmpty: boolean }>(`
    SELECT to_regclass('migrations') IS NOT NULL AS "isOurs",
      NOT EXISTS (
        SELECT FROM pg_class WHERE relnamespace = to_regnamespace(current_schema()) AND relkind IN ('r', 'p')
      ) AS "isEmpty"`)
  if (found?.isOurs) return versionOf(connection)
  return found?.isEmpty ? undefined : { number: 0, oldestProgram: 0 }
}

/** By way of JSON: a database that was made before there was such a column says of none that it works beside newer tables. */
async function versionOf(database: Pick<SqlDatabase, 'rows'>): Promise<Version> {
  const [row] = await database.rows<Version>(`
    SELECT number, coalesce(CAST(to_jsonb(migrations) ->> 'oldest_program' AS integer), number) AS "oldestProgram"
    FROM migrations ORDER BY number DESC LIMIT 1`)
  return row ?? { number: 0, oldestProgram: 0 }
}
