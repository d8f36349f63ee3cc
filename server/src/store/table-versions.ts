import { OpenRefused, type TablesMode } from './opening.ts'

export interface Migration {
  /** The versions of the tables before and after the migration. */
  readonly from: number
  readonly to: number
  readonly sql: string
}

/** How the tables of a database are created, and how tables of earlier versions are changed to the same. */
export interface TableVersions {
  /** The version of the tables that `tables` creates in an empty database. */
  readonly createdVersion: number
  readonly tables: string
  /** New migrations are appended. A migration that has been released is never edited. */
  readonly migrations: readonly Migration[]
}

export function newestVersion({ createdVersion, migrations }: TableVersions): number {
  return migrations.at(-1)?.to ?? createdVersion
}

/** The statements that change tables of `version` to the newest version. Version 0 means that there are no tables. */
export function migrationsOf(
  { createdVersion, tables, migrations }: TableVersions,
  version: number,
): readonly string[] {
  const later = (start: number) => migrations.filter(({ from }) => from >= start).map(({ sql }) => sql)
  return version === 0 ? [tables, ...later(createdVersion)] : later(version)
}

/**
 * Whether the tables have to be created or migrated. `version` is 0 if the tables are those of another program, and `undefined`
 * if there are none. Throws if the tables have to change but `mode` forbids it.
 */
export function needsMigration(
  version: number | undefined,
  versions: TableVersions,
  mode: TablesMode,
): boolean {
  const newest = newestVersion(versions)
  if (version === newest) return false
  if (version !== undefined && version > newest) {
    throw new OpenRefused(
      `the database has a newer version (${version}) than this program knows (${newest}); start the newer program`,
    )
  }
  if (mode === 'migrate' || (mode === 'create_if_missing' && version === undefined)) return true
  throw new OpenRefused(
    version === undefined || version === 0
      ? 'the database has no tables of this program: run petstore migrate, or start petstore serve'
      : `the database has version ${version}, this program needs ${newest}: stop the service and run petstore migrate, or start petstore serve`,
  )
}

/** How many missing columns a message names. */
const MAX_NAMED = 3

/**
 * Throws if the tables are not those of a release. The version alone does not show which program created them, so `columns`,
 * which have names such as `stock.quantity`, must include those of the version.
 */
export function requireOwnTables(versions: TableVersions, version: number, columns: readonly string[]): void {
  const newest = newestVersion(versions)
  const oldest = versions.migrations[0]?.from ?? newest
  if (version < newest && !versions.migrations.some(({ from }) => from === version)) {
    throw new OpenRefused(
      `no release made tables of version ${version}: petstore 1.1 is the first release, and its tables have version ${oldest}. Start the program that made the tables, export them with it and import the files into a new database, or choose another database`,
    )
  }
  const missing = missingColumns(versions, version, columns)
  if (missing.length === 0) return
  const named = missing.slice(0, MAX_NAMED).join(', ')
  const others = missing.length > MAX_NAMED ? ` and ${missing.length - MAX_NAMED} more` : ''
  const verb = missing.length === 1 ? 'is' : 'are'
  const reason =
    version > newest
      ? `this program does not know version ${version} (its newest is ${newest}), so a newer version or another program made the tables`
      : `no release made tables of version ${version} like these, so another program made them, or somebody removed columns`
  throw new OpenRefused(
    `the tables are not those of this program, because ${named}${others} ${verb} missing: ${reason}; start the program that made the tables, restore a backup, or choose another database`,
  )
}

export function missingColumns(
  versions: TableVersions,
  version: number,
  columns: readonly string[],
): string[] {
  const present = new Set(columns)
  return expectedColumns(versions, version).filter((name) => !present.has(name))
}

/** The columns of the tables of `version`, or of the newest version if `version` is newer. */
export function expectedColumns(
  { tables, migrations }: TableVersions,
  version: number = Number.MAX_SAFE_INTEGER,
): string[] {
  const all = new Set([tables, ...migrations.map(({ sql }) => sql)].flatMap(addedColumns))
  const later = new Set(
    migrations.filter(({ from }) => from >= version).flatMap(({ sql }) => addedColumns(sql)),
  )
  return [...all].filter((name) => !later.has(name))
}

/**
 * The columns that SQL adds or renames, such as `stock.quantity`. Parses CREATE TABLE with one column per line, and ALTER TABLE
 * with ADD COLUMN and RENAME COLUMN. A test compares the result with the columns that the databases create.
 */
function addedColumns(sql: string): string[] {
  const created = [...sql.matchAll(/CREATE (?:UNLOGGED )?TABLE (\w+) \(\n(.*?)\n {2}\)/gs)].flatMap(
    ([, table, body = '']) =>
      [...body.matchAll(/^ {4}([a-z]\w*) /gm)].map(([, column]) => `${table}.${column}`),
  )
  const altered = [...sql.matchAll(/ALTER TABLE (\w+)([^;]*)/g)].flatMap(([, table, changes = '']) =>
    [...changes.matchAll(/(?:ADD COLUMN|RENAME COLUMN \w+ TO) (\w+)/g)].map(
      ([, column]) => `${table}.${column}`,
    ),
  )
  return [...created, ...altered]
}
