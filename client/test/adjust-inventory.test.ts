import { expect, test } from 'bun:test'
import { historyOf } from '../../server/test/support/whole-store.ts'
import { isPetstoreError, type PetstoreError } from '../src/index.ts'
import { byAdjustment, byPlainUpdate, growth } from './support/concurrent-adjustments.ts'
import { FaultyFetch } from './support/faulty-fetch.ts'
import { clientOf, liveService, stopServicesAfterEach } from './support/live-service.ts'

stopServicesAfterEach()

async function contention() {
  const service = await liveService()
  const load = { apiKey: service.key, petId: 9007199254740993n, callers: 50, timesEach: 20 }
  return { ...load, baseUrls: [`${service.address}/v1`] }
}

async function failureOf(call: Promise<unknown>): Promise<PetstoreError> {
  const error: unknown = await call.catch((reason: unknown) => reason)
  if (!isPetstoreError(error)) throw new Error(`not a PetstoreError: ${String(error)}`)
  return error
}

test('50 callers each adding 1 to the same pet 20 times: it ends 1,000 higher', async () => {
  expect(await growth(await contention(), byAdjustment)).toBe(1_000)
}, 60_000)

test('the same with a plain read and update loses additions', async () => {
  expect(await growth(await contention(), byPlainUpdate)).toBeLessThan(1_000)
}, 60_000)

test('callers of one client take turns and waste no request on each other', async () => {
  const service = await liveService()
  const statuses: number[] = []
  const client = clientOf(service, { onResponse: ({ status }) => statuses.push(status) })
  await Promise.all(Array.from({ length: 20 }, () => client.adjustInventory(1n, 1)))
  expect(await client.getInventoryItem(1n)).toMatchObject({ quantity: 24 })
  expect(statuses).toEqual(Array.from({ length: 41 }, () => 200))
})

test('one that is aborted while it waits its turn holds up nobody', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const stop = new AbortController()
  const first = client.adjustInventory(1n, 1)
  const second = client.adjustInventory(1n, 1, { signal: stop.signal })
  const third = client.adjustInventory(1n, 1)
  stop.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  await Promise.all([first, third])
  expect(await client.getInventoryItem(1n)).toMatchObject({ quantity: 6 })
})

test('it never goes below 0', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const error = await failureOf(client.adjustInventory(1n, -5))
  expect(error).toMatchObject({ code: 'insufficient_stock', status: undefined })
  expect(error.message).toBe('PATCH /inventory/1 was not sent: 4 are in stock, so 5 cannot be taken')
  expect(await client.adjustInventory(1n, -4)).toMatchObject({ quantity: 0 })
  expect(await client.adjustInventory(1n, 0)).toMatchObject({ quantity: 0 })
})

test('neither does it under contention: 20 callers take 7 of 7, and the others are told', async () => {
  const service = await liveService()
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () => clientOf(service).adjustInventory(9007199254740993n, -1)),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
  expect(await clientOf(service).getInventoryItem(9007199254740993n)).toMatchObject({ quantity: 0 })
})

test('a request that never arrived is made after all, once', async () => {
  const service = await liveService({ realTime: true })
  const faulty = new FaultyFetch(['none', 'before'])
  const client = clientOf(service, { fetch: faulty.fetch })
  expect(await client.adjustInventory(1n, 3)).toMatchObject({ quantity: 7 })
  expect(await historyOf(service.store, 1n)).toHaveLength(1)
})

test('where the answer was lost, it is never made twice: the error says that it cannot be told', async () => {
  const service = await liveService({ realTime: true })
  const faulty = new FaultyFetch(['none', 'after'])
  const client = clientOf(service, { fetch: faulty.fetch })
  const error = await failureOf(client.adjustInventory(1n, 3))
  expect(error.code).toBe('outcome_unknown')
  expect(error.message).toContain('the change from 4 to 7 may have been made: enterprise key made it at')
  expect(await client.getInventoryItem(1n)).toMatchObject({ quantity: 7 })
})

test('so it is where the history cannot be read either', async () => {
  const service = await liveService({ realTime: true })
  const faulty = new FaultyFetch(['none', 'after', 'before', 'before'])
  const client = clientOf(service, { fetch: faulty.fetch, retry: { limit: 1 } })
  const error = await failureOf(client.adjustInventory(1n, 3))
  expect([error.code, error.message]).toEqual([
    'outcome_unknown',
    expect.stringContaining('its history cannot be read'),
  ])
  expect(await historyOf(service.store, 1n)).toHaveLength(1)
})

test('an equal change of long ago does not count as this one', async () => {
  const service = await liveService()
  service.now = Date.now() - 60_000
  await service.setQuantity(1n, '{"quantity": 7}')
  await service.setQuantity(1n, '{"quantity": 4}')
  service.now = Date.now()
  const faulty = new FaultyFetch(['none', 'before'])
  expect(await clientOf(service, { fetch: faulty.fetch }).adjustInventory(1n, 3)).toMatchObject({
    quantity: 7,
  })
})
