import { expect, test } from 'bun:test'
import { ServiceError } from '../../server/src/core/values/errors.ts'
import { historyOf } from '../../server/test/support/whole-store.ts'
import { PetstoreClient } from '../src/index.ts'
import { failureOf } from './support/failure-of.ts'
import { FaultyFetch } from './support/faulty-fetch.ts'
import { clientOf, liveService, stopServicesAfterEach } from './support/live-service.ts'
import { recordedSleeps } from './support/recorded-sleeps.ts'
import { VirtualTime } from './support/virtual-time.ts'

stopServicesAfterEach()

test('a broken connection is tried again with exponential back-off and full jitter', async () => {
  const service = await liveService()
  const { sleeps, options } = recordedSleeps()
  const faulty = new FaultyFetch(['before', 'before', 'after', 'before'])
  const client = clientOf(service, { ...options, fetch: faulty.fetch })
  expect(await client.getInventoryItem(1n)).toMatchObject({ quantity: 4 })
  expect(sleeps).toEqual([150, 300, 600, 1200])
})

test('an answer that is cut short is tried again', async () => {
  const service = await liveService()
  const { options } = recordedSleeps()
  const faulty = new FaultyFetch(['midway'])
  const client = clientOf(service, { ...options, fetch: faulty.fetch })
  expect(await client.listInventory()).toHaveLength(5)
  expect(faulty.calls).toBe(2)
})

test('it gives up at the limit and says so', async () => {
  const { sleeps, options } = recordedSleeps()
  const client = new PetstoreClient({
    baseUrl: 'http://127.0.0.1:1/v1',
    apiKey: 'k',
    retry: { limit: 2 },
    ...options,
  })
  const error = await failureOf(client.listOrderPage())
  expect(error).toMatchObject({ code: 'connection_failed', status: undefined })
  expect(error.message).toMatch(
    /^GET \/store\/orders got no answer.*; this was attempt 3, 0\.5 s after the first$/,
  )
  expect(error.cause).toBeInstanceOf(Error)
  expect(sleeps).toHaveLength(2)
})

test('it gives up where the next attempt would be past the deadline', async () => {
  const { sleeps, options } = recordedSleeps()
  const retry = { limit: 100, deadlineMs: 2_000 }
  const client = new PetstoreClient({ baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k', retry, ...options })
  expect(await failureOf(client.listOrderPage())).toMatchObject({ code: 'connection_failed' })
  expect(sleeps).toEqual([150, 300, 600])
})

test('a 503 is tried again after its Retry-After', async () => {
  let failures = 2
  const service = await liveService({
    wrapStore: (store) => ({
      ...store,
      listOrders: (...wanted) => {
        if (failures-- > 0) throw new ServiceError('service_unavailable', 'the database is away')
        return store.listOrders(...wanted)
      },
    }),
  })
  const { sleeps, options } = recordedSleeps()
  const statuses: number[] = []
  const client = clientOf(service, { ...options, onResponse: ({ status }) => statuses.push(status) })
  expect((await client.listOrderPage()).items).toHaveLength(2)
  expect(statuses).toEqual([503, 503, 200])
  expect(sleeps).toEqual([1000, 1000])
})

test('a 404, a 400 and a 412 are not tried again', async () => {
  const service = await liveService()
  const faulty = new FaultyFetch([])
  const client = clientOf(service, { fetch: faulty.fetch })
  await failureOf(client.getPet(404n))
  await failureOf(client.updateInventory(1n, { quantity: -1 }))
  await failureOf(client.updateInventory(1n, { quantity: 1 }, { ifMatch: '"0-sold"' }))
  expect(faulty.calls).toBe(3)
})

test('a dead connection counts as broken after the timeout', async () => {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  const { sleeps, options } = recordedSleeps()
  const client = new PetstoreClient({
    baseUrl: `http://127.0.0.1:${silent.port}/v1`,
    apiKey: 'k',
    timeoutMs: 20,
    retry: { limit: 1 },
    ...options,
  })
  expect((await failureOf(client.listInventory())).message).toContain('nothing came within 20 ms')
  expect(sleeps).toHaveLength(1)
  silent.stop(true)
})

test('an update with ifMatch whose answer was lost gets that answer, whatever happened since', async () => {
  const service = await liveService()
  const { options } = recordedSleeps()
  const faulty = new FaultyFetch(['after'], () => service.setQuantity(1n, '{"quantity": 9}'))
  const client = clientOf(service, { ...options, fetch: faulty.fetch })
  const changed = await client.updateInventory(1n, { quantity: 5 }, { ifMatch: '"4-available"' })
  expect(changed).toEqual({ petId: 1n, quantity: 5, status: 'available', etag: '"5-available"' })
  expect(faulty.calls).toBe(2)
  expect(await historyOf(service.store, 1n)).toMatchObject([{ after: 5 }, { after: 9 }])
})

test('an aborted signal ends a call wherever it is: before it, on the way, while it waits to try again', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const gone = AbortSignal.abort(new Error('never mind'))
  await expect(client.listInventory({ signal: gone })).rejects.toThrow('never mind')
  const adjustment = { reason: 'sold', signal: gone } as const
  await expect(client.adjustInventory({ petId: 1n, delta: 1 }, adjustment)).rejects.toThrow('never mind')

  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  for (const port of [silent.port, 1]) {
    const stop = new AbortController()
    const waiting = new PetstoreClient({
      baseUrl: `http://127.0.0.1:${port}/v1`,
      apiKey: 'k',
      random: () => 1,
    })
    const call = waiting.listInventory({ signal: stop.signal })
    setTimeout(() => stop.abort(new Error('enough')), 30)
    await expect(call).rejects.toThrow('enough')
  }
  silent.stop(true)
})

test('an aborted call leaves the queue, and those behind it go on', async () => {
  const service = await liveService()
  const { secret } = await service.createKey('enterprise', { limits: { perMinute: 1, perDay: 100 } })
  const alarm = Promise.withResolvers<void>()
  const time = { ...new VirtualTime(service).options, sleep: () => alarm.promise }
  const client = clientOf(service, { apiKey: secret, pace: true, ...time })
  await client.listInventory()
  const stop = new AbortController()
  const { signal } = stop
  const aborted = Promise.allSettled([client.listInventory({ signal }), client.listOrderPage({ signal })])
  const behind = client.listInventory()
  stop.abort(new Error('enough'))
  expect((await aborted).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  service.now += 60_000
  alarm.resolve()
  expect(await behind).toHaveLength(5)
})
