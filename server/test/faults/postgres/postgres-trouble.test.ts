import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type serve, serveTuned } from '../../cli/running-petstore.ts'
import { Load } from '../../postgres/load.ts'
import { PET_IDS, stockUp } from '../../postgres/shop.ts'
import { FreezingProxy } from '../../support/freezing-proxy.ts'
import { createDatabase, type TestDatabase } from '../../support/postgres-databases.ts'
import { until } from '../../support/until.ts'
import { UNAVAILABLE } from '../disk/faulty-shop.ts'

// A crash, cut or hanging connections, and locks: test/postgres/{outages,lost-connections}.test.ts.
setDefaultTimeout(120_000)

const ROLE = `shop_${crypto.randomUUID().slice(0, 8)}`
const HOUR_MS = 60 * 60 * 1_000
/** Enough time for every statement on a busy machine, but short enough to wait for. */
const TIMEOUT_SECONDS = 5

let database: TestDatabase
let proxy: FreezingProxy
let service: Awaited<ReturnType<typeof serve>>
/** Of all tests, so that each also checks the results of the previous ones. */
let load: Load

beforeAll(async () => {
  database = await createDatabase()
  await database.run(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'any'`)
  const url = new URL(database.url)
  await database.run(`ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${ROLE}`)
  proxy = await FreezingProxy.open(Number(url.port))
  url.username = ROLE
  url.password = 'any'
  const key = await stockUp(url.href)
  url.port = String(proxy.port)
  service = await serveTuned(
    { postgres: { statementTimeoutSeconds: TIMEOUT_SECONDS } },
    { cwd: '/', env: { DATABASE_URL: url.href } },
  )
  load = new Load({ key, petIds: PET_IDS, addresses: [service.address] })
})
afterAll(async () => {
  const exitCode = await service.stop()
  proxy.close()
  await database.drop()
  const other = await createDatabase()
  await other.run(`DROP ROLE ${ROLE}`)
  await other.drop()
  expect(exitCode).toBe(0)
})

/** Sends updates and reads by several concurrent callers; returns the statuses. */
const send = (requests: number) => load.sendPlain(8, (sent) => sent >= requests)

async function untilUpdatesAreTaken(): Promise<void> {
  while ((await send(8)).includes(503));
}

async function expectRefusedUpdate(): Promise<void> {
  const { status, headers, text } = await load.update(service.address)
  const refusal = { status, retryAfter: headers.get('Retry-After'), body: JSON.parse(text) }
  expect(refusal).toMatchObject(UNAVAILABLE)
}

/** The log is written in the background. */
async function untilLogged(text: string): Promise<void> {
  while (!service.output().includes(text)) await load.update(service.address)
}

/** Ends all connections of the service, and allows it this many new ones. */
async function allowConnections(count: number): Promise<void> {
  await database.run(`ALTER ROLE ${ROLE} CONNECTION LIMIT 0`)
  const own = `FROM pg_stat_activity WHERE usename = '${ROLE}'`
  while ((await database.run(`SELECT pg_terminate_backend(pid) ${own}`)).length > 0);
  await database.run(`ALTER ROLE ${ROLE} CONNECTION LIMIT ${count}`)
}

describe('when PostgreSQL grants no more connections', () => {
  test('none: everything is refused at once with the Error body, and recovers by itself', async () => {
    await allowConnections(0)
    await send(50)
    await expectRefusedUpdate()
    await until(async () => (await fetch(`${service.address}/readyz`)).status === 503)
    await untilLogged('too many connections for role')
    await database.run(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`)
    await untilUpdatesAreTaken()
    expect(await load.violations(database.url)).toEqual([])
  })

  test('fewer than the pool wants: it continues with those it gets', async () => {
    await allowConnections(2)
    await untilUpdatesAreTaken()
    await send(200)
    await until(async () => (await fetch(`${service.address}/readyz`)).status === 200)
    await database.run(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`)
    await untilUpdatesAreTaken()
    expect(await load.violations(database.url)).toEqual([])
  })
})

describe('when PostgreSQL is slow', () => {
  test('everything is answered, later', async () => {
    proxy.slowDown(20)
    expect(await send(60)).toEqual([200])
    expect(await load.violations(database.url)).toEqual([])
  })

  test('slower than the timeouts: requests are refused in time, and it recovers once PostgreSQL is fast again', async () => {
    // Without the timeouts the update would exceed the timeout of the test.
    proxy.slowDown(HOUR_MS)
    await expectRefusedUpdate()
    proxy.slowDown(0)
    await untilUpdatesAreTaken()
    expect(await send(60)).toEqual([200])
    expect(await load.violations(database.url)).toEqual([])
  })
})
