import { expect, setDefaultTimeout, test } from 'bun:test'
import { ORDER_STATES } from '../../src/core/orders/order.ts'
import type { OrderFilter } from '../../src/core/orders/order-store.ts'
import { openStore } from '../../src/store/open-store.ts'
import { orderMethods } from '../../src/store/orders.ts'
import { Connection as PostgresConnection } from '../../src/store/postgres/connection.ts'
import { DEFAULT_POSTGRES_SETTINGS } from '../../src/store/postgres/store.ts'
import { storeClock } from '../../src/store/postgres/store-clock.ts'
import type { SqlDatabase, StoreClock } from '../../src/store/sql.ts'
import { Connection } from '../../src/store/sqlite/connection.ts'
import { createDatabase } from '../support/postgres-databases.ts'
import { freshFile } from './fresh-file.ts'
import { type AskedStatement, countRowsRead } from './rows-read.ts'

setDefaultTimeout(120_000)

const file = freshFile()
const LIMIT = 10
const ORDERS = 30_000
const PETS = 50

/**
 * Every filter but the customer and the time, from the first order and from one in the middle. Most orders are cancelled, so
 * scanning all of them would be slow.
 */
const FILTERS: readonly OrderFilter[] = [undefined, ...ORDER_STATES].flatMap((state) =>
  [{}, { petId: 7n }, { reference: 'cart 7' }].flatMap((filter) =>
    [undefined, BigInt(ORDERS / 2)].map((after) => ({ state, ...filter, after })),
  ),
)

/** The statement for a page. */
async function statementOf(filter: OrderFilter, database: SqlDatabase, clock: StoreClock) {
  let asked: AskedStatement | undefined
  const listening: SqlDatabase = {
    dialect: database.dialect,
    commit: unasked,
    openLongSession: unasked,
    rows: async (text, ...values) => {
      asked = { text, values }
      return []
    },
  }
  await orderMethods(listening, clock).listOrders(filter, LIMIT)
  if (asked === undefined) throw new Error('nothing was asked')
  return asked
}

function unasked(): never {
  throw new Error('a page is read by one statement')
}

test('on SQLite every page of orders follows an index in its order', async () => {
  await (await openStore(`sqlite:${file.path}`, { tables: 'migrate' })).close()
  const database = Connection.open(file.path)
  for (const filter of FILTERS) {
    const { text, values } = await statementOf(filter, database, {
      nowSql: (processTime) => processTime,
      isCredible: () => true,
      processTime: () => 1,
    })
    const plan = await database.rows<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, ...values)
    const steps = plan
      .map(({ detail }) => detail)
      .filter((detail) => / (orders|order_lines|log)\b/.test(detail))
    expect(steps.length).toBeGreaterThan(0)
    // It starts at the page's first order, or reads the few expired holds that are not recorded yet. Then it reads each order.
    const walk =
      /\((rowid=\?|order_id=\?|reverses=\?|((reference|pet_id)=\? AND )?(state=\? AND (order_)?id>\?|hold_until<\?))\)$/
    expect(steps.filter((detail) => !detail.startsWith('SEARCH') || !walk.test(detail))).toEqual([])
  }
  await database.close()
})

test('on PostgreSQL no page of orders reads many more rows than it returns, whatever the table size', async () => {
  const test = await createDatabase()
  const store = await openStore(test.url, { tables: 'migrate' })
  const connection = new PostgresConnection(test.url, DEFAULT_POSTGRES_SETTINGS)
  try {
    await test.run(`INSERT INTO orders (id, state, created_at, customer, customer_words, reference)
      SELECT id, coalesce((ARRAY['open', 'complete', 'expired'])[1 + id % 1000], 'cancelled'), 1, 'Anna Smith', 'anna smith',
        'cart ' || CASE WHEN id % 1000 < 3 THEN 7 ELSE id % ${PETS} END
      FROM generate_series(1, ${ORDERS}) AS id`)
    await test.run(`INSERT INTO order_lines (order_id, pet_id, quantity, state)
      SELECT id, CAST(substr(reference, 6) AS bigint), 1, state FROM orders`)
    await test.run('ANALYZE orders, order_lines')
    // Among the many cancelled ones the next are near, whichever plan is chosen.
    for (const filter of FILTERS.filter(({ state }) => state !== 'cancelled')) {
      const statement = await statementOf(filter, connection, storeClock())
      const shown = (await store.listOrders(filter, LIMIT)).length
      expect([filter, shown]).toEqual([filter, LIMIT])
      const parts = filter.state === undefined ? 2 : 1
      for (const table of ['orders', 'order_lines']) {
        const read = await countRowsRead(connection, table, statement)
        expect([filter, table, read <= 3 * parts * LIMIT, read]).toEqual([filter, table, true, read])
      }
    }
  } finally {
    await connection.close()
    await store.close()
    await test.drop()
  }
})
