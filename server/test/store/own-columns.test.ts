import { Database } from 'bun:sqlite'
import { expect, setDefaultTimeout, test } from 'bun:test'
import { VERSIONS as POSTGRES_VERSIONS } from '../../src/store/postgres/migrations.ts'
import { columnsOf, migrate, VERSIONS as SQLITE_VERSIONS } from '../../src/store/sqlite/migrations.ts'
import { expectedColumns } from '../../src/store/table-versions.ts'
import { createReadyDatabase } from '../support/postgres-databases.ts'

setDefaultTimeout(120_000)

test('the columns read from the migrations are those of PostgreSQL', async () => {
  const database = await createReadyDatabase()
  const rows = await database.run(`
    SELECT concat(table_name, '.', column_name) AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name <> 'migrations'`)
  await database.drop()
  expect(new Set(expectedColumns(POSTGRES_VERSIONS))).toEqual(new Set(rows.map(({ name }) => String(name))))
})

test('the columns read from the migrations are those of SQLite', () => {
  const database = new Database(':memory:')
  migrate(database, 'migrate')
  const columns = columnsOf(database).filter((name) => !name.startsWith('sqlite_'))
  database.close()
  expect(new Set(expectedColumns(SQLITE_VERSIONS))).toEqual(new Set(columns))
})
