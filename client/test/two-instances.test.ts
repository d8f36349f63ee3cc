import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startInstances, stockUp } from '../../server/test/postgres/shop.ts'
import { createDatabase, type TestDatabase } from '../../server/test/support/postgres-databases.ts'
import { growth } from './support/concurrent-adjustments.ts'

setDefaultTimeout(120_000)

let database: TestDatabase
let apiKey: string
let instances: Awaited<ReturnType<typeof startInstances>>
beforeAll(async () => {
  database = await createDatabase()
  apiKey = await stockUp(database.url)
  instances = await startInstances(database.url, 2)
})
afterAll(async () => {
  await Promise.all(instances.map((instance) => instance.stop()))
  await database.drop()
})

test('50 callers of two instances each add 1 to the same pet 20 times: its quantity grows by 1,000', async () => {
  const baseUrls = instances.map(({ address }) => `${address}/v1`)
  expect(await growth({ baseUrls, apiKey, petId: 1n, callers: 50, timesEach: 20 })).toBe(1_000)
})
