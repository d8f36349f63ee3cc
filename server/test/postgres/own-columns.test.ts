import { expect, setDefaultTimeout, test } from 'bun:test'
import { expectedColumns } from '../../src/store/postgres/migrations.ts'
import { createReadyDatabase } from '../support/postgres-databases.ts'

setDefaultTimeout(120_000)

test('the columns read from the migrations are those of PostgreSQL', async () => {
  const database = await createReadyDatabase()
  const rows = await database.run(`
    SELECT concat(table_name, '.', column_name) AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name <> 'migrations'`)
  await database.drop()
  expect(new Set(expectedColumns(Number.MAX_SAFE_INTEGER))).toEqual(
    new Set(rows.map(({ name }) => String(name))),
  )
})
