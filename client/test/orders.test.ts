import { expect, test } from 'bun:test'
import type { TestService } from '../../server/test/support/test-service.ts'
import { historyOf } from '../../server/test/support/whole-store.ts'
import {
  InsufficientStockError,
  isPetstoreError,
  type Order,
  OrderClosedError,
  type OrderUpdate,
  PetstoreError,
} from '../src/index.ts'
import { failureOf } from './support/failure-of.ts'
import { FaultyFetch } from './support/faulty-fetch.ts'
import { clientOf, liveService, stopServicesAfterEach } from './support/live-service.ts'
import { recordedSleeps } from './support/recorded-sleeps.ts'
import { VirtualTime } from './support/virtual-time.ts'

stopServicesAfterEach()

const ODD = 9007199254740993n
const LAST = 9223372036854775807n

async function idsOf(orders: AsyncIterable<Order>): Promise<bigint[]> {
  return (await Array.fromAsync(orders)).map(({ id }) => id)
}

async function made(service: TestService, count: number, petId = 1n): Promise<bigint[]> {
  await service.setQuantity(petId, `{"quantity": ${count}}`)
  const client = clientOf(service)
  const orders = await Promise.all(
    Array.from({ length: count }, () => client.createOrder({ petId, quantity: 1 })),
  )
  return orders.map(({ id }) => id).sort((one, other) => Number(one - other))
}

test('an order reserves, is completed, and stands in the history', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const order = await client.createOrder({ petId: ODD, quantity: 2, shipDate: '2026-12-24T18:00:00+01:00' })
  expect(order).toMatchObject({
    ...{ petId: ODD, quantity: 2, state: 'open', complete: false },
    shipDate: '2026-12-24T17:00:00.000Z',
  })
  expect(await client.getOrder(order.id)).toEqual(order)
  const reserved = { petId: ODD, quantity: 7, reserved: 2, available: 5 }
  expect(await client.availability(ODD)).toEqual(reserved)
  expect(await client.getAvailability(ODD)).toEqual(reserved)
  const shipDate = '2026-12-27T09:00:00.000Z'
  expect(await client.updateOrder(order.id, { shipDate })).toEqual({ ...order, shipDate })
  const closedAt = new Date(service.now).toISOString()
  const complete = { ...order, shipDate, state: 'complete', complete: true, closedAt } as const
  expect(await client.completeOrder(order.id)).toEqual(complete)
  expect(await client.completeOrder(order.id)).toEqual(complete)
  expect(await client.availability(ODD)).toEqual({ petId: ODD, quantity: 5, reserved: 0, available: 5 })
  expect(await historyOf(service.store, ODD)).toMatchObject([
    { before: 7, after: 5, reason: 'sold', reference: `order ${order.id}` },
  ])
})

test('a cancelled order gives back what it reserved, and so does a hold that is over', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const order = await client.createOrder({ petId: 1n, quantity: 3 })
  const hold = await client.createOrder({ petId: 1n, quantity: 1, holdSeconds: 60 })
  expect(hold.expiresAt).toBe(new Date(service.now + 60_000).toISOString())
  expect((await client.availability(1n)).available).toBe(0)
  expect(await client.cancelOrder(order.id)).toBeUndefined()
  await client.cancelOrder(order.id)
  expect((await client.availability(1n)).available).toBe(3)
  service.now += 60_000
  expect((await client.availability(1n)).available).toBe(4)
  expect((await client.getOrder(hold.id)).state).toBe('expired')
})

test('too little is an InsufficientStockError that says how many are available', async () => {
  const service = await liveService()
  const client = clientOf(service)
  await client.createOrder({ petId: LAST, quantity: 4 })
  const before = await service.contents()
  const error = await failureOf(client.createOrder({ petId: LAST, quantity: 4 }))
  if (!(error instanceof InsufficientStockError)) throw error
  const code: 'insufficient_stock' = error.code
  expect([code, error.name, error.status]).toEqual(['insufficient_stock', 'InsufficientStockError', 409])
  expect([error.petId, error.available, error.mayHaveBeenMade]).toEqual([LAST, 3, false])
  expect(error).toBeInstanceOf(PetstoreError)
  expect(isPetstoreError(error, 'insufficient_stock')).toBe(true)
  expect(error.message).toContain(`3 of petId ${LAST} are available, so 4 cannot be ordered`)
  expect(await service.contents()).toEqual(before)
  expect(await client.createOrder({ petId: LAST, quantity: error.available })).toMatchObject({ quantity: 3 })
})

test('so it is where the stock was set below what an order takes, and where an adjustment takes too much', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const { id } = await client.createOrder({ petId: 1n, quantity: 3 })
  await client.updateInventory(1n, { quantity: 2 })
  const incomplete = await failureOf(client.completeOrder(id))
  expect(incomplete).toBeInstanceOf(InsufficientStockError)
  expect(incomplete).toMatchObject({ petId: 1n, available: 2 })
  const negative = await failureOf(client.createOrder({ petId: 1n, quantity: 1 }))
  expect(negative).toMatchObject({ petId: 1n, available: -1 })
  const changes = [
    { petId: ODD, delta: -1 },
    { petId: 1n, delta: -5 },
  ]
  const adjustment = await failureOf(client.adjustInventory(changes, { reason: 'sold' }))
  expect(adjustment).toBeInstanceOf(InsufficientStockError)
  expect(adjustment).toMatchObject({ petId: 1n, available: 2, details: [{ index: 1, available: 2 }] })
})

test('a closed order is an OrderClosedError that says whether it was cancelled or its hold ran out', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const hold = await client.createOrder({ petId: 1n, quantity: 1, holdSeconds: 1 })
  const cancelled = await client.createOrder({ petId: 1n, quantity: 1 })
  const complete = await client.createOrder({ petId: 1n, quantity: 1 })
  service.now += 1_000
  await client.cancelOrder(cancelled.id)
  await client.completeOrder(complete.id)
  const shipDate = '2027-01-01T00:00:00Z'
  const refused = [
    [() => client.completeOrder(hold.id), 'expired'],
    [() => client.updateOrder(hold.id, { shipDate }), 'expired'],
    [() => client.completeOrder(cancelled.id), 'cancelled'],
    [() => client.cancelOrder(complete.id), 'complete'],
    [() => client.updateOrder(complete.id, { shipDate }), 'complete'],
  ] as const
  for (const [call, state] of refused) {
    const error = await failureOf(call())
    if (!(error instanceof OrderClosedError)) throw error
    const code: 'order_closed' = error.code
    expect([code, error.name, error.status, error.state]).toEqual([
      ...(['order_closed', 'OrderClosedError', 409] as const),
      state,
    ])
  }
})

test('a conflict that tells nothing more is a plain PetstoreError', async () => {
  const service = await liveService()
  for (const code of ['insufficient_stock', 'order_closed']) {
    const fetch = async () => Response.json({ code, message: 'no', status: 409 }, { status: 409 })
    const error = await failureOf(clientOf(service, { fetch }).completeOrder(1n))
    expect([error.name, String(error.code)]).toEqual(['PetstoreError', code])
  }
})

test('what is not there, or cannot be, is told as for every other call', async () => {
  const service = await liveService()
  const client = clientOf(service)
  for (const call of [
    () => client.createOrder({ petId: 404n, quantity: 1 }),
    () => client.getOrder(ODD - 1n),
    () => client.completeOrder(404n),
    () => client.cancelOrder(404n),
    () => client.availability(404n),
  ]) {
    expect(await failureOf(call())).toMatchObject({ name: 'PetstoreError', code: 'not_found', status: 404 })
  }
  for (const part of [{ quantity: 0 }, { quantity: 1.5 }, { holdSeconds: 0 }, { shipDate: 'tomorrow' }]) {
    const refused = await failureOf(client.createOrder({ petId: 1n, quantity: 1, ...part }))
    expect(refused).toMatchObject({ code: 'invalid_request', status: 400, mayHaveBeenMade: false })
  }
  // @ts-expect-error one of them, not both
  const both: OrderUpdate = { complete: true, shipDate: '2027-01-01T00:00:00Z' }
  expect(await failureOf(client.updateOrder(1n, both))).toMatchObject({ code: 'invalid_request' })
  const asNumber = 5 as unknown as bigint
  const needsBigint = 'petId must be a bigint such as 5n, got 5 (a number)'
  await expect(client.createOrder({ petId: asNumber, quantity: 1 })).rejects.toThrow(needsBigint)
  await expect(client.completeOrder(asNumber)).rejects.toThrow('orderId must be a bigint')
  await expect(idsOf(client.listOrders({ petId: asNumber }))).rejects.toThrow(needsBigint)
})

test('an order whose answer is lost is sent again with the same key and made once', async () => {
  const service = await liveService()
  const faulty = new FaultyFetch(['after', 'midway', 'none', 'after', 'none', 'midway'])
  const keys: (string | null)[] = []
  const client = clientOf(service, {
    ...recordedSleeps().options,
    fetch: (url, init) => {
      keys.push(new Headers(init.headers).get('Idempotency-Key'))
      return faulty.fetch(url, init)
    },
  })
  const { id } = await client.createOrder({ petId: ODD, quantity: 2 })
  expect(await client.completeOrder(id)).toMatchObject({ state: 'complete' })
  const other = await client.createOrder({ petId: ODD, quantity: 1 })
  await client.cancelOrder(other.id)
  expect(keys).toEqual([0, 0, 0, 3, 3, 5, 5, 7].map((index) => keys[index] ?? ''))
  expect(new Set(keys).size).toBe(4)
  expect(await idsOf(client.listOrders({ petId: ODD }))).toEqual([id])
  expect(await idsOf(client.listOrders({ petId: ODD, state: 'cancelled' }))).toEqual([other.id])
  expect(await client.availability(ODD)).toMatchObject({ quantity: 5, reserved: 0 })
  const own = { idempotencyKey: 'checkout-17' }
  const first = await clientOf(service).createOrder({ petId: ODD, quantity: 1 }, own)
  expect(await clientOf(service).createOrder({ quantity: 1, petId: ODD }, own)).toEqual(first)
  expect((await client.availability(ODD)).reserved).toBe(1)
})

test('listOrders walks over all pages, as few as there can be, with whatever filter', async () => {
  const service = await liveService()
  const ids = await made(service, 250)
  const paths: string[] = []
  const client = clientOf(service, { onResponse: ({ path }) => paths.push(path) })
  expect(await idsOf(client.listOrders({ petId: 1n, state: 'open' }))).toEqual(ids)
  expect(paths).toEqual(['/store/orders?state=open&petId=1&limit=1000'])
  paths.length = 0
  expect(await idsOf(client.listOrders({ petId: 1n, state: 'open', limit: 100 }))).toEqual(ids)
  expect(paths).toHaveLength(3)
  // The order of the store that is complete is among them, and so is the one of another pet.
  expect(await idsOf(client.listOrders({ limit: 90 }))).toEqual([1n, ...ids, ODD])
  expect(await idsOf(client.listOrders({ state: 'expired' }))).toEqual([])
  const page = await client.listOrderPage({ state: 'open', limit: 2 })
  expect(page.items.map(({ id }) => id)).toEqual(ids.slice(0, 2))
  expect(await idsOf(client.listOrders({ state: 'open', petId: 1n, cursor: page.next }))).toEqual(
    ids.slice(2),
  )
  paths.length = 0
  for await (const _ of client.listOrders({ limit: 10 })) break
  expect(paths).toHaveLength(1)
})

test('a 429 between two pages is waited for, and nothing is missed or told twice', async () => {
  const service = await liveService()
  const ids = await made(service, 30)
  const time = new VirtualTime(service)
  const { secret } = await service.createKey('enterprise', { limits: { perMinute: 2, perDay: 1_000 } })
  const client = clientOf(service, { apiKey: secret, ...time.options })
  expect(await idsOf(client.listOrders({ petId: 1n, state: 'open', limit: 5 }))).toEqual(ids)
  expect(time.statuses().filter((status) => status === 200)).toHaveLength(6)
  expect(time.statuses()).toContain(429)
  expect(time.sentTooEarly()).toEqual([])
})

test('an aborted signal ends the walk with its reason', async () => {
  const service = await liveService()
  await made(service, 4)
  const stop = new AbortController()
  const seen: bigint[] = []
  const walk = async () => {
    for await (const { id } of clientOf(service).listOrders({ limit: 2, signal: stop.signal })) {
      seen.push(id)
      stop.abort(new Error('enough'))
    }
  }
  await expect(walk()).rejects.toThrow('enough')
  expect(seen).toHaveLength(2)
})

test('the stream of events tells what happens to an order, typed', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const told: unknown[] = []
  for await (const event of client.inventoryEvents()) {
    if (event.type === 'ready') {
      const { id } = await client.createOrder({ petId: LAST, quantity: 2 })
      await client.completeOrder(id)
    }
    if (event.type === 'change') told.push([event.before, event.after, event.reason])
    if (event.type !== 'order') continue
    const { change, order } = event
    told.push([change, order.petId, order.quantity, order.state])
    if (change === 'completed') break
  }
  expect(told).toEqual([
    ['created', LAST, 2, 'open'],
    [8, 6, 'sold'],
    ['completed', LAST, 2, 'complete'],
  ])
})

test('several orders are created together or not at all, and found by customer', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const customer = 'Anna Smith'
  const orders = await client.createOrders([
    { petId: 1n, quantity: 1, customer },
    { petId: ODD, quantity: 2, customer },
  ])
  expect(orders).toMatchObject([{ petId: 1n }, { petId: ODD, quantity: 2 }])
  expect(await Array.fromAsync(client.listOrders({ customer: 'anna' }))).toEqual([...orders])
  const refused = client.createOrders([
    { petId: ODD, quantity: 1 },
    { petId: 1n, quantity: 1_000 },
  ])
  await expect(refused).rejects.toMatchObject({ code: 'insufficient_stock' })
  expect((await client.availability(ODD)).reserved).toBe(2)
})
