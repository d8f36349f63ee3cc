import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { startInstances, stockUp } from '../../server/test/postgres/shop.ts'
import { createDatabase, type TestDatabase } from '../../server/test/support/postgres-databases.ts'
import { byAdjustment, byPlainUpdate, growth } from './support/concurrent-adjustments.ts'

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

const contention = () => ({
  baseUrls: instances.map(({ address }) => `${address}/v1`),
  apiKey,
  callers: 50,
  timesEach: 20,
})

test('50 callers of two instances each add 1 to the same pet 20 times: its quantity grows by 1,000', async () => {
  expect(await growth({ ...contention(), petId: 1n }, byAdjustment)).toBe(1_000)
})

test('the same with a plain read and update loses additions', async () => {
  expect(await growth({ ...contention(), petId: 2n }, byPlainUpdate)).toBeLessThan(1_000)
})
