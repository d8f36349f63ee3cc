import type { Database } from 'bun:sqlite'
import type { TablesMode } from '../opening.ts'
import {
  migrationsOf,
  needsMigration,
  newestVersion,
  requireOwnTables,
  type TableVersions,
} from '../table-versions.ts'
import { TABLES, UPGRADE_OF_1_1_0 } from './tables.ts'

/** The version of the tables is the `user_version` of the file. */
export const VERSIONS: TableVersions = {
  createdVersion: 14,
  tables: TABLES,
  migrations: [{ from: 7, to: 14, sql: UPGRADE_OF_1_1_0 }],
}

/** Migrates the file to the newest version, if `mode` allows it. Safe if several processes start at once. */
export function migrate(database: Database, mode: TablesMode): void {
  const apply = database.transaction(() => {
    const version = versionOf(database)
    if (!needsMigration(version, VERSIONS, mode)) return
    for (const sql of migrationsOf(VERSIONS, version ?? 0)) database.run(sql)
    database.run(`PRAGMA user_version = ${newestVersion(VERSIONS)}`)
  })
  // The version is read before the columns, so columns that another process adds in between do no harm.
  const version = versionOf(database)
  if (version !== undefined && version > 0) requireOwnTables(VERSIONS, version, columnsOf(database))
  if (!needsMigration(version, VERSIONS, mode)) return
  // Earlier versions have left personal data in the free space of pages.
  if (version !== undefined && version > 0) database.run('VACUUM')
  apply.immediate()
}

/** The columns of all tables, such as `stock.quantity`. Leaves out virtual tables, which cannot be read in a damaged file. */
export function columnsOf(database: Database): string[] {
  return database
    .query<{ name: string }, []>(`
      SELECT tables.name || '.' || columns.name AS name
      FROM pragma_table_list AS tables JOIN pragma_table_info(tables.name) AS columns
      WHERE tables.schema = 'main' AND tables.type = 'table'`)
    .all()
    .map(({ name }) => name)
}

/** `undefined` if there are no tables, and 0 if another program created them. */
export function versionOf(database: Database): number | undefined {
  const row = database.query<{ user_version: bigint }, []>('PRAGMA user_version').get()
  const isEmpty = database.query('SELECT 1 FROM sqlite_schema LIMIT 1').get() === null
  // Another program may have set a negative version.
  return isEmpty ? undefined : Math.max(0, Number(row?.user_version ?? 0))
}
