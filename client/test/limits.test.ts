import { expect, test } from 'bun:test'
import { isPetstoreError } from '../src/index.ts'
import { clientOf, liveService, stopServicesAfterEach } from './support/live-service.ts'
import { VirtualTime } from './support/virtual-time.ts'

stopServicesAfterEach()

const CALLS = Array.from({ length: 150 }, (_, index) => index)

async function freeClient(pace: boolean) {
  const service = await liveService()
  const time = new VirtualTime(service)
  const { secret } = await service.createKey('free')
  return { service, time, secret, client: clientOf(service, { apiKey: secret, pace, ...time.options }) }
}

test('a Free key and 150 paced calls at once: all succeed and none is refused', async () => {
  const { service, time, client } = await freeClient(true)
  const start = service.now
  await Promise.all(CALLS.map(() => client.listInventory()))
  expect(time.statuses()).toEqual(CALLS.map(() => 200))
  expect(service.now - start).toBe(120_000)
})

test('a Free key and 150 paced calls one after the other: the same', async () => {
  const { service, time, client } = await freeClient(true)
  const start = service.now
  for (const _ of CALLS) await client.getInventoryItem(1n)
  expect(time.statuses()).toEqual(CALLS.map(() => 200))
  expect(service.now - start).toBe(120_000)
})

test('without pacing all 150 succeed after waiting, nothing is sent before Retry-After has passed, no ban', async () => {
  const { service, time, secret, client } = await freeClient(false)
  const start = service.now
  await Promise.all(CALLS.map(() => client.listInventory()))
  const statuses = time.statuses()
  expect(statuses.filter((status) => status === 200)).toHaveLength(150)
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0)
  expect(time.sentTooEarly()).toEqual([])
  // A ban would have lasted for 5 minutes.
  expect(service.now - start).toBeLessThan(180_000)
  const after = await service.call('GET', '/inventory', { key: secret })
  expect(after.status).toBe(200)
})

test('pacing keeps to the limit of the day as well', async () => {
  const service = await liveService()
  const time = new VirtualTime(service)
  const start = service.now
  const { secret } = await service.createKey('enterprise', { limits: { perMinute: 40, perDay: 100 } })
  const retry = { deadlineMs: Number.POSITIVE_INFINITY }
  const client = clientOf(service, { apiKey: secret, pace: true, retry, ...time.options })
  await Promise.all(CALLS.map(() => client.listInventory()))
  expect(time.statuses()).toEqual(CALLS.map(() => 200))
  expect(service.now - start).toBeGreaterThanOrEqual(86_400_000)
})

test('pacing follows what the headers say where somebody else uses the key too', async () => {
  const { service, time, secret, client } = await freeClient(true)
  await client.listInventory()
  for (let count = 0; count < 40; count++) await service.call('GET', '/inventory', { key: secret })
  for (let count = 0; count < 60; count++) await client.listInventory()
  expect(time.statuses()).not.toContain(429)
})

test('a call made while another was told to wait is not sent before that', async () => {
  const { service, time, secret, client } = await freeClient(false)
  for (let count = 0; count < 60; count++) await service.call('GET', '/inventory', { key: secret })
  const first = client.listInventory()
  while (!time.statuses().includes(429)) await Bun.sleep(1)
  await Promise.all([first, client.listOrderPage(), client.getInventoryItem(1n)])
  expect(time.sentTooEarly()).toEqual([])
  expect(time.statuses()).toEqual([429, 200, 200, 200])
})

test('a wait past the deadline fails at once, and later calls fail without being sent', async () => {
  const service = await liveService()
  const time = new VirtualTime(service)
  const { secret } = await service.createKey('enterprise', { limits: { perMinute: 10, perDay: 1 } })
  const client = clientOf(service, { apiKey: secret, ...time.options })
  await client.listInventory()
  for (const sent of [1, 0, 0]) {
    const before = time.log.filter(({ kind }) => kind === 'sent').length
    const error: unknown = await client.listInventory().catch((reason: unknown) => reason)
    if (!isPetstoreError(error, 'rate_limit_exceeded')) throw error
    expect(error.message).toContain('was not sent: the next request may go in 86400 s')
    expect(error.message).toStartWith('GET /inventory ')
    expect(error.limits).toMatchObject({ limit: 1, remaining: 0 })
    expect(time.log.filter(({ kind }) => kind === 'sent').length - before).toBe(sent)
  }
})
