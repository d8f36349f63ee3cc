import { expect, test } from 'bun:test'
import { ServiceError } from '../../server/src/core/values/errors.ts'
import { TestService } from '../../server/test/support/test-service.ts'
import { historyOf } from '../../server/test/support/whole-store.ts'
import { etagOf } from '../src/index.ts'
import { failureOf } from './support/failure-of.ts'
import { FaultyFetch } from './support/faulty-fetch.ts'
import { clientAt, clientOf, startClient } from './support/live-service.ts'
import { recordedSleeps } from './support/recorded-sleeps.ts'

test('a broken connection is retried with exponential back-off and full jitter', async () => {
  const service = await TestService.start()
  const { sleeps, options } = recordedSleeps()
  const faulty = new FaultyFetch(['before', 'before', 'after', 'before'])
  const client = clientOf(service, { ...options, fetch: faulty.fetch })
  expect(await client.inventory.get(1n)).toMatchObject({ quantity: 4 })
  expect(sleeps).toEqual([150, 300, 600, 1200])
})

test('an incomplete response is retried', async () => {
  const service = await TestService.start()
  const { options } = recordedSleeps()
  const faulty = new FaultyFetch(['midway'])
  const client = clientOf(service, { ...options, fetch: faulty.fetch })
  expect((await client.inventory.list()).items).toHaveLength(5)
  expect(faulty.calls).toBe(2)
})

test('a call fails after its retries, and the error says how many attempts there were', async () => {
  const { sleeps, options } = recordedSleeps()
  const client = clientAt('http://127.0.0.1:1/v1', { retries: 2, ...options })
  const error = await failureOf(client.orders.list())
  expect(error).toMatchObject({ code: 'connection_failed', status: undefined })
  expect([error.request, error.attempts]).toEqual(['GET /store/orders', 3])
  expect(error.message).toEndWith(' (3 attempts in 0.5 s)')
  expect(error.cause).toBeInstanceOf(Error)
  expect(sleeps).toHaveLength(2)
})

test('a call that the service would execute twice is not retried by default', async () => {
  const { options } = recordedSleeps()
  const client = clientAt('http://127.0.0.1:1/v1', options)
  const calls = [
    client.keys.create({ name: 'Anna', plan: 'free' }),
    client.keys.rotate('key_1'),
    client.keys.createPairingCode('key_1'),
    client.keys.pair(),
    client.webhooks.test(1),
  ]
  const attempts = await Promise.all(calls.map(async (call) => (await failureOf(call)).attempts))
  expect(attempts).toEqual([1, 1, 1, 1, 1])
  expect((await failureOf(client.keys.rotate('key_1', {}, { retries: 1 }))).attempts).toBe(2)
})

test('a call fails if the next attempt would exceed the total timeout', async () => {
  const { sleeps, options } = recordedSleeps()
  const client = clientAt('http://127.0.0.1:1/v1', { retries: 100, totalTimeout: 2_000, ...options })
  expect(await failureOf(client.orders.list())).toMatchObject({ code: 'connection_failed' })
  expect(sleeps).toEqual([150, 300, 600])
})

test('a 503 is retried after its Retry-After', async () => {
  let failures = 2
  const service = await TestService.start({
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
  expect((await client.orders.list()).items).toHaveLength(2)
  expect(statuses).toEqual([503, 503, 200])
  expect(sleeps).toEqual([1000, 1000])
})

test('a 404, a 400 and a 412 are not retried', async () => {
  const service = await TestService.start()
  const faulty = new FaultyFetch([])
  const client = clientOf(service, { fetch: faulty.fetch })
  await failureOf(client.pets.get(404n))
  await failureOf(client.inventory.set(1n, { quantity: -1 }))
  await failureOf(client.inventory.set(1n, { quantity: 1 }, { ifMatch: '"0-sold"' }))
  expect(faulty.calls).toBe(3)
})

test('an update with ifMatch whose response was lost gets that response, even after later changes', async () => {
  const service = await TestService.start()
  const { options } = recordedSleeps()
  const faulty = new FaultyFetch(['after'], () => service.setQuantity(1n, '{"quantity": 9}'))
  const client = clientOf(service, { ...options, fetch: faulty.fetch })
  const changed = await client.inventory.set(1n, { quantity: 5 }, { ifMatch: '"4-available"' })
  expect(changed).toEqual({ petId: 1n, quantity: 5, status: 'available' })
  expect(etagOf(changed)).toBe('"5-available"')
  expect(faulty.calls).toBe(2)
  expect(await historyOf(service.store, 1n)).toMatchObject([{ after: 5 }, { after: 9 }])
})

test('an aborted signal ends a call before it is sent, in flight, and while it waits to retry', async () => {
  const { client } = await startClient()
  const gone = AbortSignal.abort(new Error('never mind'))
  await expect(client.inventory.list({ signal: gone }).then()).rejects.toThrow('never mind')
  const delivery = { petId: 1n, quantity: 1 }
  await expect(client.inventory.receive(delivery, { signal: gone })).rejects.toThrow('never mind')

  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  for (const port of [silent.port, 1]) {
    const stop = new AbortController()
    const waiting = clientAt(`http://127.0.0.1:${port}/v1`, { random: () => 1 })
    const call = waiting.inventory.list({ signal: stop.signal }).then()
    setTimeout(() => stop.abort(new Error('enough')), 30)
    await expect(call).rejects.toThrow('enough')
  }
  silent.stop(true)
})
