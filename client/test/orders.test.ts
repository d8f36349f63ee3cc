import { expect, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import { historyOf } from '../../server/test/support/whole-store.ts'
import {
  InsufficientStockError,
  isPetstoreError,
  type Order,
  OrderClosedError,
  PetstoreError,
} from '../src/index.ts'
import { failureOf } from './support/failure-of.ts'
import { clientOf, startClient } from './support/live-service.ts'
import { VirtualTime } from './support/virtual-time.ts'

const ODD = 9007199254740993n
const LAST = 9223372036854775807n

async function idsOf(orders: AsyncIterable<Order>): Promise<bigint[]> {
  return (await Array.fromAsync(orders)).map(({ id }) => id)
}

async function made(service: TestService, count: number, petId = 1n): Promise<bigint[]> {
  await service.setQuantity(petId, `{"quantity": ${count}}`)
  const client = clientOf(service)
  const orders = await Promise.all(
    Array.from({ length: count }, () => client.orders.create({ petId, quantity: 1 })),
  )
  return orders.map(({ id }) => id).sort((one, other) => Number(one - other))
}

test('a basket reserves its units, changes its lines and its hold, is sold at once, and is returned by line', async () => {
  const { client, service } = await startClient()
  const { inventory, orders } = client
  const lines = [
    { petId: ODD, quantity: 2 },
    { petId: 1, quantity: 1 },
  ]
  const hold = await orders.create({ lines, reference: 'cart-17', metadata: { till: '4' }, holdSeconds: 60 })
  expect(hold).toMatchObject({
    lines: [
      { petId: 1n, quantity: 1, returned: 0 },
      { petId: ODD, quantity: 2, returned: 0 },
    ],
    state: 'open',
    reference: 'cart-17',
    metadata: { till: '4' },
  })
  expect((await orders.list({ reference: 'cart-17' })).items).toEqual([hold])
  expect(await inventory.availability(ODD)).toMatchObject({ quantity: 7, reserved: 2 })
  const extended = await orders.update(hold.id, { holdSeconds: 900 })
  expect(Date.parse(extended.expiresAt ?? '')).toBe(service.now + 900_000)
  const shipDate = '2026-12-24T18:00:00+01:00'
  const firm = await orders.update(hold.id, {
    holdSeconds: null,
    lines: [{ petId: ODD, quantity: 3 }],
    shipDate,
  })
  expect(firm).toMatchObject({ lines: [{ petId: ODD, quantity: 3 }], shipDate: '2026-12-24T17:00:00.000Z' })
  expect(firm.expiresAt).toBeUndefined()
  const complete = await orders.complete(hold.id, { occurredAt: new Date(service.now).toISOString() })
  expect(complete).toMatchObject({ state: 'complete', complete: true })
  expect(await orders.complete(hold.id)).toEqual(complete)
  expect(await failureOf(orders.complete(hold.id, { onlyIfOpen: true }))).toBeInstanceOf(OrderClosedError)
  const { adjustmentId = 0n } = complete
  const returned = { lines: [{ petId: ODD, quantity: 2 }], reason: 'returned' } as const
  expect(await client.adjustments.reverse(adjustmentId, returned)).toMatchObject({ orderId: hold.id })
  expect((await orders.get(hold.id)).lines).toEqual([{ petId: ODD, quantity: 3, returned: 2 }])
  expect(await historyOf(service.store, ODD)).toMatchObject([
    { before: 7, after: 4, reason: 'sold', reference: 'cart-17' },
    { before: 4, after: 6, reason: 'returned' },
  ])
})

test('a basket with too many units is an InsufficientStockError with the details of each line', async () => {
  const { client, service } = await startClient()
  const before = await service.contents()
  const lines = [
    { petId: LAST, quantity: 8 },
    { petId: ODD, quantity: 7 },
    { petId: 1n, quantity: 5 },
  ]
  const error = await failureOf(client.orders.create({ lines, complete: true }))
  if (!(error instanceof InsufficientStockError)) throw error
  const code: 'insufficient_stock' = error.code
  expect([code, error.name, error.status]).toEqual(['insufficient_stock', 'InsufficientStockError', 409])
  expect([error.petId, error.available, error.mayHaveBeenMade]).toEqual([LAST, 7, false])
  expect(error).toBeInstanceOf(PetstoreError)
  expect(isPetstoreError(error, 'insufficient_stock')).toBe(true)
  expect(error.details).toMatchObject([
    { index: 0, petId: LAST, available: 7 },
    { index: 2, petId: 1n, available: 4 },
  ])
  expect(await service.contents()).toEqual(before)
  expect(await client.orders.create({ petId: LAST, quantity: error.available })).toMatchObject({
    lines: [{ quantity: 7 }],
  })
})

test('completing an order or adjusting beyond the stock is an InsufficientStockError too', async () => {
  const { client } = await startClient()
  const { id } = await client.orders.create({ petId: 1n, quantity: 3 })
  await client.inventory.set(1n, { quantity: 2 })
  const incomplete = await failureOf(client.orders.complete(id))
  expect(incomplete).toBeInstanceOf(InsufficientStockError)
  expect(incomplete).toMatchObject({ petId: 1n, available: 2 })
  const negative = await failureOf(client.orders.create({ petId: 1n, quantity: 1 }))
  expect(negative).toMatchObject({ petId: 1n, available: -1 })
  const changes = [
    { petId: ODD, delta: -1 },
    { petId: 1n, delta: -5 },
  ]
  const adjustment = await failureOf(client.inventory.adjust({ reason: 'sold', changes }))
  expect(adjustment).toBeInstanceOf(InsufficientStockError)
  expect(adjustment).toMatchObject({ petId: 1n, available: 2, details: [{ index: 1, available: 2 }] })
})

test('changing a closed order is an OrderClosedError with its state', async () => {
  const { client, service } = await startClient()
  const hold = await client.orders.create({ petId: 1n, quantity: 1, holdSeconds: 1 })
  const cancelled = await client.orders.create({ petId: 1n, quantity: 1 })
  const complete = await client.orders.create({ petId: 1n, quantity: 1 })
  service.now += 1_000
  await client.orders.cancel(cancelled.id)
  await client.orders.complete(complete.id)
  const shipDate = '2027-01-01T00:00:00Z'
  const refused = [
    [() => client.orders.complete(hold.id), 'expired'],
    [() => client.orders.update(hold.id, { shipDate }), 'expired'],
    [() => client.orders.complete(cancelled.id), 'cancelled'],
    [() => client.orders.cancel(complete.id), 'complete'],
    [() => client.orders.update(complete.id, { shipDate }), 'complete'],
  ] as const
  for (const [call, state] of refused) {
    const error = await failureOf(call())
    if (!(error instanceof OrderClosedError)) throw error
    const code: 'order_closed' = error.code
    expect([code, error.name, error.status]).toEqual(['order_closed', 'OrderClosedError', 409])
    expect(error.state).toBe(state)
  }
  expect(await client.orders.complete(hold.id, { evenIfExpired: true })).toMatchObject({ state: 'complete' })
})

test('a conflict without details is a plain PetstoreError', async () => {
  const service = await TestService.start()
  for (const code of ['insufficient_stock', 'order_closed']) {
    const fetch = async () => Response.json({ code, message: 'no', status: 409 }, { status: 409 })
    const error = await failureOf(clientOf(service, { fetch }).orders.complete(1n))
    expect([error.name, String(error.code)]).toEqual(['PetstoreError', code])
  }
})

test('an iteration requests the largest pages, with any filter', async () => {
  const service = await TestService.start()
  const ids = await made(service, 250)
  const paths: string[] = []
  const client = clientOf(service, { onResponse: ({ path }) => paths.push(path) })
  expect(await idsOf(client.orders.list({ petId: 1n, state: 'open' }))).toEqual(ids)
  expect(paths).toEqual(['/store/orders?petId=1&state=open&limit=1000'])
  paths.length = 0
  expect(await idsOf(client.orders.list({ petId: 1n, state: 'open', limit: 100 }))).toEqual(ids)
  expect(paths).toHaveLength(3)
  // Includes the complete order of the store, and the order of another pet.
  expect(await idsOf(client.orders.list({ limit: 90 }))).toEqual([1n, ...ids, ODD])
  expect(await idsOf(client.orders.list({ state: 'expired' }))).toEqual([])
  const page = await client.orders.list({ state: 'open', limit: 2 })
  expect(page.items.map(({ id }) => id)).toEqual(ids.slice(0, 2))
  expect(await idsOf(client.orders.list({ state: 'open', petId: 1n, cursor: page.next }))).toEqual(
    ids.slice(2),
  )
  paths.length = 0
  for await (const _ of client.orders.list({ limit: 10 })) break
  expect(paths).toHaveLength(1)
})

test('a 429 between two pages is retried, and no item is missed or repeated', async () => {
  const service = await TestService.start()
  const ids = await made(service, 30)
  const time = new VirtualTime(service)
  const { secret } = await service.createKey('enterprise', { limits: { perMinute: 2, perDay: 1_000 } })
  const client = clientOf(service, { apiKey: secret, ...time.options })
  expect(await idsOf(client.orders.list({ petId: 1n, state: 'open', limit: 5 }))).toEqual(ids)
  expect(time.statuses().filter((status) => status === 200)).toHaveLength(6)
  expect(time.statuses()).toContain(429)
  expect(time.sentTooEarly()).toEqual([])
})
