import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { fileURLToPath } from 'node:url'
import { SYSTEM_KEY_ID } from '../../src/core/stock/change-origin.ts'
import { ANSWERS_KEPT_MS } from '../../src/core/stock/decide.ts'
import { serve } from '../cli/running-petstore.ts'
import { createReadyDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { addKey, stockUp } from './shop.ts'

setDefaultTimeout(120_000)

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const DAY_AHEAD = [
  process.execPath,
  '--preload',
  fileOf('../support/day-ahead.ts'),
  fileOf('../../src/cli/main.ts'),
]
const MINUTE = 60_000
const NOW = 'CAST(extract(epoch FROM now()) * 1000 AS bigint)'

let database: TestDatabase
let key: string
let right: Awaited<ReturnType<typeof serve>>
let ahead: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  database = await createReadyDatabase()
  key = await stockUp(database.url)
  const options = { cwd: '/', env: { DATABASE_URL: database.url, LOG_REQUESTS: 'none' } }
  ;[right, ahead] = await Promise.all([serve([], options), serve([], { ...options, program: DAY_AHEAD })])
})
afterAll(async () => {
  await Promise.all([right.stop(), ahead.stop()])
  await database.drop()
})

const send = (instance: typeof right, method: string, path: string, body: object, idempotencyKey: string) =>
  fetch(`${instance.address}/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': idempotencyKey,
    },
    body: JSON.stringify(body),
  })

test("an instance whose clock is a day ahead replays another instance's responses, and removes none", async () => {
  const sell = (instance: typeof right) =>
    send(instance, 'PATCH', '/inventory/1', { quantity: 7 }, 'same-request')
  expect((await sell(right)).status).toBe(200)
  const again = await sell(ahead)
  expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([200, 'true'])
  // Once this old response is gone, the instance has looked for expired ones.
  await database.run(`INSERT INTO idempotency (key_id, key, fingerprint, answer, forget_at)
    VALUES ('key_old', 'old', '', '{}', ${NOW} - 3600000)`)
  await until(async () => (await database.run("SELECT FROM idempotency WHERE key = 'old'")).length === 0)
  expect(await database.run("SELECT key FROM idempotency WHERE key = 'same-request'")).toHaveLength(1)
})

test('its limits end when the database says', async () => {
  const secret = await addKey(database.url, { perMinute: 1, perDay: 1_000 })
  const secondsLeft = ({ headers }: Response) => Number(headers.get('X-RateLimit-Reset')) - Date.now() / 1_000
  expect(secondsLeft(await ahead.call('/inventory', secret))).toBeWithin(0, 61)
  const refused = await ahead.call('/inventory', secret)
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('Retry-After'))).toBeWithin(1, 61)
})

test('its stored times are those of the database', async () => {
  expect((await send(ahead, 'PATCH', '/inventory/2', { quantity: 3 }, 'a')).status).toBe(200)
  const order = { petId: 2, quantity: 1, holdSeconds: 3_600 }
  expect((await send(ahead, 'POST', '/store/orders', order, 'b')).status).toBe(201)
  const webhook = { url: 'https://93.184.216.34/', kinds: ['stock.changed'] }
  expect((await send(ahead, 'POST', '/webhooks', webhook, 'c')).status).toBe(201)
  const gaps = await database.run(`
    SELECT table_name, CAST(max(abs(at - ${NOW})) AS integer) AS gap FROM (
      SELECT 'log' AS table_name, at FROM log WHERE key_id <> '${SYSTEM_KEY_ID}' UNION ALL
      SELECT 'orders', created_at FROM orders UNION ALL
      SELECT 'webhooks', created_at FROM webhooks UNION ALL
      SELECT 'idempotency', forget_at - ${ANSWERS_KEPT_MS} FROM idempotency
    ) AS written GROUP BY table_name ORDER BY table_name`)
  expect(gaps.map(({ table_name }) => table_name)).toEqual(['idempotency', 'log', 'orders', 'webhooks'])
  for (const { gap } of gaps) expect(Number(gap)).toBeLessThan(10 * MINUTE)
})
