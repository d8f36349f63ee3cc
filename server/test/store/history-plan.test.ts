import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Page } from '../../src/core/values/page.ts'
import { adjustmentMethods } from '../../src/store/adjustments.ts'
import { stockFromFacts } from '../../src/store/facts.ts'
import { historyMethods } from '../../src/store/history.ts'
import { openStore } from '../../src/store/open-store.ts'
import { Connection as PostgresConnection } from '../../src/store/postgres/connection.ts'
import { DEFAULT_POSTGRES_SETTINGS } from '../../src/store/postgres/store.ts'
import type { SqlDatabase } from '../../src/store/sql.ts'
import { Connection } from '../../src/store/sqlite/connection.ts'
import { createDatabase } from '../support/postgres-databases.ts'
import { freshFile } from './fresh-file.ts'
import { type AskedStatement, countRowsRead } from './rows-read.ts'

setDefaultTimeout(120_000)

const file = freshFile()
const ROWS = 30_000
/** An hour of a log with one row a minute. */
const HOUR = { since: 15_000 * 60_000, until: 15_060 * 60_000 }

const changes = (numbers: string) => `
  INSERT INTO log (id, document, kind, pet_id, before, after, at, key_id, counted)
  SELECT n + 100, n + 100, 'change', 1, 1, 2, CAST(n AS BIGINT) * 60000, 'key_a', 2 FROM ${numbers}`
/** Two edits of pet 1, before all changes. */
const EDITS = `
  INSERT INTO log (id, kind, pet_id, after, status, at, key_id, detail)
  SELECT n, 'pet', 1, 1, 'sold', 1, 'key_a', '{"change": "changed", "name": "Rex", "categoryId": "1"}'
  FROM (SELECT 1 AS n UNION SELECT 2) AS numbers`

const ADJUSTMENT_ID = 10n
const LINES = 50
const ADJUSTMENT = (numbers: string) => `
  INSERT INTO log (id, document, kind, pet_id, before, after, at, key_id, counted, order_id, detail)
  SELECT ${ADJUSTMENT_ID} + n, ${ADJUSTMENT_ID}, 'change', 100 + n, 1, 2, 1, 'key_a', 2, 7, CASE n WHEN 0 THEN '{"lines":${LINES}}' END
  FROM ${numbers} WHERE n < ${LINES}`

/** Reads the facts of about an hour before the last counts. */
const STOCK_WITHOUT_LAST_COUNT = stockFromFacts('1', `document <> ${ROWS + 100}`)

type Methods = ReturnType<typeof historyMethods>

/** The statements that read a page, which has `size` entries. */
async function statementsOf(
  database: Pick<SqlDatabase, 'rows'>,
  size: number,
  read: (methods: Methods) => Promise<Page<unknown>>,
) {
  const { asked, listening } = listen(database)
  const page = await read(historyMethods(listening))
  expect(page.rows).toHaveLength(size)
  return asked
}

/** The statements that read the adjustment of ADJUSTMENT. */
async function statementsOfAdjustment(database: Pick<SqlDatabase, 'rows'>) {
  const { asked, listening } = listen(database)
  const adjustment = await adjustmentMethods(listening).findAdjustment(ADJUSTMENT_ID)
  expect(adjustment?.lines).toHaveLength(LINES)
  return asked
}

/** The statements that find the same adjustment by its order. */
async function statementsOfOrder(database: Pick<SqlDatabase, 'rows'>) {
  const { asked, listening } = listen(database)
  const { rows } = await adjustmentMethods(listening).listAdjustments(1, undefined, { orderId: 7n })
  expect(rows).toMatchObject([{ id: ADJUSTMENT_ID }])
  return asked
}

function listen(database: Pick<SqlDatabase, 'rows'>) {
  const asked: AskedStatement[] = []
  const listening: Pick<SqlDatabase, 'rows'> = {
    rows: (text, ...values) => {
      asked.push({ text, values })
      return database.rows(text, ...values)
    },
  }
  return { asked, listening }
}

const readHour = ({ listRecentHistory }: Methods) => listRecentHistory(100, undefined, HOUR)
const readPet = ({ listHistoryPage }: Methods) => listHistoryPage(1n, 100, undefined)
const readEdits = ({ listPetEdits }: Methods) => listPetEdits(100, undefined, { petId: 1n })

test('on SQLite the history of an hour, the edits of a pet and an adjustment are found without a scan of the log', async () => {
  await (await openStore(`sqlite:${file.path}`, { tables: 'migrate' })).close()
  const database = Connection.open(file.path)
  const numbers = `(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS})
    SELECT n FROM numbers)`
  database.database.run(EDITS)
  database.database.run(changes(numbers))
  database.database.run(ADJUSTMENT(`(SELECT n - 1 AS n FROM ${numbers}) AS numbers`))
  const plansOf = async (statements: readonly AskedStatement[]) => {
    const plans: string[][] = []
    for (const { text, values } of statements) {
      const plan = await database.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...values)
      plans.push(
        plan.map(({ detail }) => detail).filter((detail) => /^\w+ (log|later|earlier)\b/.test(detail)),
      )
    }
    return plans
  }
  const inTime = 'SEARCH log USING COVERING INDEX log_by_time (at>? AND at<?)'
  expect(await plansOf(await statementsOf(database, 60, readHour))).toEqual([
    [inTime],
    [inTime.replace('COVERING ', '')],
  ])
  const ofPet = (index: string) => `SEARCH log USING INDEX ${index} (pet_id=? AND id>? AND id<?)`
  const changesOfPet = await plansOf(await statementsOf(database, 100, readPet))
  expect(changesOfPet).toEqual([[ofPet('log_of_facts')]])
  const previous = 'SEARCH earlier USING INDEX log_of_entries (pet_id=? AND id<?)'
  expect(await plansOf(await statementsOf(database, 2, readEdits))).toEqual([
    [ofPet('log_of_entries'), previous, previous],
  ])
  const ofAdjustment = [
    ['SEARCH log USING INTEGER PRIMARY KEY (rowid=?)'],
    ['SEARCH log USING INTEGER PRIMARY KEY (rowid=?)'],
    ['SEARCH log USING INDEX log_of_reversals (reverses=?)'],
  ]
  expect(await plansOf(await statementsOfAdjustment(database))).toEqual(ofAdjustment)
  expect(await plansOf(await statementsOfOrder(database))).toEqual([
    ['SEARCH log USING INDEX log_of_orders (order_id=? AND rowid>? AND rowid<?)'],
    ...ofAdjustment,
  ])
  const [plan = []] = await plansOf([{ text: STOCK_WITHOUT_LAST_COUNT, values: [] }])
  const recentFacts = 'SEARCH log USING INDEX log_of_facts (pet_id=? AND id>?)'
  expect(plan.filter((step) => step === recentFacts)).toHaveLength(2)
  expect(plan.filter((step) => step.startsWith('SCAN'))).toEqual([])
  await database.close()
})

test('on PostgreSQL the history of an hour, the edits of a pet and an adjustment read a small part of the log', async () => {
  const test = await createDatabase()
  await (await openStore(test.url, { tables: 'migrate' })).close()
  const connection = new PostgresConnection(test.url, DEFAULT_POSTGRES_SETTINGS)
  try {
    await test.run(EDITS)
    await test.run(changes(`generate_series(1, ${ROWS}) AS numbers (n)`))
    await test.run(ADJUSTMENT('generate_series(0, 99) AS numbers (n)'))
    await test.run('ANALYZE log')
    const countRead = async (statements: readonly AskedStatement[]) => {
      let read = 0
      for (const statement of statements) read += await countRowsRead(connection, 'log', statement)
      return read
    }
    expect(await countRead(await statementsOf(connection, 60, readHour))).toBe(2 * 60)
    expect(await countRead(await statementsOf(connection, 100, readPet))).toBe(101)
    expect(await countRead(await statementsOfAdjustment(connection))).toBe(LINES)
    expect(await countRead(await statementsOfOrder(connection))).toBeLessThanOrEqual(2 * LINES)
    const stock = [{ text: STOCK_WITHOUT_LAST_COUNT, values: [] }]
    expect(await countRead(stock)).toBeLessThan(ROWS / 100)
    // Two statements read both edits, and each edit looks up its previous one.
    expect(await countRead(await statementsOf(connection, 2, readEdits))).toBeLessThanOrEqual(8)
  } finally {
    await connection.close()
    await test.drop()
  }
})
