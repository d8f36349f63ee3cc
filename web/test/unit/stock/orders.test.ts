import { expect, test } from 'bun:test'
import type { Order, OrderEvent } from '@petstore/client'
import { PetstoreError } from '@petstore/client'
import { LiveChanges } from '../../../src/staff-page/data/history/live-changes.ts'
import { OPEN_ORDERS, orderSource } from '../../../src/staff-page/data/orders/order-search.ts'
import { leftWords, orderFailure } from '../../../src/staff-page/data/orders/order-words.ts'

const order = (id: bigint, customer?: string, reference?: string): Order => ({
  id,
  lines: [{ petId: 1n, quantity: 2, returned: 0 }],
  state: 'open',
  complete: false,
  createdAt: '2026-11-16T12:00:00Z',
  ...(customer === undefined ? {} : { customer }),
  ...(reference === undefined ? {} : { reference }),
})

const ORDERS = [order(17n, 'Ada 20'), order(20n, 'Bob'), order(21n, undefined, 'cart-5')]
const signal = new AbortController().signal

/** A service that finds exact words, and the requests that it got. */
function reads() {
  const asked: object[] = []
  const list = (
    query: { readonly customer?: string | undefined; readonly reference?: string | undefined } = {},
  ) => {
    asked.push(query)
    const items = ORDERS.filter(
      ({ customer, reference }) =>
        (query.customer === undefined || customer?.split(' ').includes(query.customer) === true) &&
        (query.reference === undefined || reference === query.reference),
    )
    return Object.assign(Promise.resolve({ items, next: undefined }), {
      async *[Symbol.asyncIterator]() {},
    })
  }
  const get = async (id: bigint | number | string) => {
    const found = ORDERS.find((each) => each.id === id)
    if (found === undefined) throw new PetstoreError('not_found', 'no such order', { request: 'GET' })
    return found
  }
  return { asked, reads: { client: { orders: { list, get } }, events: new LiveChanges<OrderEvent>() } }
}

test.each([
  ['', [17n, 20n, 21n]],
  ['#20', [20n]],
  ['20', [20n]],
  ['99', []],
  ['Bob', [20n]],
  ['cart-5', [21n]],
  ['#', []],
])('the search for %j finds %p: a number, else a customer, else a reference', async (query, ids) => {
  const { load } = orderSource(reads().reads, { ...OPEN_ORDERS, query })
  expect((await load(undefined, signal)).items.map(({ id }) => id)).toEqual(ids)
})

test('the service filters by state, pet and day, and an event reloads the list if it has a line of the pet', async () => {
  const { asked, reads: service } = reads()
  const filter = {
    ...OPEN_ORDERS,
    state: 'complete',
    petId: 2n,
    from: '2026-11-16',
    to: '2026-11-16',
  } as const
  const { load, concerns } = orderSource(service, filter)
  await load(undefined, signal)
  const [since, until] = [new Date(2026, 10, 16), new Date(2026, 10, 17)].map((day) => day.toISOString())
  expect(asked).toMatchObject([{ state: 'complete', petId: 2n, since, until }])
  const event = (...petIds: bigint[]): OrderEvent => ({
    change: 'created',
    orderId: 1n,
    state: 'open',
    at: '2026-11-16T12:00:00Z',
    keyId: 'key_1',
    lines: petIds.map((petId) => ({ petId, quantity: 1 })),
  })
  expect([concerns?.(event(1n, 2n)), concerns?.(event(1n))]).toEqual([true, false])
})

test('a refused order names each pet and what is left of it', () => {
  const refused = new PetstoreError('insufficient_stock', 'not enough', {
    request: 'POST',
    status: 409,
    details: [
      { index: 0, petId: 1n, code: 'insufficient_stock', message: 'not enough', available: 3 },
      { index: 1, petId: 2n, code: 'insufficient_stock', message: 'not enough', available: -1 },
      { index: 2, petId: 3n, code: 'not_found', message: 'gone' },
    ],
  })
  expect(orderFailure(refused, (petId) => `Pet ${petId}`)).toBe(
    'Pet 1: only 3 left. Pet 2: none is left. Pet 3 is not in the store any more.',
  )
})

test.each([
  [-5_000, '0:00'],
  [0, '0:00'],
  [1, '0:01'],
  [59_001, '1:00'],
  [3_599_000, '59:59'],
  [7_147_000, '1:59:07'],
  [86_399_000, '23:59:59'],
  [2_592_000_000, '30 d 0 h'],
])('%p ms are %j', (ms, words) => {
  expect(leftWords(ms)).toBe(words)
})
