import { expect, test } from 'bun:test'
import { historyOf } from '../../server/test/support/whole-store.ts'
import type { StockChange } from '../src/index.ts'
import { byAdjustment, byPlainUpdate, growth } from './support/concurrent-adjustments.ts'
import { failureOf } from './support/failure-of.ts'
import { clientOf, liveService, stopServicesAfterEach } from './support/live-service.ts'

stopServicesAfterEach()

const ODD = 9007199254740993n
const LAST = 9223372036854775807n

async function contention() {
  const service = await liveService()
  const load = { apiKey: service.key, petId: ODD, callers: 50, timesEach: 20 }
  return { ...load, baseUrls: [`${service.address}/v1`] }
}

test('50 callers each adding 1 to the same pet 20 times: it ends 1,000 higher', async () => {
  expect(await growth(await contention(), byAdjustment)).toBe(1_000)
}, 120_000)

test('the same with a plain read and update loses additions', async () => {
  expect(await growth(await contention(), byPlainUpdate)).toBeLessThan(1_000)
}, 120_000)

test('one change gives one entry, and the history says what it was for', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const adjustment = { reason: 'sold', reference: 'order 17' } as const
  expect(await client.adjustInventory({ petId: ODD, delta: -2 }, adjustment)).toEqual({
    petId: ODD,
    quantity: 5,
    status: 'available',
  })
  expect(await historyOf(service.store, ODD)).toMatchObject([{ before: 7, after: 5, ...adjustment }])
})

test('many changes give the entries in the order sent, with exact ids', async () => {
  const service = await liveService()
  const items = await clientOf(service).adjustInventory(
    [
      { petId: LAST, delta: 2 },
      { petId: 1n, quantity: 30, expected: 4 },
      { petId: ODD, delta: -7 },
    ],
    { reason: 'counted' },
  )
  expect(items).toEqual([
    { petId: LAST, quantity: 10, status: 'available' },
    { petId: 1n, quantity: 30, status: 'available' },
    { petId: ODD, quantity: 0, status: 'available' },
  ])
})

test('one request is enough, however many callers change the same pet', async () => {
  const service = await liveService()
  const statuses: number[] = []
  const client = clientOf(service, { onResponse: ({ status }) => statuses.push(status) })
  await Promise.all(Array.from({ length: 20 }, () => byAdjustment(client, 1n)))
  expect(await clientOf(service).getInventoryItem(1n)).toMatchObject({ quantity: 24 })
  expect(statuses).toEqual(Array.from({ length: 20 }, () => 200))
})

test('where changes fail, none is made, and the error names every one of them', async () => {
  const service = await liveService()
  const before = await service.contents()
  const changes = [
    { petId: 1n, delta: -5 },
    { petId: ODD, delta: 1 },
    { petId: ODD - 1n, delta: 1 },
    { petId: LAST, quantity: 9, expected: 7 },
  ]
  const error = await failureOf(
    clientOf(service).adjustInventory(changes as StockChange[], { reason: 'received' }),
  )
  expect(error).toMatchObject({ code: 'not_found', status: 404, mayHaveBeenMade: false })
  expect(error.message).toStartWith('POST /inventory/adjustments answered 404 not_found: 3 changes cannot')
  expect(error.details.map(({ index, petId, code }) => [index, petId, code])).toEqual([
    [0, 1n, 'insufficient_stock'],
    [2, ODD - 1n, 'not_found'],
    [3, LAST, 'precondition_failed'],
  ])
  expect(await service.contents()).toEqual(before)
})

test('it never goes below 0: 20 callers take 7 of 7, and the others are told', async () => {
  const service = await liveService()
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, () =>
      clientOf(service).adjustInventory({ petId: ODD, delta: -1 }, { reason: 'sold' }),
    ),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') expect(outcome.reason.code).toBe('insufficient_stock')
  }
  expect(await clientOf(service).getInventoryItem(ODD)).toMatchObject({ quantity: 0 })
})

test('what an adjustment may hold is for the service to say', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const refused = async (changes: readonly unknown[]) => {
    const error = await failureOf(client.adjustInventory(changes as StockChange[], { reason: 'received' }))
    expect([error.code, error.status, error.mayHaveBeenMade]).toEqual(['invalid_request', 400, false])
    return [error.details.length, error.message.split(': ')[1]]
  }
  expect(await refused([])).toEqual([0, 'changes must be an array of 1 to 1000 changes, got 0 of them'])
  for (const delta of [0, 1.5, '5', Number.NaN]) {
    expect(await refused([{ petId: 1n, delta }])).toEqual([
      1,
      expect.stringContaining('delta must be an integer'),
    ])
  }
  // @ts-expect-error one of them, not both
  const both: StockChange = { petId: 1n, delta: 1, quantity: 2 }
  expect(await refused([both])).toEqual([1, expect.stringContaining('either delta or quantity')])
})
