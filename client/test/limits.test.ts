import { expect, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import { isPetstoreError } from '../src/index.ts'
import { clientOf } from './support/live-service.ts'
import { VirtualTime } from './support/virtual-time.ts'

const CALLS = Array.from({ length: 150 }, (_, index) => index)

async function freeClient() {
  const service = await TestService.start()
  const time = new VirtualTime(service)
  const { secret } = await service.createKey('free')
  return { service, time, secret, client: clientOf(service, { apiKey: secret, ...time.options }) }
}

test('150 calls at once with a Free key all succeed after waiting, nothing is sent before Retry-After has passed, no ban', async () => {
  const { service, time, secret, client } = await freeClient()
  const start = service.now
  await Promise.all(CALLS.map(() => client.inventory.list()))
  const statuses = time.statuses()
  expect(statuses.filter((status) => status === 200)).toHaveLength(150)
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0)
  expect(time.sentTooEarly()).toEqual([])
  // A ban would have lasted for 5 minutes.
  expect(service.now - start).toBeLessThan(180_000)
  const after = await service.call('GET', '/inventory', { key: secret })
  expect(after.status).toBe(200)
})

test('a call that is made during a Retry-After is not sent before it has passed', async () => {
  const { service, time, secret, client } = await freeClient()
  for (let count = 0; count < 60; count++) await service.call('GET', '/inventory', { key: secret })
  const first = client.inventory.list().then()
  while (!time.statuses().includes(429)) await Bun.sleep(1)
  await Promise.all([first, client.orders.list(), client.inventory.get(1n)])
  expect(time.sentTooEarly()).toEqual([])
  expect(time.statuses()).toEqual([429, 200, 200, 200])
})

test('a wait past the total timeout fails at once, and later calls fail without being sent', async () => {
  const service = await TestService.start()
  const time = new VirtualTime(service)
  const { secret } = await service.createKey('enterprise', { limits: { perMinute: 10, perDay: 1 } })
  const client = clientOf(service, { apiKey: secret, ...time.options })
  await client.inventory.list()
  for (const sent of [1, 0, 0]) {
    const before = time.log.filter(({ kind }) => kind === 'sent').length
    const error: unknown = await client.inventory.list().catch((reason: unknown) => reason)
    if (!isPetstoreError(error, 'rate_limit_exceeded')) throw error
    expect(error.request).toBe('GET /inventory')
    if (sent === 0) {
      expect(error.message).toBe(
        'not sent: the service accepts the next request in 86400 s, and the call may take 300 s',
      )
    }
    expect(error.limits).toMatchObject({ limit: 1, remaining: 0 })
    expect(time.log.filter(({ kind }) => kind === 'sent').length - before).toBe(sent)
  }
})
