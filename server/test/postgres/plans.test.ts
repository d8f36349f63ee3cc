import { expect, setDefaultTimeout, test } from 'bun:test'
import { ORDER_STATES } from '../../src/core/orders/order.ts'
import { Connection } from '../../src/store/postgres/connection.ts'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { createReadyDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(120_000)

const ORDERS = 5_000
const PETS = 1_000
const LOG_ROWS = 200_000
const ONE_SESSION = { ...DEFAULT_POSTGRES_SETTINGS, poolSize: 1 }
const ITS_SESSIONS = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'petstore'`

/** Every read of orders that callers can cause, and the sweep. */
async function readOrders(store: Store): Promise<number> {
  let found = 0
  for (const state of [undefined, ...ORDER_STATES])
    for (const petId of [undefined, 7n]) {
      const filter = { ...(state === undefined ? {} : { state }), ...(petId === undefined ? {} : { petId }) }
      found += (await store.listOrders(filter, 3)).length
    }
  await store.findAvailability(7n)
  await store.expiredHolds(10)
  return found
}

/** Ends the store, because a session reports its reads at the latest when it ends. Returns a sum of the statistic. */
async function readsOf(
  store: Store,
  database: TestDatabase,
  statistic: string,
  tables: readonly string[],
): Promise<number> {
  await store.close()
  await until(async () => (await database.run(ITS_SESSIONS)).length === 0)
  const names = tables.map((name) => `'${name}'`).join()
  const rows = await database.run(
    `SELECT sum(${statistic}) AS reads FROM pg_stat_user_tables WHERE relname IN (${names})`,
  )
  return Number(rows[0]?.reads)
}

test('a session that planned without orders does not scan all of them once there are thousands', async () => {
  const database = await createReadyDatabase()
  try {
    const store = await openPostgresStore(database.url, ONE_SESSION)
    // As vacuumdb leaves it: before, PostgreSQL assumes that an empty table has some pages.
    await database.run('VACUUM ANALYZE orders, order_lines')
    expect(await readOrders(store)).toBe(0)
    const state = `(ARRAY['${ORDER_STATES.join("','")}'])[1 + id / ${PETS} % 4]`
    const ids = `generate_series(1, ${ORDERS}) AS id`
    await database.run(`INSERT INTO orders (id, state, created_at) SELECT id, ${state}, 1 FROM ${ids}`)
    await database.run(
      `INSERT INTO order_lines (order_id, pet_id, quantity, state) SELECT id, id % ${PETS}, 1, ${state} FROM ${ids}`,
    )
    expect(await readOrders(store)).toBe(23)
    expect(await readsOf(store, database, 'seq_tup_read', ['orders', 'order_lines'])).toBe(0)
  } finally {
    await database.drop()
  }
})

test.each([
  ['orders', 'id = 1', 'orders_pkey'],
  ['order_lines', 'order_id = 1', 'order_lines_pkey'],
  ['order_lines', "pet_id = 1 AND state = 'open' AND order_id > 1", 'order_lines_by_pet'],
  ['order_lines', 'pet_id = 1 AND hold_until < 1', 'order_lines_held'],
])(
  '%s with %s are found by %s, even if the statistics are those of an empty table',
  async (table, condition, index) => {
    const database = await createReadyDatabase()
    const connection = new Connection(database.url, ONE_SESSION)
    try {
      await database.run(`VACUUM ANALYZE ${table}`)
      const plan = await connection.rows<object>(`EXPLAIN SELECT * FROM ${table} WHERE ${condition}`)
      expect(JSON.stringify(plan)).toContain(`using ${index} `)
    } finally {
      await connection.close()
      await database.drop()
    }
  },
)

test('a page of adjustments with several lines does not scan the log', async () => {
  const database = await createReadyDatabase()
  try {
    await database.run(`INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, document, delta, detail)
      SELECT id, 'change', 1 + id % 2, 0, 1, 'available', id, 'key_a', id - id % 2, 1,
        CASE id % 2 WHEN 0 THEN '{"lines":2}' END FROM generate_series(2, ${LOG_ROWS + 1}) AS id`)
    await database.run('VACUUM ANALYZE log')
    const readsOfLog = (store: Store) => readsOf(store, database, 'seq_tup_read + idx_tup_fetch', ['log'])
    const earlierReads = await readsOfLog(await openPostgresStore(database.url, ONE_SESSION))
    const store = await openPostgresStore(database.url, ONE_SESSION)
    const { rows } = await store.listAdjustments(200, undefined, {})
    expect(rows.map(({ lines }) => lines.length)).toEqual(Array.from({ length: 200 }, () => 2))
    expect((await readsOfLog(store)) - earlierReads).toBeLessThan(LOG_ROWS / 20)
  } finally {
    await database.drop()
  }
})
