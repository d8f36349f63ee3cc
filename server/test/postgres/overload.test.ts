import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PetsLockedError } from '../../src/core/stock/stock-store.ts'
import { Connection } from '../../src/store/postgres/connection.ts'
import { CATALOG_LOCK } from '../../src/store/postgres/dialect.ts'
import { ReadinessCheck } from '../../src/store/postgres/health.ts'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import { serveTuned } from '../cli/running-petstore.ts'
import { change as countOf } from '../store/plain-rows.ts'
import { FreezingProxy } from '../support/freezing-proxy.ts'
import { createDatabase, type PostgresDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { PET_IDS, stockUp } from './shop.ts'

setDefaultTimeout(120_000)

let database: PostgresDatabase
let key: string
beforeAll(async () => {
  database = await createDatabase()
  key = await stockUp(database.url)
})
afterAll(() => database.drop())

/** The rows are locked for as long as the test needs. */
function servePatiently() {
  const constants = { postgres: { statementTimeoutSeconds: 60 } }
  return serveTuned(constants, { cwd: '/', env: { DATABASE_URL: database.url } })
}

const change = (quantity: number) => ({ method: 'PATCH', body: JSON.stringify({ quantity }) })

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('the readiness check of a role without a free connection', () => {
  const role = `petstore_${crypto.randomUUID().replaceAll('-', '')}`
  let connection: Connection
  beforeAll(async () => {
    await database.run(`
      CREATE ROLE ${role} LOGIN PASSWORD 'petstore' CONNECTION LIMIT 1;
      GRANT pg_read_all_data, pg_write_all_data TO ${role}`)
    const url = new URL(database.url)
    url.username = role
    url.password = 'petstore'
    connection = new Connection(url.href, { ...DEFAULT_POSTGRES_SETTINGS, poolSize: 1 })
    await connection.connect()
  })
  afterAll(async () => {
    await connection.close()
    await until(async () => {
      const sessions = await database.run(`SELECT FROM pg_stat_activity WHERE usename = '${role}'`)
      return sessions.length === 0
    })
    await database.run(`DROP ROLE ${role}`)
  })

  test('borrows a session of the pool and returns it', async () => {
    const check = new ReadinessCheck(connection)
    await check.run()
    expect(await connection.rows('SELECT 1 AS one')).toHaveLength(1)
    await check.run()
    await check.close()
  })

  test('succeeds while other callers use all sessions, and disturbs none of them', async () => {
    const check = new ReadinessCheck(connection)
    const { lossCount } = connection
    const released = Promise.withResolvers<void>()
    const holder = connection.run(async (session) => {
      await released.promise
      return session`SELECT 7 AS seven`
    })
    await check.run()
    released.resolve()
    expect([...(await holder)]).toEqual([{ seven: 7 }])
    expect(connection.lossCount).toBe(lossCount)
    await check.run()
    await check.close()
  })
})

describe('when all sessions are in use', () => {
  test('a caller that finds none is refused, and nobody else notices', async () => {
    const connection = new Connection(database.url, { ...DEFAULT_POSTGRES_SETTINGS, poolSize: 1 })
    await connection.connect()
    const { lossCount } = connection
    const released = Promise.withResolvers<void>()
    const holder = connection.run(async (session) => {
      await released.promise
      return session`SELECT 7 AS seven`
    })
    expect(await failureOf(connection.rows('SELECT 1'))).toMatchObject({
      code: 'service_unavailable',
      message: 'the service is overloaded; try again shortly',
    })
    released.resolve()
    expect([...(await holder)]).toEqual([{ seven: 7 }])
    expect(await connection.rows('SELECT 1 AS one')).toHaveLength(1)
    expect(connection.lossCount).toBe(lossCount)
    await connection.close()
  })

  test('only the session that hangs is discarded', async () => {
    const url = new URL(database.url)
    const proxy = await FreezingProxy.open(Number(url.port))
    url.port = String(proxy.port)
    const settings = { ...DEFAULT_POSTGRES_SETTINGS, poolSize: 2, statementTimeoutSeconds: 5 }
    const connection = new Connection(url.href, settings)
    await connection.connect()
    const session = await connection.openLongSession()
    const released = Promise.withResolvers<void>()
    // It hangs on our side, as if the response were lost.
    const hanging = failureOf(connection.run(() => released.promise))
    expect(await hanging).toMatchObject({ code: 'service_unavailable' })
    await until(async () => (await failureOf(connection.rows('SELECT 1'))) === undefined)
    expect(await session.rows('SELECT 1 AS one')).toHaveLength(1)
    await session.close()
    await connection.close()
    proxy.close()
  })
})

test('a locked catalogue delays only the commands that need it', async () => {
  const service = await servePatiently()
  const other = database.connect()
  await other.unsafe(`BEGIN; SELECT pg_advisory_xact_lock(${CATALOG_LOCK})`)
  let renamed = 0
  const renames = PET_IDS.map(async (petId) => {
    const body = JSON.stringify({ name: `Renamed ${petId}` })
    const { status } = await service.call(`/pets/${petId}`, key, { method: 'PATCH', body })
    renamed++
    return status
  })
  // No pet of a rename, because the changes of a pet keep their order.
  const { status } = await service.call('/store/orders', key, {
    method: 'POST',
    body: '{"petId": 6, "quantity": 1}',
  })
  expect([status, renamed]).toEqual([404, 0])
  await other.unsafe('COMMIT')
  await other.close()
  expect(await Promise.all(renames)).toEqual(PET_IDS.map(() => 200))
  expect(await service.stop()).toBe(0)
})

describe('a pet locked by another process', () => {
  test('delays neither reads nor changes of other pets, however many want it', async () => {
    const service = await servePatiently()
    const other = database.connect()
    await other.unsafe('BEGIN; SELECT 1 FROM stock WHERE pet_id = ANY (ARRAY[1, 2, 3, 4]) FOR UPDATE')
    const settled: number[] = []
    const lockedPets = PET_IDS.filter((petId) => petId < 5)
    const waiting = lockedPets.flatMap((petId) =>
      Array.from({ length: 5 }, async (_, index) => {
        const { status } = await service.call(`/inventory/${petId}`, key, change(index))
        settled.push(petId)
        return status
      }),
    )
    for (let quantity = 1; quantity <= 20; quantity++) {
      expect((await service.call('/inventory/5', key, change(quantity))).status).toBe(200)
    }
    expect((await service.call('/inventory', key)).status).toBe(200)
    expect(settled).toEqual([])
    await other.unsafe('COMMIT')
    await other.close()
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([200]))
    expect(await service.stop()).toBe(0)
  })

  test('does not delay the release of expired holds of other pets', async () => {
    const service = await servePatiently()
    for (const petId of [1, 2]) {
      expect((await service.call(`/inventory/${petId}`, key, change(9))).status).toBe(200)
      const body = JSON.stringify({ petId, quantity: 1, holdSeconds: 3_600 })
      expect((await service.call('/store/orders', key, { method: 'POST', body })).status).toBe(201)
    }
    const openOrders = async (petId: number) => {
      const [row] = await database.run(
        `SELECT count(*) AS open FROM order_lines WHERE pet_id = ${petId} AND hold_until IS NOT NULL`,
      )
      return Number(row?.open)
    }
    const other = database.connect()
    await other.unsafe('BEGIN; SELECT 1 FROM stock WHERE pet_id = 1 FOR UPDATE')
    // Both expire at the same moment, so the same sweep releases them.
    await database.run(`BEGIN;
      UPDATE orders SET expires_at = expires_at - 7200000, hold_until = hold_until - 7200000;
      UPDATE order_lines SET hold_until = hold_until - 7200000;
      COMMIT`)
    await until(async () => (await openOrders(2)) === 0)
    expect(await openOrders(1)).toBe(1)
    await other.unsafe('COMMIT')
    await other.close()
    await until(async () => (await openOrders(1)) === 0)
    expect(await service.stop()).toBe(0)
  })

  test('is named when a brief wait for it ends, and nothing is changed', async () => {
    const settings = { ...DEFAULT_POSTGRES_SETTINGS, statementTimeoutSeconds: 2 }
    const store = await openPostgresStore(database.url, settings)
    const other = database.connect()
    await other.unsafe('BEGIN; SELECT 1 FROM stock WHERE pet_id = 1 FOR UPDATE')
    const requests = PET_IDS.map((petId) => countOf(BigInt(petId), 30))
    const failure = await failureOf(store.changeStock(requests, { lockWait: 'brief' }))
    expect(failure).toBeInstanceOf(PetsLockedError)
    expect(failure).toMatchObject({ petIds: new Set([1n]) })
    expect(await failureOf(store.changeStock(requests.slice(0, 1), { lockWait: 'full' }))).toMatchObject({
      code: 'service_unavailable',
      message: 'another process keeps the data locked; nothing was changed; try again shortly',
    })
    expect(await store.changeStock(requests.slice(1), { lockWait: 'brief' })).toHaveLength(PET_IDS.length - 1)
    await other.unsafe('COMMIT')
    await other.close()
    expect(await store.changeStock(requests)).toHaveLength(PET_IDS.length)
    await store.close()
  })
})
