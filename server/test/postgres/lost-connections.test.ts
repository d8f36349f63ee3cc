import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createSecret, toStoredSecret } from '../../src/core/keys/api-key.ts'
import { SECOND } from '../../src/core/values/clock.ts'
import { Connection } from '../../src/store/postgres/connection.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { serve, serveTuned } from '../cli/running-petstore.ts'
import { FreezingProxy } from '../support/freezing-proxy.ts'
import { createDatabase, type PostgresDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { stockUp } from './shop.ts'

setDefaultTimeout(120_000)

let database: PostgresDatabase
let key: string
beforeAll(async () => {
  database = await createDatabase()
  key = await stockUp(database.url)
})
afterAll(() => database.drop())

const change = (quantity: number) => ({
  method: 'PATCH',
  body: JSON.stringify({ quantity }),
})

/** Far longer than the test may take. */
const HOUR_SECONDS = 3_600

async function connectThroughProxy({ poolSize }: { readonly poolSize: number }) {
  const url = new URL(database.url)
  const proxy = await FreezingProxy.open(Number(url.port))
  url.port = String(proxy.port)
  const timeouts = { connectTimeoutSeconds: HOUR_SECONDS, statementTimeoutSeconds: HOUR_SECONDS }
  const connection = new Connection(url.href, { poolSize, ...timeouts })
  await connection.connect()
  return { connection, proxy }
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

describe('connections to PostgreSQL', () => {
  test('that are all cut at once are reopened without a restart', async () => {
    const service = await serve([], { cwd: '/', env: { DATABASE_URL: database.url } })
    expect((await service.call('/inventory/1', key, change(1))).status).toBe(200)
    for (let round = 0; round < 3; round++) {
      await database.run(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      )
      let status = 0
      while (status !== 200) {
        status = (await service.call('/inventory/1', key, change(10 + round))).status
        expect([200, 503]).toContain(status)
      }
    }
    expect(await service.stop()).toBe(0)
  })

  test('in a network that drops packets fail after a timeout, then at once, and recover', async () => {
    const proxy = await FreezingProxy.open(Number(new URL(database.url).port))
    const url = new URL(database.url)
    url.port = String(proxy.port)
    const service = await serveTuned(
      { postgres: { statementTimeoutSeconds: 5 } },
      { cwd: '/', env: { DATABASE_URL: url.href } },
    )
    expect((await service.call('/inventory/1', key, change(20))).status).toBe(200)
    proxy.freeze()
    const timed = async (quantity: number) => {
      const began = performance.now()
      const response = await service.call('/inventory/1', key, change(quantity))
      return { status: response.status, ms: performance.now() - began }
    }
    // Without our timeout it would wait for as long as the network is frozen.
    expect((await timed(21)).status).toBe(503)
    // From then on no request waits for the timeout.
    await until(async () => {
      const { status, ms } = await timed(22)
      expect(status).toBe(503)
      return ms < 4_000
    })
    expect((await fetch(`${service.address}/readyz`)).status).toBe(503)
    proxy.thaw()
    await until(async () => (await timed(23)).status === 200)
    expect(await service.stop()).toBe(0)
    proxy.close()
  })

  const READS = [
    [
      'searches',
      (store: Store) =>
        store.searchPets({ order: { by: 'petId', isDescending: false } }, { after: undefined, limit: 9 }),
    ],
    ['the load of the stock', (store: Store) => store.loadStock(() => {})],
    [
      'changes of keys',
      (store: Store) => store.pairKey('unknown', toStoredSecret(createSecret('production'), 0), 0),
    ],
  ] as const

  test.each(READS)('in a network that drops packets do not keep %s waiting for ever', async (_, read) => {
    const url = new URL(database.url)
    const proxy = await FreezingProxy.open(Number(url.port))
    url.port = String(proxy.port)
    const timeouts = { connectTimeoutSeconds: 5, statementTimeoutSeconds: 2 }
    const store = await openPostgresStore(url.href, { poolSize: 2, ...timeouts })
    const failure = () => failureOf(read(store))
    await until(async () => (await failure()) === undefined)
    proxy.freeze()
    expect(await failure()).toMatchObject({
      message: 'the database cannot answer at the moment; try again shortly',
    })
    proxy.thaw()
    await until(async () => (await failure()) === undefined)
    await store.close()
    proxy.close()
  })

  test('that are lost and not restored: waiting requests are refused long before the timeouts', async () => {
    const { connection, proxy } = await connectThroughProxy({ poolSize: 2 })
    const [own] = await connection.rows<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const underWay = failureOf(connection.rows('SELECT pg_sleep(3600)'))
    proxy.slowDown(HOUR_SECONDS * SECOND)
    const waiting = failureOf(connection.rows('SELECT 1'))
    await database.run(`SELECT pg_terminate_backend(${own?.pid})`)
    expect(await underWay).toMatchObject({ code: 'service_unavailable' })
    expect(await waiting).toMatchObject({ code: 'service_unavailable' })
    proxy.slowDown(0)
    await until(async () => (await failureOf(connection.rows('SELECT 1'))) === undefined)
    await connection.close()
    proxy.close()
  })

  test('that the server does not grant do not count as lost: the service continues with the others', async () => {
    const { connection, proxy } = await connectThroughProxy({ poolSize: 3 })
    const { lossCount } = connection
    proxy.switchTo(1)
    const rows = () => connection.rows('SELECT pg_backend_pid() AS pid')
    const [first, ...others] = await Promise.all([rows(), rows(), rows(), rows()])
    for (const other of others) expect(other).toEqual(first)
    expect(connection.lossCount).toBe(lossCount)
    await connection.close()
    proxy.close()
  })
})

test('a transaction whose COMMIT was sent into a dead network has an unknown outcome', async () => {
  const url = new URL(database.url)
  const proxy = await FreezingProxy.open(Number(url.port))
  url.port = String(proxy.port)
  const timeouts = { connectTimeoutSeconds: 5, statementTimeoutSeconds: 1 }
  const connection = new Connection(url.href, { poolSize: 1, ...timeouts })
  await connection.connect()
  const update = "UPDATE pets SET name = 'Lost' WHERE id = 2"
  const freeze = () => {
    proxy.freeze()
    return undefined
  }
  expect(
    await failureOf(connection.readThenWrite('durable', (session) => session.unsafe(update), freeze)),
  ).toMatchObject({ message: expect.stringContaining('it is unknown whether the change was made') })
  await connection.close()
  proxy.close()
})
