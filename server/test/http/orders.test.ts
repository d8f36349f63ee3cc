import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { operatorOf } from '../support/operator.ts'
import { type Answer, type CallOptions, TestService } from '../support/test-service.ts'

const OPEN = '9007199254740993'
const SECOND = 1_000
let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())
beforeEach(async () => {
  service.now += 3_600 * SECOND
  await empty()
  await service.setQuantity(1n, '{"quantity": 10}')
})

interface WireOrder {
  readonly id: number
  readonly petId: number
  readonly quantity: number
  readonly shipDate?: string
  readonly complete: boolean
  readonly state: string
  readonly createdAt: string
  readonly expiresAt?: string
  readonly closedAt?: string
  readonly createdBy?: string
  readonly closedBy?: string
  readonly customer?: string
  readonly note?: string
}

/** Cancels the open orders of the first two pets. */
async function empty(): Promise<void> {
  for (const petId of [1n, 2n]) {
    for (const { id } of await service.store.listOrders({ petId, state: 'open' }, 1_000)) await cancel(id)
  }
}

const sent = (method: string, path: string, body: unknown, options: CallOptions = {}): Promise<Answer> =>
  service.call(method, path, {
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...options,
    headers: { 'Content-Type': 'application/json', ...options.headers },
  })
const order = (body: unknown, options?: CallOptions) => sent('POST', '/store/orders', body, options)
const patch = (id: number | string, body: unknown, options?: CallOptions) =>
  sent('PATCH', `/store/orders/${id}`, body, options)
const cancel = (id: number | bigint | string, options?: CallOptions) =>
  sent('DELETE', `/store/orders/${id}`, undefined, options)
const wire = (answer: Answer) => answer.json as WireOrder
const made = async (quantity = 1, more: object = {}) => {
  const answer = await order({ petId: 1, quantity, ...more })
  expect(answer.status).toBe(201)
  return wire(answer)
}
const ownKeyId = async () => ((await service.call('GET', '/limits')).json as { key: { id: string } }).key.id
const available = async (petId: number | string = 1) =>
  (await service.call('GET', `/inventory/${petId}/availability`)).json
describe('POST /store/orders', () => {
  test('creates an order that reserves units; quantity stays the shelf quantity', async () => {
    const answer = await order({ petId: 1, quantity: 3, shipDate: '2026-12-24T18:00:00+01:00' })
    const { id } = wire(answer)
    expect(answer.status).toBe(201)
    expect(answer.headers.get('Location')).toBe(`/v1/store/orders/${id}`)
    expect(answer.text).toBe(
      `{"id":${id},"petId":1,"quantity":3,"shipDate":"2026-12-24T17:00:00.000Z","complete":false,"state":"open","createdAt":"${new Date(service.now).toISOString()}","createdBy":"${await ownKeyId()}"}`,
    )
    expect((await service.fetch('GET', `/v1/store/orders/${id}`)).text).toBe(answer.text)
    expect(await available()).toEqual({ petId: 1, quantity: 10, reserved: 3, available: 7 })
    expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(10)
  })

  test('ship date and hold are optional; a hold has an expiry', async () => {
    expect(Object.keys(await made())).toEqual([
      'id',
      'petId',
      'quantity',
      'complete',
      'state',
      'createdAt',
      'createdBy',
    ])
    const hold = await made(1, { holdSeconds: 2_592_000 })
    expect(Date.parse(hold.expiresAt ?? '') - Date.parse(hold.createdAt)).toBe(2_592_000 * SECOND)
  })

  test('more than available is 409, and the message states what is available', async () => {
    await made(4)
    const before = await service.contents()
    const answer = await order({ petId: 1, quantity: 7 })
    expect([answer.status, answer.error.code]).toEqual([409, 'insufficient_stock'])
    const message = 'petId 1 has 6 available units, so 7 cannot be ordered'
    expect(answer.error).toEqual({
      code: 'insufficient_stock',
      status: 409,
      message: `${message}; nothing was changed`,
      details: [{ index: 0, petId: 1, code: 'insufficient_stock', message, available: 6 }],
    } as typeof answer.error)
    expect(await service.contents()).toEqual(before)
    expect((await order({ petId: 1, quantity: 6 })).status).toBe(201)
    expect((await order({ petId: 1, quantity: 1 })).error.message).toContain('petId 1 has 0 available units')
  })

  test('an unknown pet is 404', async () => {
    const answer = await order({ petId: 404, quantity: 1 })
    expect([answer.status, answer.error.code]).toEqual([404, 'not_found'])
  })

  test('ids are int64, also in the body', async () => {
    const answer = await order('{"petId": 9223372036854775807, "quantity": 1}')
    expect(answer.text).toContain('"petId":9223372036854775807,')
    expect((await service.call('GET', `/store/orders/${wire(answer).id}`)).text).toBe(answer.text)
    expect((await cancel(wire(answer).id)).status).toBe(204)
    expect((await order('{"petId": 9223372036854775806, "quantity": 1}')).status).toBe(404)
  })

  test('5.0 is an integer', async () => {
    const answer = await order('{"petId": 1.0, "quantity": 2.0}')
    expect([answer.status, wire(answer)]).toMatchObject([
      201,
      { quantity: 2, state: 'open', complete: false },
    ])
  })

  test.each([
    ['{"petId": 1}', 'quantity is missing; it must be an integer from 1 to 9007199254740991'],
    ['{"petId": 1, "quantity": 0}', 'got 0'],
    ['{"petId": 1, "quantity": -1}', 'got -1'],
    ['{"petId": 1, "quantity": 1.5}', 'got 1.5'],
    ['{"petId": 1, "quantity": "1"}', 'got "1" (a string)'],
    ['{"petId": 1, "quantity": null}', 'got null'],
    ['{"petId": 1, "quantity": true}', 'got true (a boolean)'],
    ['{"petId": 1, "quantity": 9007199254740992}', 'got 9007199254740992'],
    ['{"quantity": 1}', 'petId is missing; it must be an integer'],
    ['{"petId": "1", "quantity": 1}', 'in plain digits, got "1"'],
    ['{"petId": 9223372036854775808, "quantity": 1}', 'got 9223372036854775808'],
    [
      '{"petId": 1, "quantity": 1, "holdSeconds": 0}',
      'holdSeconds must be an integer from 1 to 2592000, got 0',
    ],
    ['{"petId": 1, "quantity": 1, "holdSeconds": 2592001}', 'got 2592001'],
    ['{"petId": 1, "quantity": 1, "holdSeconds": "60"}', 'got "60" (a string)'],
    ['{"petId": 1, "quantity": 1, "holdSeconds": 1.5}', 'got 1.5'],
    ['{"petId": 1, "quantity": 1, "holdSeconds": null}', 'got null'],
    ['{"petId": 1, "quantity": 1, "shipDate": "tomorrow"}', 'shipDate must be a date and time with its zone'],
    ['{"petId": 1, "quantity": 1, "shipDate": "2026-02-30T10:00:00Z"}', 'got "2026-02-30T10:00:00Z"'],
    ['{"petId": 1, "quantity": 1, "shipDate": 1790000000}', 'got 1790000000'],
    ['{"petId": 1, "quantity": 1, "shipDate": null}', 'got null'],
    ['[{"petId": 1, "quantity": 1}]', 'must be a JSON object'],
    ['{"petId": 1, "quantity": 1', 'not valid JSON'],
  ])('%s is 400 and changes nothing', async (body, message) => {
    const before = await service.contents()
    const answer = await order(body)
    expect([answer.status, answer.error.code]).toEqual([400, 'invalid_request'])
    expect(answer.error.message).toContain(message)
    expect(await service.contents()).toEqual(before)
  })
})

describe('PATCH /store/orders/{orderId}', () => {
  test('with onlyIfOpen, exactly one of two callers completes the order', async () => {
    const { id } = await made(2)
    const body = { complete: true, onlyIfOpen: true }
    const answers = await Promise.all([patch(id, body), patch(id, body)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.json).toMatchObject({
      code: 'order_closed',
      details: [{ code: 'order_closed', state: 'complete' }],
    })
    expect(await available()).toEqual({ petId: 1, quantity: 8, reserved: 0, available: 8 })
    expect((await patch(id, { complete: true })).status).toBe(200)
  })

  test('completing reduces quantity and reserved, and the history has the reason; repeating it is 200 and changes nothing', async () => {
    const { id } = await made(4)
    await made(1)
    const first = await patch(id, { complete: true })
    expect([first.status, wire(first)]).toMatchObject([200, { id, complete: true, state: 'complete' }])
    expect(await available()).toEqual({ petId: 1, quantity: 6, reserved: 1, available: 5 })
    const [latest] = (await service.call('GET', '/inventory/1/history')).json as object[]
    expect(latest).toMatchObject({ before: 10, after: 6, reason: 'sold', reference: `order ${id}` })
    const before = await service.contents()
    const again = await patch(id, { complete: true })
    expect([again.status, again.text]).toEqual([200, first.text])
    expect(await service.contents()).toEqual(before)
  })

  test('changes the ship date while the order is open', async () => {
    const { id } = await made(1, { shipDate: '2026-12-01T10:00:00Z' })
    const answer = await patch(id, { shipDate: '2027-01-01T00:00:00.5Z' })
    expect([answer.status, wire(answer).shipDate]).toEqual([200, '2027-01-01T00:00:00.500Z'])
    expect(await available()).toMatchObject({ reserved: 1 })
    await patch(id, { complete: true })
    expect((await patch(id, { shipDate: '2027-01-02T00:00:00Z' })).error.code).toBe('order_closed')
  })

  test('for a cancelled order both are 409 order_closed, and nothing changes', async () => {
    const { id } = await made()
    await cancel(id)
    const before = await service.contents()
    for (const body of [{ complete: true }, { shipDate: '2027-01-01T00:00:00Z' }]) {
      const answer = await patch(id, body)
      expect([answer.status, answer.error.code]).toEqual([409, 'order_closed'])
      expect(answer.error.message).toContain(`order ${id} is already cancelled`)
      expect(answer.error).toMatchObject({
        details: [{ index: 0, petId: 1, code: 'order_closed', state: 'cancelled' }],
      })
    }
    expect(await service.contents()).toEqual(before)
  })

  test('so are they for an expired order', async () => {
    const { id } = await made(1, { holdSeconds: 1 })
    service.now += SECOND
    for (const body of [{ complete: true }, { shipDate: '2027-01-01T00:00:00Z' }]) {
      expect((await patch(id, body)).error).toMatchObject({
        code: 'order_closed',
        status: 409,
        details: [{ state: 'expired' }],
      })
    }
    expect(await available()).toMatchObject({ quantity: 10, reserved: 0 })
  })

  test('completing with too little stock is 409 insufficient_stock', async () => {
    const { id } = await made(5)
    await service.setQuantity(1n, '{"quantity": 4}')
    const answer = await patch(id, { complete: true })
    expect([answer.status, answer.error.code]).toEqual([409, 'insufficient_stock'])
    expect(answer.error.message).toContain(`order ${id} takes 5 units of petId 1, but only 4 are in stock`)
    expect(answer.error).toMatchObject({ details: [{ code: 'insufficient_stock', available: 4 }] })
    expect(await available()).toEqual({ petId: 1, quantity: 4, reserved: 5, available: -1 })
  })

  test.each([
    ['{"complete": true, "shipDate": "2027-01-01T00:00:00Z"}', 'got both'],
    ['{"complete": false}', 'complete must be true (DELETE cancels an order), got false'],
    ['{"complete": "true"}', 'got "true" (a string)'],
    ['{"complete": null}', 'got null'],
    ['{"shipDate": "2027-01-01"}', 'shipDate must be a date and time with its zone'],
    ['{"quantity": 3}', 'unknown field "quantity"'],
  ])('%s is 400 and changes nothing', async (body, message) => {
    const before = await service.contents()
    const answer = await patch(OPEN, body)
    expect([answer.status, answer.error.code]).toEqual([400, 'invalid_request'])
    expect(answer.error.message).toContain(message)
    expect(await service.contents()).toEqual(before)
  })
})

describe('DELETE /store/orders/{orderId}', () => {
  test('releases the reserved units with 204, and is 204 again', async () => {
    const { id } = await made(10)
    for (const _ of [1, 2]) {
      const answer = await cancel(id)
      expect([answer.status, answer.text, answer.headers.has('Content-Length')]).toEqual([204, '', false])
      expect(await available()).toEqual({ petId: 1, quantity: 10, reserved: 0, available: 10 })
    }
    expect(wire(await service.call('GET', `/store/orders/${id}`)).state).toBe('cancelled')
  })

  test('is 409 order_closed for a complete order, 204 for an expired one, and changes neither', async () => {
    const { id } = await made(2)
    await patch(id, { complete: true })
    const hold = await made(1, { holdSeconds: 1 })
    service.now += SECOND
    const before = await service.contents()
    expect((await cancel(id)).error).toMatchObject({
      code: 'order_closed',
      status: 409,
      details: [{ state: 'complete' }],
    })
    expect((await cancel(hold.id)).status).toBe(204)
    expect(await service.contents()).toEqual(before)
    expect(wire(await service.call('GET', `/store/orders/${hold.id}`)).state).toBe('expired')
  })
})

describe('an unknown order', () => {
  test.each(['404', '-1', '9223372036854775807'])('%s is 404', async (id) => {
    for (const answer of [
      await service.call('GET', `/store/orders/${id}`),
      await patch(id, { complete: true }),
      await cancel(id),
    ]) {
      expect([answer.status, answer.error.code]).toEqual([404, 'not_found'])
      expect(answer.error.message).toContain(`there is no order ${id}`)
    }
  })

  test.each(['abc', '1.5', '9223372036854775808', '007', ''])('an id like "%s" is 400', async (id) => {
    for (const answer of [
      await service.call('GET', `/store/orders/${id}`),
      await patch(id, { complete: true }),
      await cancel(id),
    ]) {
      expect([answer.status, answer.error.code]).toEqual([400, 'invalid_request'])
      expect(answer.error.message).toMatch(/^orderId .*must be an integer/)
    }
  })
})

const isoNow = () => new Date(service.now).toISOString()

describe('customer and note', () => {
  test('are part of the order, can be changed, and null clears them', async () => {
    const created = await made(1, { customer: 'Anna Smith, 555 0134', note: 'gift\nno receipt' })
    expect(created).toMatchObject({ customer: 'Anna Smith, 555 0134', note: 'gift\nno receipt' })
    const changed = await patch(created.id, { customer: 'Ben', note: null })
    expect([changed.status, wire(changed)]).toMatchObject([200, { customer: 'Ben' }])
    expect(wire(changed)).not.toHaveProperty('note')
    expect((await service.call('GET', `/store/orders/${created.id}`)).text).toBe(changed.text)
    expect(wire(await patch(created.id, { customer: null }))).not.toHaveProperty('customer')
  })

  test('a ship date can be cleared', async () => {
    const { id } = await made(1, { shipDate: '2026-12-01T10:00:00Z' })
    const cleared = await patch(id, { shipDate: null })
    expect([cleared.status, Object.hasOwn(wire(cleared), 'shipDate')]).toEqual([200, false])
  })

  test.each([
    [{ customer: '' }, 'customer must be 1 to 200 characters'],
    [{ customer: ' ' }, 'customer must be 1 to 200 characters'],
    [{ customer: 'x'.repeat(201) }, 'customer must be 1 to 200 characters'],
    [{ customer: 'Anna\nSmith' }, 'without line ends'],
    [{ customer: 7 }, 'got 7'],
    [{ note: '' }, 'note must be 1 to 1000 characters'],
    [{ note: 'x'.repeat(1_001) }, 'note must be 1 to 1000 characters'],
    [{ note: 'bell\u0007' }, 'without control characters other than line breaks'],
  ])('%j is 400', async (fields, message) => {
    const { id } = await made(1, { note: 'x'.repeat(1_000), customer: '🐶'.repeat(200) })
    for (const answer of [await order({ petId: 1, quantity: 1, ...fields }), await patch(id, fields)]) {
      expect([answer.status, answer.error.message]).toEqual([400, expect.stringContaining(message)])
      expect(answer.error.field).toBe(Object.keys(fields)[0] ?? '')
    }
  })

  test('null is only for updates, and a body completes or changes an order, not both', async () => {
    expect((await order({ petId: 1, quantity: 1, customer: null })).status).toBe(400)
    const { id } = await made()
    for (const body of [{}, { complete: true, note: 'done' }]) {
      const answer = await patch(id, body)
      expect([answer.status, answer.error.message]).toEqual([
        400,
        expect.stringContaining('either complete or at least one of shipDate, customer and note'),
      ])
    }
  })
})

describe('closedAt', () => {
  test('is when the order was completed, also for the second caller who completes it', async () => {
    const open = await made()
    expect(open.closedAt).toBeUndefined()
    const closedAt = isoNow()
    expect(wire(await patch(open.id, { complete: true })).closedAt).toBe(closedAt)
    service.now += 5 * SECOND
    expect(wire(await patch(open.id, { complete: true })).closedAt).toBe(closedAt)
  })

  test('is when the order was cancelled or when the hold expired', async () => {
    const [cancelled, hold] = [await made(), await made(1, { holdSeconds: 60 })]
    const closedAt = isoNow()
    expect((await cancel(cancelled.id)).status).toBe(204)
    service.now += 3_600 * SECOND
    const read = async (id: number) => wire(await service.call('GET', `/store/orders/${id}`))
    expect(await read(cancelled.id)).toMatchObject({ state: 'cancelled', closedAt })
    expect(await read(hold.id)).toMatchObject({ state: 'expired', closedAt: hold.expiresAt ?? '' })
  })
})

describe('createdBy and closedBy', () => {
  test('are the keys that created and closed the order, and GET /keys/names has their names', async () => {
    const anna = await service.createKey('pro', { name: 'Anna' })
    const bob = await service.createKey('pro', { name: 'Bob' })
    const [byAnna, byBob] = [{ key: anna.secret }, { key: bob.secret }]
    const draft = { petId: 1, quantity: 1 }
    const [completed, cancelled] = [wire(await order(draft, byAnna)), wire(await order(draft, byAnna))]
    expect(completed).toMatchObject({ createdBy: anna.id })
    expect(completed.closedBy).toBeUndefined()
    await patch(completed.id, { complete: true }, byBob)
    await cancel(cancelled.id, byBob)
    await patch(completed.id, { complete: true }, byAnna)
    for (const { id } of [completed, cancelled]) {
      const { json } = await service.call('GET', `/store/orders/${id}`)
      expect(json).toMatchObject({ createdBy: anna.id, closedBy: bob.id })
    }
    await operatorOf(service.store).revokeKey(anna.id, { at: service.now, actor: 'test' })
    const names = await service.call('GET', '/keys/names?limit=1000', byBob)
    expect(names.json).toEqual(
      expect.arrayContaining([
        { id: anna.id, name: 'Anna' },
        { id: bob.id, name: 'Bob' },
      ]),
    )
  })

  test('nobody closes a hold that expires', async () => {
    const hold = await made(1, { holdSeconds: 60 })
    service.now += 61 * SECOND
    const { json } = await service.call('GET', `/store/orders/${hold.id}`)
    expect(json).toMatchObject({ state: 'expired', createdBy: await ownKeyId() })
    expect(json).not.toHaveProperty('closedBy')
  })
})

describe('POST /store/orders/batch', () => {
  const batch = (orders: unknown, options?: CallOptions) =>
    sent('POST', '/store/orders/batch', { orders }, options)
  const ordersOf = (answer: Answer) => (answer.json as unknown as { orders: WireOrder[] }).orders

  test('creates the orders in the order of the request, with one request of the limit', async () => {
    const first = await batch([
      { petId: 1, quantity: 2, customer: 'Anna' },
      { petId: 2, quantity: 1, holdSeconds: 60 },
      { petId: 1, quantity: 3, note: 'gift' },
    ])
    expect(first.status).toBe(201)
    expect(first.headers.get('Location')).toBeNull()
    expect(ordersOf(first)).toMatchObject([
      { petId: 1, quantity: 2, customer: 'Anna', state: 'open' },
      { petId: 2, quantity: 1, expiresAt: new Date(service.now + 60 * SECOND).toISOString() },
      { petId: 1, quantity: 3, note: 'gift' },
    ])
    for (const { id } of ordersOf(first)) {
      expect((await service.call('GET', `/store/orders/${id}`)).status).toBe(200)
    }
    expect(await available()).toMatchObject({ quantity: 10, reserved: 5 })
    const { secret } = await service.createKey('pro')
    const remaining = []
    for (let sentRequests = 0; sentRequests < 2; sentRequests++) {
      const answer = await batch(Array(3).fill({ petId: 1, quantity: 1 }), { key: secret })
      remaining.push(Number(answer.headers.get('X-RateLimit-Remaining')))
    }
    expect(remaining[0]).toBe((remaining[1] ?? 0) + 1)
  })

  test('creates nothing if an order cannot be created, and details lists all of them', async () => {
    const before = await service.contents()
    const answer = await batch([
      { petId: 1, quantity: 6 },
      { petId: 404, quantity: 1 },
      { petId: 1, quantity: 5 },
      { petId: 1, quantity: 4 },
    ])
    expect([answer.status, answer.error.code]).toEqual([404, 'not_found'])
    expect(answer.error).toMatchObject({
      details: [
        { index: 1, petId: 404, code: 'not_found' },
        { index: 2, petId: 1, code: 'insufficient_stock', available: 4 },
      ],
    })
    expect(await service.contents()).toEqual(before)
    const refused = await batch([
      { petId: 1, quantity: 6 },
      { petId: 1, quantity: 5 },
    ])
    expect([refused.status, refused.error.code]).toEqual([409, 'insufficient_stock'])
    expect(refused.error.message).toBe(
      'petId 1 has 4 available units after the earlier orders in this request, so 5 cannot be ordered; nothing was changed',
    )
  })

  test('lists every invalid order', async () => {
    const answer = await batch([
      { petId: 1, quantity: 1 },
      { petId: 1, quantity: 0 },
      { petId: 2, quantity: 1, holdSecond: 5 },
      'an order',
    ])
    expect([answer.status, answer.error.code, answer.error.field]).toEqual([
      ...[400, 'invalid_request', 'orders[1].quantity'],
    ])
    expect(answer.error).toMatchObject({
      details: [
        { index: 1, petId: 1, field: 'quantity' },
        { index: 2, petId: 2, field: 'holdSecond' },
        { index: 3, message: expect.stringContaining('an order must be an object') },
      ],
    })
    expect(await available()).toMatchObject({ reserved: 0 })
  })

  test.each([[[]], [{}], [undefined], [Array(101).fill({ petId: 1, quantity: 1 })]])(
    'orders must be an array of 1 to 100',
    async (orders) => {
      const answer = await batch(orders)
      expect([answer.status, answer.error.field]).toEqual([400, 'orders'])
      expect(answer.error.message).toContain('orders must be an array of 1 to 100 orders')
    },
  )

  test('100 orders with long notes fit, and a repeated Idempotency-Key creates nothing again', async () => {
    await service.setQuantity(1n, '{"quantity": 100}')
    const orders = Array(100).fill({ petId: 1, quantity: 1, note: 'ü'.repeat(1_000) })
    const options = { headers: { 'Idempotency-Key': crypto.randomUUID() } }
    const [first, again] = [await batch(orders, options), await batch(orders, options)]
    expect([first.status, again.status, again.text === first.text]).toEqual([201, 201, true])
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    expect(await available()).toMatchObject({ quantity: 100, reserved: 100 })
  })

  test('of two callers who want the last unit at once, one gets all of its orders and the other none', async () => {
    await service.setQuantity(1n, '{"quantity": 1}')
    await service.setQuantity(2n, '{"quantity": 2}')
    const [one, other] = [
      { petId: 1, quantity: 1 },
      { petId: 2, quantity: 1 },
    ]
    const answers = await Promise.all([batch([one, other]), batch([other, one])])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
    expect(await available(1)).toMatchObject({ reserved: 1 })
    expect(await available(2)).toMatchObject({ reserved: 1 })
  })
})
