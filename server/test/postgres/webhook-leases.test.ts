import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { addWebhook } from '../support/add-webhook.ts'
import { createReadyDatabase, type TestDatabase } from '../support/postgres-databases.ts'

setDefaultTimeout(120_000)

const LEASE_MS = 8_000
let now = Date.UTC(2026, 10, 15, 12)
let database: TestDatabase
let stores: readonly [Store, Store]
beforeAll(async () => {
  database = await createReadyDatabase()
  const open = () => openPostgresStore(database.url, { ...DEFAULT_POSTGRES_SETTINGS, clock: () => now })
  stores = [await open(), await open()]
})
afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()))
  await database.drop()
})

test('one process at a time has the lease of a webhook, also after the clock was set back', async () => {
  const [first, second] = stores
  await addWebhook(first, { id: 1n, url: 'http://127.0.0.1:9/' })
  expect(await first.leaseWebhooks(LEASE_MS)).toHaveLength(1)
  expect(await second.leaseWebhooks(LEASE_MS)).toEqual([])
  // The first process is gone. Its lease would last for another hour.
  now -= 3_600_000
  expect(await second.leaseWebhooks(LEASE_MS)).toHaveLength(1)
  expect(await first.leaseWebhooks(LEASE_MS)).toEqual([])
  now += LEASE_MS + 1
  expect(await first.leaseWebhooks(LEASE_MS)).toHaveLength(1)
})
