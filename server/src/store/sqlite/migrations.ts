import type { Database } from 'bun:sqlite'
import { FIRST_TABLES } from './tables.ts'

interface Migration {
  readonly number: number
  readonly sql: string
}

/** Append only: a migration that has been released is never edited. */
const MIGRATIONS: readonly Migration[] = [{ number: 1, sql: FIRST_TABLES }]

const NEWEST = MIGRATIONS.at(-1)?.number ?? 0

/** Brings the file to the newest form. Safe when several processes start at once. */
export function migrate(database: Database): void {
  const apply = database.transaction(() => {
    const version = versionOf(database)
    if (version > NEWEST) {
      throw new Error(
        `the database is of a newer version (${version}) than this program knows (${NEWEST}); start the newer program`,
      )
    }
    for (const migration of MIGRATIONS) {
      if (migration.number <= version) continue
      database.run(migration.sql)
      database.run(`PRAGMA user_version = ${migration.number}`)
    }
  })
  if (versionOf(database) !== NEWEST) apply.immediate()
}

function versionOf(database: Database): number {
  const row = database.query<{ user_version: bigint }, []>('PRAGMA user_version').get()
  return Number(row?.user_version ?? 0)
}
