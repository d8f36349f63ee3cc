import type { SQL } from 'bun'
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

/** Brings the database to the newest form. Safe when several processes start at once: one does it, the others wait. */
export async function migrate(connection: Connection): Promise<void> {
  if ((await connection.run((sql) => versionWithoutLock(sql))) === NEWEST) return
  await connection.longTransaction('write', async (session) => {
    await session`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`
    await session`
      CREATE TABLE IF NOT EXISTS migrations (
        number     integer PRIMARY KEY,
        applied_at timestamptz NOT NULL DEFAULT now()
      )`
    const version = await versionOf(session)
    if (version > NEWEST) {
      throw new Error(
        `the database is of a newer version (${version}) than this program knows (${NEWEST}); start the newer program`,
      )
    }
    for (const migration of MIGRATIONS) {
      if (migration.number <= version) continue
      await session.unsafe(migration.sql)
      await session`INSERT INTO migrations (number) VALUES (${migration.number})`
    }
  })
}

/** Not for the locked part: a connection that has once found no such table may go on believing so. */
async function versionWithoutLock(sql: SQL): Promise<number> {
  const [table] = await sql<{ name: string | null }[]>`SELECT to_regclass('migrations')::text AS name`
  return table === undefined || table.name === null ? 0 : versionOf(sql)
}

async function versionOf(sql: SQL): Promise<number> {
  const [row] = await sql<{ version: number | null }[]>`SELECT max(number) AS version FROM migrations`
  return row?.version ?? 0
}
