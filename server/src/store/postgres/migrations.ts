import { needsMigration, type TablesMode } from '../opening.ts'
import { inLongSession, type SqlDatabase } from '../sql.ts'
import type { Connection } from './connection.ts'
import { FIRST_TABLES } from './tables.ts'

interface Migration {
  readonly number: number
  readonly sql: string
}

/** Append only: a migration that has been released is never edited. */
const MIGRATIONS: readonly Migration[] = [{ number: 1, sql: FIRST_TABLES }]

const NEWEST = MIGRATIONS.at(-1)?.number ?? 0

/** Any number will do, if nobody else takes the same: the ASCII codes of "petstore". */
const MIGRATION_LOCK = 0x70657473746f7265n

/**
 * Brings the database to the newest form, if `tables` allows it. Safe when several processes start
 * at once: one does it, the others wait.
 */
export async function migrate(connection: Connection, tables: TablesMode): Promise<void> {
  if (!needsMigration(await versionWithoutLock(connection), NEWEST, tables)) return
  await inLongSession(connection, (session) =>
    session.writeInSteps(async () => {
      await session.rows('SELECT pg_advisory_xact_lock($1)', MIGRATION_LOCK)
      await session.run(`
        CREATE TABLE IF NOT EXISTS migrations (
          number     integer PRIMARY KEY,
          applied_at timestamptz NOT NULL DEFAULT now()
        )`)
      const version = await versionOf(session)
      if (!needsMigration(version || undefined, NEWEST, tables)) return
      for (const migration of MIGRATIONS) {
        if (migration.number <= version) continue
        await session.run(migration.sql)
        await session.run('INSERT INTO migrations (number) VALUES ($1)', migration.number)
      }
    }),
  )
}

/**
 * `undefined` where there are no tables at all. Not for the locked part: a connection that has once found no such table
 * may go on believing so.
 */
async function versionWithoutLock(connection: Connection): Promise<number | undefined> {
  const [found] = await connection.rows<{ isOurs: boolean; isEmpty: boolean }>(`
    SELECT to_regclass('migrations') IS NOT NULL AS "isOurs",
      NOT EXISTS (
        SELECT FROM pg_class WHERE relnamespace = to_regnamespace(current_schema()) AND relkind IN ('r', 'p')
      ) AS "isEmpty"`)
  if (found?.isOurs) return versionOf(connection)
  return found?.isEmpty ? undefined : 0
}

async function versionOf(database: Pick<SqlDatabase, 'rows'>): Promise<number> {
  const [row] = await database.rows<{ version: number | null }>(
    'SELECT max(number) AS version FROM migrations',
  )
  return row?.version ?? 0
}
