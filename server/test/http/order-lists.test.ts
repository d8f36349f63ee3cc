import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { START, TestService } from '../support/test-service.ts'

const LAST = '9007199254740993'
let service: TestService
/** By id: open, complete, cancelled, expired, open; the first is for pet 2, the others for pet 1. */
let ids: number[]
beforeAll(async () => {
  service = await TestService.start()
  await service.setQuantity(1n, '{"quantity": 10}')
  ids = []
  for (const body of [{ petId: 2 }, { petId: 1 }, { petId: 1 }, { petId: 1, holdSeconds: 1 }, { petId: 1 }]) {
    const { json } = await sent('POST', '/store/orders', { quantity: 1, ...body })
    ids.push((json as { id: number }).id)
  }
  await sent('PATCH', `/store/orders/${ids[1]}`, { complete: true })
  await sent('DELETE', `/store/orders/${ids[2]}`)
  service.now = START + 1_000
})
afterAll(() => service.stop())

function sent(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return service.call(method, path, {
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    headers: { 'Content-Type': 'application/json', ...headers },
  })
}

/** Their ids as text, because some exceed a double. */
async function listed(query: string): Promise<string[]> {
  const { status, text } = await service.call('GET', `/store/orders${query}`)
  expect(status).toBe(200)
  return [...text.matchAll(/\{"id":(-?\d+)/g)].map(([, id]) => id ?? '')
}
const named = (...indexes: number[]) => indexes.map((index) => String(ids[index]))

describe('GET /store/orders', () => {
  test('lists open and complete orders by id', async () => {
    expect(await listed('')).toEqual(['1', ...named(0, 1, 4), LAST])
  })

  test.each([
    ['open', [0, 4], LAST],
    ['complete', [1], undefined],
    ['cancelled', [2], undefined],
    ['expired', [3], undefined],
  ] as const)('with state %s', async (state, indexes, last) => {
    const expected = [...named(...indexes), ...(last === undefined ? [] : [last])]
    expect((await listed(`?state=${state}`)).filter((id) => id !== '1')).toEqual(expected)
  })

  test('filters by pet and by state', async () => {
    expect(await listed('?petId=2')).toEqual(named(0))
    expect(await listed('?petId=1')).toEqual(['1', ...named(1, 4)])
    expect(await listed('?petId=1&state=cancelled')).toEqual(named(2))
    expect(await listed('?petId=9223372036854775807')).toEqual([LAST])
    expect(await listed('?petId=404')).toEqual([])
  })

  test('returns each order once across pages, with the filters in the next link', async () => {
    const seen: string[] = []
    let path = '/store/orders?limit=2'
    for (let pages = 0; pages < 3; pages++) {
      const { text, headers } = await service.call('GET', path)
      seen.push(...[...text.matchAll(/\{"id":(\d+)/g)].map(([, id]) => id ?? ''))
      const next = /^<\/v1(.*)>; rel="next"$/.exec(headers.get('Link') ?? '')?.[1]
      expect(next === undefined).toBe(pages === 2)
      path = next ?? ''
    }
    expect(seen).toEqual(['1', ...named(0, 1, 4), LAST])
    const { headers } = await service.call('GET', '/store/orders?state=open&petId=1&limit=1')
    expect(headers.get('Link')).toBeNull()
    const first = await service.call('GET', '/store/orders?state=open&limit=1')
    expect(first.headers.get('Link')).toBe(
      `</v1/store/orders?state=open&limit=1&cursor=${ids[0]}>; rel="next"`,
    )
  })

  test('has 100 orders per page by default, 1,000 at most', async () => {
    const pet = { id: 50n, name: 'Many', categoryId: 1n, status: 'available', quantity: 1_500 } as const
    await service.store.addPets([pet])
    const by = { keyId: 'key_a', at: 1 }
    const drafts = Array.from({ length: 600 }, () => ({
      type: 'create_order' as const,
      ...by,
      order: { petId: 50n, quantity: 1 },
    }))
    for (const _ of [1, 2]) await service.store.changeStock(drafts)
    expect(await listed('?petId=50')).toHaveLength(100)
    expect(await listed('?petId=50&limit=1000')).toHaveLength(1_000)
  })

  test.each([
    ['?limit=0', 'limit must be an integer from 1 to 1000'],
    ['?limit=1001', 'limit must be an integer from 1 to 1000'],
    ['?state=done', 'state must be one of open, complete, cancelled, expired'],
    ['?petId=abc', 'petId must be an integer from -9223372036854775808'],
    ['?petId=9223372036854775808', 'petId must be an integer'],
    ['?petId=', 'petId must be an integer'],
    ['?petId=1&petId=2', 'petId is given twice'],
    ['?cursor=abc', 'cursor must come from the Link header'],
    ['?cursor=', 'cursor must be a string that is not empty'],
  ])('%s is 400', async (query, message) => {
    const { status, error } = await service.call('GET', `/store/orders${query}`)
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(error.message).toContain(message)
  })

  test('has an ETag, and is 304 for it', async () => {
    const { headers } = await service.call('GET', '/store/orders')
    const condition = { headers: { 'If-None-Match': headers.get('ETag') ?? '' } }
    expect((await service.call('GET', '/store/orders', condition)).status).toBe(304)
  })
})

describe('event streams', () => {
  async function eventsAfter(cursor: string): Promise<[kind: string, data: Record<string, unknown>][]> {
    const found = await service.store.eventsAfter(cursor, 100)
    if (typeof found === 'string') throw new Error(found)
    const all: [string, Record<string, unknown>][] = []
    let from = cursor
    for (const { cursor: next } of found.events) {
      const { text } = await service.call('GET', `/inventory/events?lastEventId=${from}`)
      const [, kind = '', data = '{}'] = /^event: (\w+)\n.*\ndata: (.*)$/m.exec(text) ?? []
      all.push([kind, JSON.parse(data)])
      from = next
    }
    return all
  }

  test('report each change of an order with its record, right after the change of quantity', async () => {
    // Earlier expiries are reported before.
    await service.store.changeStock([{ type: 'release_holds', keyId: 'key_a', at: 1, petIds: [1n] }])
    const cursor = await service.store.latestEventCursor()
    const created = (await sent('POST', '/store/orders', { petId: 1, quantity: 2 })).json as { id: number }
    const path = `/store/orders/${created.id}`
    await sent('PATCH', path, { shipDate: '2027-01-01T00:00:00Z', customer: 'Olga' })
    const complete = (await sent('PATCH', path, { complete: true })).json
    const other = (await sent('POST', '/store/orders', { petId: 1, quantity: 1 })).json as { id: number }
    await sent('DELETE', `/store/orders/${other.id}`)
    const events = await eventsAfter(cursor)
    expect(events.map(([kind, data]) => [kind, data.change ?? data.reason])).toEqual([
      ['order', 'created'],
      ['order', 'changed'],
      ['change', 'sold'],
      ['order', 'completed'],
      ['order', 'created'],
      ['order', 'cancelled'],
    ])
    expect(events[0]?.[1].order).toEqual(created)
    expect(events[1]?.[1].order).toMatchObject({
      state: 'open',
      shipDate: '2027-01-01T00:00:00.000Z',
      customer: 'Olga',
    })
    expect(events[2]?.[1]).toMatchObject({ petId: 1, reference: `order ${created.id}` })
    expect(events[3]?.[1].order).toEqual(complete)
    const at = new Date(service.now).toISOString()
    expect(events[5]?.[1]).toEqual({
      change: 'cancelled',
      order: { ...other, state: 'cancelled', closedAt: at, closedBy: expect.stringMatching(/^key_/) },
      at,
      keyId: expect.stringMatching(/^key_/),
    })
  })
})

describe('with an Idempotency-Key', () => {
  test('a repeated order is the same one, with its Location, and reserves nothing more', async () => {
    const once = { 'Idempotency-Key': 'order-once' }
    const body = { petId: 2, quantity: 1 }
    await service.setQuantity(2n, '{"quantity": 5}')
    const first = await sent('POST', '/store/orders', body, once)
    const again = await sent('POST', '/store/orders', body, once)
    expect([again.status, again.text]).toEqual([201, first.text])
    expect(again.headers.get('Location')).toBe(first.headers.get('Location'))
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    expect((await service.store.findAvailability(2n))?.reserved).toBe(2)
    expect((await sent('POST', '/store/orders', { ...body, quantity: 2 }, once)).status).toBe(422)
  })

  test('a rejection stays: 409, and 404 of an order created later', async () => {
    const tooMany = { 'Idempotency-Key': 'too-many' }
    const body = { petId: 3, quantity: 1 }
    expect((await sent('POST', '/store/orders', body, tooMany)).status).toBe(409)
    await service.setQuantity(3n, '{"quantity": 5}')
    expect((await sent('POST', '/store/orders', body, tooMany)).status).toBe(409)

    const { id } = (await sent('POST', '/store/orders', body)).json as { id: number }
    const early = { 'Idempotency-Key': 'too-early' }
    const unmade = `/store/orders/${id + 1}`
    expect((await sent('DELETE', unmade, undefined, early)).status).toBe(404)
    expect(((await sent('POST', '/store/orders', body)).json as { id: number }).id).toBe(id + 1)
    const again = await sent('DELETE', unmade, undefined, early)
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([404, 'true'])
  })

  test('completing and cancelling return the stored response, though the order has changed since', async () => {
    const { id } = (await sent('POST', '/store/orders', { petId: 3, quantity: 1 })).json as { id: number }
    const path = `/store/orders/${id}`
    const first = { 'Idempotency-Key': 'ship' }
    const dated = await sent('PATCH', path, { shipDate: '2027-01-01T00:00:00Z' }, first)
    expect((await sent('DELETE', path, undefined, { 'Idempotency-Key': 'gone' })).status).toBe(204)
    const again = await sent('PATCH', path, { shipDate: '2027-01-01T00:00:00Z' }, first)
    expect([again.status, again.text]).toEqual([200, dated.text])
    expect(again.headers.get('ETag')).toBe(dated.headers.get('ETag'))
    const gone = await sent('DELETE', path, undefined, { 'Idempotency-Key': 'gone' })
    expect([gone.status, gone.text, gone.headers.get('Idempotency-Replayed')]).toEqual([204, '', 'true'])
  })
})

describe('GET /store/orders?customer=', () => {
  const CUSTOMERS = ['Müller, Jörg', 'Muller Anna', 'Mueller', 'Anna Muller', 'MULLER ANNA']
  let made: string[]
  beforeAll(async () => {
    await service.setQuantity(2n, '{"quantity": 10}')
    made = []
    for (const customer of CUSTOMERS) {
      const { text } = await sent('POST', '/store/orders', { petId: 2, quantity: 1, customer })
      made.push(/"id":(\d+)/.exec(text)?.[1] ?? '')
    }
    await sent('PATCH', `/store/orders/${made[4]}`, { complete: true })
  })
  const of = (...indexes: number[]) => indexes.map((index) => made[index] ?? '')

  test('finds customers by the start of any word, without case, accents and punctuation', async () => {
    expect(await listed('?customer=muller')).toEqual(of(0, 1, 3, 4))
    expect(await listed(`?customer=${encodeURIComponent('MÜLLER-a')}`)).toEqual(of(1, 3, 4))
    expect(await listed('?customer=anna')).toEqual(of(1, 3, 4))
    expect(await listed('?customer=nobody')).toEqual([])
  })

  test('combines with the other filters', async () => {
    expect(await listed('?customer=muller&state=open')).toEqual(of(0, 1, 3))
    expect(await listed('?customer=muller&state=complete&petId=2')).toEqual(of(4))
    expect(await listed('?customer=muller&petId=1')).toEqual([])
  })

  test('returns each order once across pages, also if the order at the end of a page changes', async () => {
    const first = await service.call('GET', '/store/orders?customer=muller&limit=2')
    const [, next] = /<([^>]+)>; rel="next"/.exec(first.headers.get('Link') ?? '') ?? []
    expect(next).toContain('customer=muller&limit=2&cursor=')
    await sent('PATCH', `/store/orders/${made[1]}`, { customer: 'Zoe' })
    const query = next?.slice(next.indexOf('?')) ?? ''
    expect(await listed(query)).toEqual(of(3, 4))
    expect(await listed(query.replace('limit=2', 'limit=1'))).toEqual(of(3))
    await sent('PATCH', `/store/orders/${made[1]}`, { customer: CUSTOMERS[1] })
  })

  test.each([
    ['?customer=', 'customer must be 1 to 200 characters with at least one letter or digit, got ""'],
    ['?customer=%21%3F', 'at least one letter or digit'],
    [`?customer=${'x'.repeat(201)}`, '1 to 200 characters'],
    ['?customer=muller&cursor=x', 'cursor must come from the Link header'],
    ['?cursor=17.eg', 'cursor must come from the Link header'],
  ])('%s is 400', async (query, message) => {
    const { status, error } = await service.call('GET', `/store/orders${query}`)
    expect([status, error.message]).toEqual([400, expect.stringContaining(message)])
  })
})
