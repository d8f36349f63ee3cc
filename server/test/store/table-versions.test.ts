import { expect, test } from 'bun:test'
import type { TablesMode } from '../../src/store/opening.ts'
import {
  expectedColumns,
  migrationsOf,
  needsMigration,
  requireOwnTables,
} from '../../src/store/table-versions.ts'

const SECOND = 'ALTER TABLE pets ADD COLUMN name text'
const THIRD = 'ALTER TABLE pets ADD COLUMN shelf text'
/** New databases get the tables of version 3. Those of version 2 are migrated to version 3, and both to version 4. */
const VERSIONS = {
  createdVersion: 3,
  tables: 'CREATE TABLE pets (\n    id bigint,\n    name text\n  )',
  migrations: [
    { from: 2, to: 3, sql: SECOND },
    { from: 3, to: 4, sql: THIRD },
  ],
}

const NO_TABLES = 'the database has no tables of this program: run petstore migrate, or start petstore serve'
const OLDER =
  'the database has version 3, this program needs 4: stop the service and run petstore migrate, or start petstore serve'
const NEWER = 'the database has a newer version (5) than this program knows (4); start the newer program'

test.each([
  ['migrate', undefined, true],
  ['migrate', 0, true],
  ['migrate', 3, true],
  ['migrate', 4, false],
  ['migrate', 5, NEWER],
  ['create_if_missing', undefined, true],
  ['create_if_missing', 0, NO_TABLES],
  ['create_if_missing', 3, OLDER],
  ['create_if_missing', 4, false],
  ['create_if_missing', 5, NEWER],
  ['require_current_tables', undefined, NO_TABLES],
  ['require_current_tables', 0, NO_TABLES],
  ['require_current_tables', 3, OLDER],
  ['require_current_tables', 4, false],
  ['require_current_tables', 5, NEWER],
] satisfies [TablesMode, number | undefined, boolean | string][])(
  '%s with tables of version %p: %p',
  (mode, version, outcome) => {
    const decide = () => needsMigration(version, VERSIONS, mode)
    if (typeof outcome === 'string') expect(decide).toThrow(outcome)
    else expect(decide()).toBe(outcome)
  },
)

test('a new database gets the tables and only the migrations that follow them', () => {
  expect(migrationsOf(VERSIONS, 0)).toEqual([VERSIONS.tables, THIRD])
  expect(migrationsOf(VERSIONS, 2)).toEqual([SECOND, THIRD])
  expect(migrationsOf(VERSIONS, 3)).toEqual([THIRD])
})

test('tables must have the columns of their version', () => {
  expect(expectedColumns(VERSIONS, 2)).toEqual(['pets.id'])
  expect(expectedColumns(VERSIONS, 3)).toEqual(['pets.id', 'pets.name'])
  expect(expectedColumns(VERSIONS, 4)).toEqual(['pets.id', 'pets.name', 'pets.shelf'])
  requireOwnTables(VERSIONS, 2, ['pets.id', 'other.id'])
  expect(() => requireOwnTables(VERSIONS, 3, ['pets.id'])).toThrow('pets.name is missing')
})
