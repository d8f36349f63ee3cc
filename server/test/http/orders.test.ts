import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { CallOptions } from '../support/test-service.ts'
import { type Answer, TestService } from '../support/test-service.ts'

const SECOND = 1_000
let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())
beforeEach(async () => {
  service.now += 3_600 * SECOND
  for (const { id } of await service.store.listOrders({ petId: 1n, state: 'open' }, 1_000)) await cancel(id)
  await service.setQuantity(1n, '{"quantity": 10}')
})

interface WireOrder {
  readonly id: number
  readonly expiresAt?: string
  readonly createdAt: string
}

const order = (body: unknown, options?: CallOptions) => service.send('POST', '/store/orders', body, options)
const patch = (id: number, body: unknown, options?: CallOptions) =>
  service.send('PATCH', `/store/orders/${id}`, body, options)
const cancel = (id: number | bigint, options?: CallOptions) =>
  service.call('DELETE', `/store/orders/${id}`, options)
const read = async (id: number) => (await service.call('GET', `/store/orders/${id}`)).json
const made = async (quantity = 1, more: object = {}) => {
  const answer = await order({ petId: 1, quantity, ...more })
  expect(answer.status).toBe(201)
  return answer.json as WireOrder
}
const available = async () => (await service.call('GET', '/inventory/1/availability')).json
const isoNow = () => new Date(service.now).toISOString()

describe('POST /store/orders', () => {
  test('answers 201 with the order and its Location; quantity stays the shelf quantity', async () => {
    const { id: keyId, secret: key } = await service.createKey('pro')
    const answer = await order({ petId: 1, quantity: 3, shipDate: '2026-12-24T18:00:00+01:00' }, { key })
    const { id } = answer.json as WireOrder
    expect([answer.status, answer.headers.get('Location')]).toEqual([201, `/v1/store/orders/${id}`])
    expect(answer.text).toBe(
      `{"id":${id},"petId":1,"quantity":3,"shipDate":"2026-12-24T17:00:00.000Z","complete":false,"state":"open","createdAt":"${isoNow()}","createdBy":"${keyId}"}`,
    )
    expect((await service.call('GET', `/store/orders/${id}`)).text).toBe(answer.text)
    expect(await available()).toEqual({ petId: 1, quantity: 10, reserved: 3, available: 7 })
    expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(10)
  })

  test('ids are int64, and a hold has an expiry', async () => {
    const answer = await order('{"petId": 9223372036854775807, "quantity": 1.0, "holdSeconds": 2592000}')
    expect(answer.text).toContain('"petId":9223372036854775807,"quantity":1,')
    const { expiresAt = '', createdAt } = answer.json as WireOrder
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(2_592_000 * SECOND)
  })

  test('more than available is 409, which says what is available, and changes nothing', async () => {
    await made(4)
    const before = await service.contents()
    const { error } = await order({ petId: 1, quantity: 7 })
    const message = 'petId 1 has 6 available units, so 7 cannot be ordered'
    expect(error).toEqual({
      code: 'insufficient_stock',
      status: 409,
      message: `${message}; nothing was changed`,
      details: [{ index: 0, petId: 1, code: 'insufficient_stock', message, available: 6 }],
    })
    expect(await service.contents()).toEqual(before)
  })
})

describe('PATCH /store/orders/{orderId}', () => {
  test('completes an order; repeating it is the same answer and changes nothing, unless only an open one counts', async () => {
    const { id } = await made(4)
    const [{ id: keyId, secret: key }, other] = [
      await service.createKey('pro'),
      await service.createKey('pro'),
    ]
    const first = await patch(id, { complete: true }, { key })
    const closed = { id, complete: true, state: 'complete', closedAt: isoNow(), closedBy: keyId }
    expect([first.status, first.json]).toMatchObject([200, closed])
    expect(await available()).toEqual({ petId: 1, quantity: 6, reserved: 0, available: 6 })
    service.now += 5 * SECOND
    const before = await service.contents()
    expect((await patch(id, { complete: true }, { key: other.secret })).text).toBe(first.text)
    expect((await patch(id, { complete: true, onlyIfOpen: true })).error).toMatchObject({
      code: 'order_closed',
      status: 409,
      details: [{ code: 'order_closed', state: 'complete' }],
    })
    expect(await service.contents()).toEqual(before)
  })

  test('changes ship date, customer and note, and null clears them', async () => {
    const texts = { customer: 'Anna Smith, 555 0134', note: 'gift\nno receipt' }
    const created = await made(1, { ...texts, shipDate: '2026-12-01T10:00:00Z' })
    expect(created).toMatchObject(texts)
    const changed = await patch(created.id, {
      customer: 'Ben',
      note: null,
      shipDate: '2027-01-01T00:00:00.5Z',
    })
    expect(changed.json).toMatchObject({ customer: 'Ben', shipDate: '2027-01-01T00:00:00.500Z' })
    expect(changed.json).not.toHaveProperty('note')
    expect(await read(created.id)).toEqual(changed.json)
    const cleared = await patch(created.id, { customer: null, shipDate: null })
    for (const name of ['customer', 'shipDate']) expect(cleared.json).not.toHaveProperty(name)
  })

  test.each(['cancelled', 'expired'])(
    'of a %s order is 409 order_closed, and nothing changes',
    async (state) => {
      const { id, expiresAt } = await made(1, state === 'expired' ? { holdSeconds: 1 } : {})
      const closedAt = expiresAt ?? isoNow()
      if (state === 'cancelled') expect((await cancel(id)).status).toBe(204)
      service.now += SECOND
      const before = await service.contents()
      for (const body of [{ complete: true }, { shipDate: '2027-01-01T00:00:00Z' }]) {
        const { error } = await patch(id, body)
        expect(error).toMatchObject({
          code: 'order_closed',
          status: 409,
          message: `order ${id} is already ${state}; nothing was changed`,
          details: [{ index: 0, petId: 1, code: 'order_closed', state }],
        })
      }
      expect(await service.contents()).toEqual(before)
      expect(await read(id)).toMatchObject({ state, closedAt })
      if (state === 'expired') expect(await read(id)).not.toHaveProperty('closedBy')
    },
  )

  test('completing with too little stock is 409 insufficient_stock', async () => {
    const { id } = await made(5)
    await service.setQuantity(1n, '{"quantity": 4}')
    expect((await patch(id, { complete: true })).error).toMatchObject({
      code: 'insufficient_stock',
      status: 409,
      message: `order ${id} takes 5 units of petId 1, but only 4 are in stock; nothing was changed`,
      details: [{ code: 'insufficient_stock', available: 4 }],
    })
  })
})

describe('DELETE /store/orders/{orderId}', () => {
  test('releases the reserved units with 204, and is 204 again', async () => {
    const { id } = await made(10)
    const { id: keyId, secret: key } = await service.createKey('pro', { name: 'Anna' })
    for (const _ of [1, 2]) {
      const answer = await cancel(id, { key })
      expect([answer.status, answer.text, answer.headers.has('Content-Length')]).toEqual([204, '', false])
      expect(await available()).toMatchObject({ quantity: 10, reserved: 0 })
    }
    expect(await read(id)).toMatchObject({ state: 'cancelled', closedAt: isoNow(), closedBy: keyId })
  })

  test('of a complete order is 409 order_closed', async () => {
    const { id } = await made(2)
    await patch(id, { complete: true })
    expect((await cancel(id)).error).toMatchObject({ code: 'order_closed', details: [{ state: 'complete' }] })
  })
})

describe('POST /store/orders/batch', () => {
  const batch = (orders: unknown, options?: CallOptions) =>
    service.send('POST', '/store/orders/batch', { orders }, options)

  test('creates the orders in the order of the request, with one request of the limit', async () => {
    const { secret: key } = await service.createKey('pro')
    const drafts = [
      { petId: 1, quantity: 2, customer: 'Anna' },
      { petId: 2, quantity: 1, holdSeconds: 60 },
      { petId: 1, quantity: 3, note: 'gift' },
    ]
    const answer = await batch(drafts, { key })
    const headers = ['Location', 'X-RateLimit-Remaining'].map((name) => answer.headers.get(name))
    expect([answer.status, headers]).toEqual([201, [null, '299']])
    const { orders } = answer.json as { orders: WireOrder[] }
    const expiresAt = new Date(service.now + 60 * SECOND).toISOString()
    expect(orders).toMatchObject([drafts[0], { petId: 2, quantity: 1, expiresAt }, drafts[2]] as object[])
    for (const one of orders) expect<unknown>(await read(one.id)).toEqual(one)
  })

  test('creates nothing if an order cannot be created, and details lists all of them', async () => {
    const before = await service.contents()
    const quantities = [6, 5, 4].map((quantity) => ({ petId: 1, quantity }))
    expect((await batch([...quantities, { petId: 404, quantity: 1 }])).error).toMatchObject({
      code: 'not_found',
      details: [
        { index: 1, petId: 1, code: 'insufficient_stock', available: 4 },
        { index: 3, petId: 404, code: 'not_found' },
      ],
    })
    expect((await batch(quantities.slice(0, 2))).error).toMatchObject({
      code: 'insufficient_stock',
      message:
        'petId 1 has 4 available units after the earlier orders in this request, so 5 cannot be ordered; nothing was changed',
    })
    expect(await service.contents()).toEqual(before)
  })

  test('100 orders with long notes fit', async () => {
    await service.setQuantity(1n, '{"quantity": 100}')
    const { status } = await batch(Array(100).fill({ petId: 1, quantity: 1, note: 'ü'.repeat(1_000) }))
    expect([status, await available()]).toMatchObject([201, { reserved: 100 }])
  })
})

test('an event has the record of the order, right after the change of the quantity', async () => {
  let cursor = await service.store.latestEventCursor()
  const nextEvent = async (): Promise<[kind: string, data: Record<string, unknown>]> => {
    const { text }: Answer = await service.call('GET', `/inventory/events?lastEventId=${cursor}`)
    const [, kind = '', id = '', data = '{}'] = /^event: (\w+)\nid: (.*)\ndata: (.*)$/m.exec(text) ?? []
    cursor = id
    return [kind, JSON.parse(data)]
  }
  const created = await made(2)
  await patch(created.id, { customer: 'Olga' })
  const complete = (await patch(created.id, { complete: true })).json
  const other = await made()
  await cancel(other.id)
  const origin = { at: isoNow(), keyId: expect.stringMatching(/^key_/) }
  const stock = (reserved: number, available: number) => ({ ...origin, reserved, available })
  expect(await nextEvent()).toEqual(['order', { change: 'created', order: created, ...stock(2, 8) }])
  expect(await nextEvent()).toMatchObject(['order', { change: 'changed', order: { customer: 'Olga' } }])
  const sold = { petId: 1, reason: 'sold', reference: `order ${created.id}` }
  expect(await nextEvent()).toMatchObject(['change', sold])
  expect(await nextEvent()).toEqual(['order', { change: 'completed', order: complete, ...stock(0, 8) }])
  await nextEvent()
  const cancelled = { ...other, state: 'cancelled', closedAt: isoNow(), closedBy: origin.keyId }
  expect(await nextEvent()).toEqual(['order', { change: 'cancelled', order: cancelled, ...stock(0, 8) }])
})
