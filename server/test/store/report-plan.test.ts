import { expect, setDefaultTimeout, test } from 'bun:test'
import { openStore } from '../../src/store/open-store.ts'
import { Connection as PostgresConnection } from '../../src/store/postgres/connection.ts'
import { DEFAULT_POSTGRES_SETTINGS } from '../../src/store/postgres/store.ts'
import { reportMethods } from '../../src/store/reports.ts'
import type { SqlDatabase, SqlValue } from '../../src/store/sql.ts'
import { Connection } from '../../src/store/sqlite/connection.ts'
import { createDatabase } from '../support/postgres-databases.ts'
import { freshFile } from './fresh-file.ts'

setDefaultTimeout(120_000)

const file = freshFile()
const ROWS = 30_000
/** An hour of a log with one sale a minute. Every tenth was recorded a day late. */
const HOUR = { since: 15_000 * 60_000, until: 15_060 * 60_000 }
const SALES = `
  SELECT n AS id, 'change' AS kind, 1 AS pet_id, 2 AS before, 1 AS after, CAST(n AS BIGINT) * 60000 AS at, 'key_a' AS key_id,
    'sold' AS reason, -1 AS delta, n AS document,
    CASE WHEN n % 10 = 0 THEN (CAST(n AS BIGINT) - 1440) * 60000 END AS occurred_at`
const insertSales = (numbers: string) => `
  INSERT INTO log (id, kind, pet_id, before, after, at, key_id, reason, delta, document, occurred_at)
  ${SALES} FROM ${numbers}`

interface Asked {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** The statements of a report of the hour, grouped by key. */
async function statementsOf(database: SqlDatabase, rowsPerStep?: number): Promise<readonly Asked[]> {
  const asked: Asked[] = []
  const listening = {
    dialect: database.dialect,
    rows: <Row>(text: string, ...values: readonly SqlValue[]) => {
      asked.push({ text, values })
      return database.rows<Row>(text, ...values)
    },
  }
  let sold = 0
  await reportMethods(listening, rowsPerStep).sumMovements(HOUR, 'key', (sums) => {
    for (const { units } of sums) sold -= units
  })
  expect(sold).toBe(60)
  return asked
}

test('on SQLite a report finds the facts of an hour without a scan of the log', async () => {
  await (await openStore(`sqlite:${file.path}`, { tables: 'migrate' })).close()
  const database = Connection.open(file.path)
  database.database.run(
    insertSales(`(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS})
      SELECT n FROM numbers) AS numbers`),
  )
  const plans: string[] = []
  for (const { text, values } of await statementsOf(database)) {
    const plan = await database.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...values)
    plans.push(...plan.map(({ detail }) => detail).filter((detail) => /^\w+ log\b/.test(detail)))
  }
  const late = 'SEARCH log USING INDEX log_of_late_facts (occurred_at>? AND occurred_at<?)'
  const inTime = 'SEARCH log USING INDEX log_by_time (at>? AND at<?)'
  const steps = [late, inTime].map((step) => step.replace('INDEX', 'COVERING INDEX'))
  expect(plans).toEqual([steps[0] ?? '', late, steps[1] ?? '', inTime])
  // Two statements for each step: the 6 late rows, and the 60 rows of the hour.
  expect(await statementsOf(database, 3)).toHaveLength(2 * (6 / 3 + 60 / 3))
  await database.close()
})

test('on PostgreSQL a report finds the facts of an hour without a scan of the log', async () => {
  const database = await createDatabase()
  await (await openStore(database.url, { tables: 'migrate' })).close()
  const connection = new PostgresConnection(database.url, DEFAULT_POSTGRES_SETTINGS)
  try {
    await database.run(insertSales(`generate_series(1, ${ROWS}) AS numbers (n)`))
    await database.run('ANALYZE log')
    const plans: string[] = []
    for (const { text, values } of await statementsOf(connection)) {
      const lines = await connection.rows<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, ...values)
      plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'))
    }
    const indexes = plans.map((plan) => /log_of_late_facts|log_by_time/.exec(plan)?.[0])
    expect(indexes).toEqual(['log_of_late_facts', 'log_of_late_facts', 'log_by_time', 'log_by_time'])
    expect(plans.join()).not.toContain('Seq Scan on log')
  } finally {
    await connection.close()
    await database.drop()
  }
})
