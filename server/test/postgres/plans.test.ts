import { expect, setDefaultTimeout, test } from 'bun:test'
import { ORDER_STATES } from '../../src/core/orders/order.ts'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { orderWith, patchOrder } from '../support/orders.ts'
import { createReadyDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(120_000)

const ORDERS = 5_000
const PETS = 1_000
const ITS_SESSIONS = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'petstore'`

/** Every read of orders that callers can cause, a change, and the sweep. */
async function readOrders(store: Store): Promise<number> {
  let found = 0
  for (const state of [undefined, ...ORDER_STATES])
    for (const petId of [undefined, 7n]) {
      const filter = { ...(state === undefined ? {} : { state }), ...(petId === undefined ? {} : { petId }) }
      found += (await store.listOrders(filter, 3)).length
    }
  await store.findAvailability(7n)
  await store.changeStock([patchOrder(orderWith({}, [1n, 1]), { note: null })])
  await store.expiredHolds(10)
  return found
}

/** A few for each order that is read. The scan of a whole index reads dozens. */
async function indexBlocksRead(database: TestDatabase): Promise<number> {
  const rows = await database.run(
    `SELECT sum(idx_blks_read + idx_blks_hit) AS blocks FROM pg_statio_user_indexes
      WHERE relname IN ('orders', 'order_lines')`,
  )
  return Number(rows[0]?.blocks)
}

async function tuplesReadAsAWhole(database: TestDatabase): Promise<number> {
  const rows = await database.run(
    "SELECT sum(seq_tup_read) AS seq_tup_read FROM pg_stat_user_tables WHERE relname IN ('orders', 'order_lines')",
  )
  return Number(rows[0]?.seq_tup_read)
}

test('a session that planned without orders does not scan all of them once there are thousands', async () => {
  const database = await createReadyDatabase()
  try {
    const store = await openPostgresStore(database.url, { ...DEFAULT_POSTGRES_SETTINGS, poolSize: 1 })
    // As vacuumdb leaves it: before, PostgreSQL assumes that an empty table has some pages.
    await database.run('VACUUM ANALYZE orders, order_lines')
    expect(await readOrders(store)).toBe(0)
    await database.run(`INSERT INTO orders (id, state, created_at)
      SELECT id, (ARRAY['${ORDER_STATES.join("','")}'])[1 + id / ${PETS} % 4], 1
      FROM generate_series(1, ${ORDERS}) AS id`)
    await database.run(
      `INSERT INTO order_lines (order_id, pet_id, quantity, state)
        SELECT id, id % ${PETS}, 1, (ARRAY['${ORDER_STATES.join("','")}'])[1 + id / ${PETS} % 4]
        FROM generate_series(1, ${ORDERS}) AS id`,
    )
    await database.run('SELECT pg_stat_reset()')
    expect(await readOrders(store)).toBe(23)
    // A session reports its reads at the latest when it ends.
    await store.close()
    await until(async () => (await database.run(ITS_SESSIONS)).length === 0)
    expect(await tuplesReadAsAWhole(database)).toBe(0)
    expect(await indexBlocksRead(database)).toBeLessThan(1_000)
  } finally {
    await database.drop()
  }
})
