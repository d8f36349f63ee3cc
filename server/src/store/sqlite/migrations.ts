import { Database } from 'bun:sqlite'
import { needsMigration, type TablesMode } from '../opening.ts'
import { FIRST_TABLES } from './tables.ts'

interface Migration {
  readonly number: number
  readonly sql: string
}

/** Append only: a migration that has been released is never edited. */
const MIGRATIONS: readonly Migration[] = [
  { number: 1, sql: FIRST_TABLES },
  // The id of the key that created the webhook; NULL if it was created before this was recorded.
  { number: 2, sql: 'ALTER TABLE webhooks ADD COLUMN created_by TEXT' },
]

export const NEWEST = MIGRATIONS.at(-1)?.number ?? 0

/** Brings the file to the newest form, if `tables` allows it. Safe when several processes start at once. */
export function migrate(database: Database, tables: TablesMode): void {
  const apply = database.transaction(() => {
    const version = versionOf(database)
    if (!needsMigration(version, NEWEST, tables)) return
    for (const migration of MIGRATIONS) {
      if (migration.number <= (version ?? 0)) continue
      database.run(migration.sql)
      database.run(`PRAGMA user_version = ${migration.number}`)
    }
  })
  if (needsMigration(versionOf(database), NEWEST, tables)) apply.immediate()
}

/** Whether it has all that this program had made by the version that the file says it is of. */
export function hasOwnTables(database: Database): boolean {
  const names = (of: Database) =>
    of
      .query<{ name: string }, []>("SELECT type || ' ' || name AS name FROM sqlite_schema")
      .all()
      .map(({ name }) => name)
  const version = versionOf(database) ?? 0
  const model = new Database(':memory:')
  try {
    for (const { number, sql } of MIGRATIONS) if (number <= version) model.run(sql)
    const found = new Set(names(database))
    return version > 0 && names(model).every((name) => found.has(name))
  } finally {
    model.close()
  }
}

/** `undefined` where there are no tables at all. */
export function versionOf(database: Database): number | undefined {
  const row = database.query<{ user_version: bigint }, []>('PRAGMA user_version').get()
  const isEmpty = database.query('SELECT 1 FROM sqlite_schema LIMIT 1').get() === null
  return isEmpty ? undefined : Number(row?.user_version ?? 0)
}
