import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { CallOptions } from '../support/test-service.ts'
import { TestService } from '../support/test-service.ts'

const SECOND = 1_000
const DAY = 86_400 * SECOND
const LAST_PET = '9223372036854775807'
let service: TestService
beforeAll(async () => {
  service = await TestService.start()
  await service.send('PATCH', '/pets/2', { barcode: 'MITTENS' })
})
afterAll(() => service.stop())
beforeEach(async () => {
  service.now += 3_600 * SECOND
  for (const { id } of await service.store.listOrders({ state: 'open' }, 1_000)) await cancel(id)
  await service.setQuantity(1n, '{"quantity": 10}')
  await service.setQuantity(2n, '{"quantity": 5}')
})

interface WireOrder {
  readonly id: number
  readonly expiresAt?: string
  readonly createdAt: string
  readonly adjustmentId?: number
}

const line = (petId: number, quantity: number) => ({ petId, quantity })
const BASKET = { lines: [line(2, 1), line(1, 4)] }
const PERSON = { customer: 'Anna Smith, 555 0134', note: 'gift\nno receipt' }
const order = (body: unknown, options?: CallOptions) => service.send('POST', '/store/orders', body, options)
const patch = (id: number, body: unknown, options?: CallOptions) =>
  service.send('PATCH', `/store/orders/${id}`, body, options)
const cancel = (id: number | bigint, options?: CallOptions) =>
  service.call('DELETE', `/store/orders/${id}`, options)
const read = async (id: number) => (await service.call('GET', `/store/orders/${id}`)).json as WireOrder
const created = async (body: object = BASKET) => {
  const answer = await order(body)
  expect(answer.status).toBe(201)
  return answer.json as WireOrder
}
const stockOf = async (petId: number) => {
  const { json } = await service.call('GET', `/inventory/${petId}/availability`)
  const { quantity, reserved } = json as { quantity: number; reserved: number }
  return `${reserved}/${quantity}`
}
const isoNow = (offset = 0) => new Date(service.now + offset).toISOString()
const withKey = (key: string) => ({ headers: { 'Idempotency-Key': key } })

describe('POST /store/orders', () => {
  test('answers 201 with the order and its Location; quantity stays the shelf quantity', async () => {
    const { id: keyId, secret: key } = await service.createKey('pro')
    const body = {
      ...BASKET,
      shipDate: '2026-12-24T18:00:00+01:00',
      reference: 'cart 7',
      metadata: { till: '3' },
    }
    const answer = await order(body, { key })
    const { id } = answer.json as WireOrder
    expect([answer.status, answer.headers.get('Location')]).toEqual([201, `/v1/store/orders/${id}`])
    expect(answer.text).toBe(
      `{"id":${id},"lines":[{"petId":1,"quantity":4,"returned":0},{"petId":2,"quantity":1,"returned":0}],"state":"open","complete":false,"reference":"cart 7","shipDate":"2026-12-24T17:00:00.000Z","metadata":{"till":"3"},"createdAt":"${isoNow()}","createdBy":"${keyId}"}`,
    )
    expect((await service.call('GET', `/store/orders/${id}`)).text).toBe(answer.text)
    expect([await stockOf(1), await stockOf(2)]).toEqual(['4/10', '1/5'])
    expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(10)
  })

  test('takes one line in short, with an int64 or a barcode, and a hold has an expiry', async () => {
    const answer = await order(`{"petId": ${LAST_PET}, "quantity": 1.0, "holdSeconds": 2592000}`)
    expect(answer.text).toContain(`"lines":[{"petId":${LAST_PET},"quantity":1,"returned":0}]`)
    const { expiresAt = '', createdAt } = answer.json as WireOrder
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(2_592_000 * SECOND)
    expect(await created({ barcode: 'MITTENS', quantity: 2 })).toMatchObject({ lines: [line(2, 2)] })
  })

  test('names the pets of lines by their barcodes, each pet once', async () => {
    const scanned = { barcode: 'MITTENS', quantity: 1 }
    expect(await created({ lines: [scanned, line(1, 1)] })).toMatchObject({ lines: [line(1, 1), line(2, 1)] })
    const twice = await order({ lines: [scanned, line(2, 1)] })
    expect(twice.error).toMatchObject({ status: 400, message: 'petId 2 occurs twice; name each pet once' })
    const unknown = await order({ lines: [line(1, 1), { barcode: 'NONE', quantity: 1 }] })
    expect(unknown.error).toMatchObject({
      code: 'not_found',
      details: [{ index: 1, message: 'no pet has the barcode NONE' }],
    })
  })

  test('orders 1 to 100 lines, with long notes', async () => {
    const pets = Array.from({ length: 101 }, (_, index) => ({
      id: 500 + index,
      name: 'P',
      categoryId: 1,
      quantity: 1,
    }))
    expect((await service.send('POST', '/pets/batch', { pets })).status).toBe(200)
    const lines = pets.map(({ id }) => line(id, 1))
    const { status } = await order({ lines: lines.slice(0, 100), note: 'ü'.repeat(1_000) })
    expect([status, (await order({ lines })).status, (await order({ lines: [] })).status]).toEqual([
      201, 400, 400,
    ])
  })

  test('reserves nothing if one line cannot be ordered, and details has each of these lines', async () => {
    const before = await service.contents()
    const { error } = await order({ lines: [line(1, 11), line(2, 5), line(404, 1), line(3, 1)] })
    expect(error).toMatchObject({
      code: 'not_found',
      details: [
        { index: 0, petId: 1, code: 'insufficient_stock', available: 10 },
        { index: 2, petId: 404, code: 'not_found' },
        { index: 3, petId: 3, code: 'insufficient_stock', available: 0 },
      ],
    })
    expect(error.message).toStartWith(
      '3 lines cannot be saved, so nothing was changed; see details for each of them',
    )
    const message = 'petId 1 has 10 available units, so 11 cannot be ordered'
    expect((await order(line(1, 11))).error).toEqual({
      code: 'insufficient_stock',
      status: 409,
      message: `${message}; nothing was changed`,
      details: [{ index: 0, petId: 1, code: 'insufficient_stock', message, available: 10 }],
    })
    expect(await service.contents()).toEqual(before)
  })
})

describe('a sale at once', () => {
  test('takes available units in one commit, and is an adjustment with the reference of the order', async () => {
    await created({ petId: 1, quantity: 9 })
    const sale = { ...BASKET, complete: true, reference: 'receipt 17' }
    expect((await order(sale)).error).toMatchObject({
      code: 'insufficient_stock',
      details: [{ index: 1, petId: 1, available: 1 }],
    })
    const sold = await created({ ...sale, evenIfReserved: true })
    expect(sold).toMatchObject({ state: 'complete', complete: true, closedAt: isoNow() })
    expect([await stockOf(1), await stockOf(2)]).toEqual(['9/6', '0/4'])
    const { json } = await service.call('GET', `/inventory/adjustments/${sold.adjustmentId}`)
    expect(json).toMatchObject({
      reason: 'sold',
      reference: 'receipt 17',
      orderId: sold.id,
      lines: [{ petId: 1, delta: -4 }, { petId: 2 }],
    })
  })

  test('that is sent late changes no pet that was counted since, and is too late after 30 days', async () => {
    await service.setQuantity(1n, '{"quantity": 3}')
    const occurredAt = isoNow(-60 * SECOND)
    const sold = await created({ ...BASKET, complete: true, occurredAt })
    const { json } = await service.call('GET', `/inventory/adjustments/${sold.adjustmentId}`)
    expect(json).toMatchObject({
      occurredAt,
      recordedAt: isoNow(),
      lines: [{ petId: 1, effect: 'already_counted' }, {}],
    })
    expect(await stockOf(1)).toBe('0/3')
    const { id } = await created({ petId: 1, quantity: 1 })
    const late = { complete: true, occurredAt: isoNow(-30 * DAY - 1) }
    for (const answer of [await order({ petId: 1, quantity: 1, ...late }), await patch(id, late)]) {
      expect([answer.status, answer.error.code]).toEqual([409, 'too_late'])
    }
    expect((await patch(id, { complete: true, occurredAt })).json).toMatchObject({ complete: true })
  })

  test('is remembered for 31 days if it says when the goods left', async () => {
    const sell = () => order({ petId: 1, quantity: 1, complete: true, occurredAt }, withKey('offline'))
    const occurredAt = isoNow()
    const { id } = (await sell()).json as WireOrder
    service.now += 31 * DAY - 1
    const again = await sell()
    expect([again.status, again.isReplayed, (again.json as WireOrder).id]).toEqual([201, true, id])
    service.now += 1
    expect((await sell()).error.code).toBe('too_late')
  })
})

describe('PATCH /store/orders/{orderId}', () => {
  test('completes an order; repeating it is the same answer and changes nothing, unless only an open one counts', async () => {
    const { id } = await created()
    const [{ id: keyId, secret: key }, other] = [
      await service.createKey('pro'),
      await service.createKey('pro'),
    ]
    const first = await patch(id, { complete: true }, { key })
    const closed = { id, complete: true, state: 'complete', closedAt: isoNow(), closedBy: keyId }
    expect([first.status, first.json]).toMatchObject([200, closed])
    expect([await stockOf(1), await stockOf(2)]).toEqual(['0/6', '0/4'])
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

  test('completes nothing if one line lacks stock', async () => {
    const { id } = await created()
    await service.setQuantity(1n, '{"quantity": 3}')
    expect((await patch(id, { complete: true })).error).toMatchObject({
      code: 'insufficient_stock',
      message: 'the quantity of petId 1 is 3, so 4 cannot be taken away; nothing was changed',
      details: [{ petId: 1, available: 3 }],
    })
    expect([await stockOf(1), await stockOf(2)]).toEqual(['4/3', '1/5'])
  })

  test('replaces the lines, all or none, by petId or barcode', async () => {
    const { id } = await created()
    const refused = await patch(id, { lines: [line(1, 10), { barcode: 'MITTENS', quantity: 6 }] })
    expect(refused.error).toMatchObject({
      code: 'insufficient_stock',
      details: [{ index: 1, petId: 2, available: 4 }],
    })
    const { json } = await patch(id, { lines: [{ barcode: 'MITTENS', quantity: 5 }], note: 'fewer' })
    expect(json).toMatchObject({ lines: [line(2, 5)], note: 'fewer' })
    expect<unknown>(await read(id)).toEqual(json)
    expect([await stockOf(1), await stockOf(2)]).toEqual(['0/10', '5/5'])
  })

  test('restarts a hold from now, makes it firm, and makes a firm order a hold', async () => {
    const { id } = await created({ ...BASKET, holdSeconds: 60 })
    service.now += 59 * SECOND
    expect((await patch(id, { holdSeconds: 60 })).json).toMatchObject({ expiresAt: isoNow(60 * SECOND) })
    service.now += 59 * SECOND
    expect((await patch(id, { holdSeconds: null })).json).not.toHaveProperty('expiresAt')
    service.now += 3_600 * SECOND
    expect(await read(id)).toMatchObject({ state: 'open' })
    expect((await patch(id, { holdSeconds: 1 })).json).toMatchObject({ expiresAt: isoNow(SECOND) })
    service.now += SECOND
    expect((await patch(id, { holdSeconds: 60 })).error.code).toBe('order_closed')
  })

  test('honours a late payment if the units are still available', async () => {
    const [first, second] = [
      await created({ ...BASKET, holdSeconds: 1 }),
      await created({ ...BASKET, holdSeconds: 1 }),
    ]
    service.now += DAY
    const late = { complete: true, evenIfExpired: true }
    expect((await patch(first.id, late)).json).toMatchObject({ state: 'complete', closedAt: isoNow() })
    await created({ petId: 1, quantity: 5 })
    const details = [{ index: 0, petId: 1, available: 1 }]
    expect((await patch(second.id, late)).error).toMatchObject({ code: 'insufficient_stock', details })
    expect([await stockOf(1), await stockOf(2)]).toEqual(['5/6', '0/4'])
  })

  test('changes the details, and null clears them', async () => {
    const details = { ...PERSON, shipDate: '2026-12-01T10:00:00Z', reference: 'a', metadata: { a: 'b' } }
    const { id } = await created({ ...BASKET, ...details })
    const changes = {
      customer: 'Ben',
      shipDate: '2027-01-01T00:00:00.500Z',
      reference: 'b',
      metadata: { c: 'd' },
    }
    const changed = await patch(id, { ...changes, note: null })
    expect(changed.json).toMatchObject(changes)
    expect(changed.json).not.toHaveProperty('note')
    expect<unknown>(await read(id)).toEqual(changed.json)
    const cleared = await patch(id, { customer: null, shipDate: null, reference: null, metadata: null })
    for (const name of Object.keys(details)) expect(cleared.json).not.toHaveProperty(name)
  })

  test.each(['cancelled', 'expired'])(
    'of a %s order is 409 order_closed, and nothing changes',
    async (state) => {
      const { id, expiresAt } = await created({
        ...BASKET,
        ...(state === 'expired' ? { holdSeconds: 1 } : {}),
      })
      const closedAt = expiresAt ?? isoNow()
      if (state === 'cancelled') expect((await cancel(id)).status).toBe(204)
      service.now += SECOND
      const before = await service.contents()
      for (const body of [
        { complete: true },
        { shipDate: isoNow() },
        { lines: [line(1, 1)] },
        { customer: 'x' },
      ]) {
        expect((await patch(id, body)).error).toMatchObject({
          code: 'order_closed',
          status: 409,
          message: `order ${id} is already ${state}; nothing was changed`,
          details: [{ index: 0, code: 'order_closed', state }],
        })
      }
      expect(await service.contents()).toEqual(before)
      expect(await read(id)).toMatchObject({ state, closedAt })
      if (state === 'expired') expect(await read(id)).not.toHaveProperty('closedBy')
    },
  )
})

describe('DELETE /store/orders/{orderId}', () => {
  test('releases the reserved units with 204, and is 204 again', async () => {
    const { id } = await created()
    const { id: keyId, secret: key } = await service.createKey('pro', { name: 'Anna' })
    for (const _ of [1, 2]) {
      const answer = await cancel(id, { key })
      expect([answer.status, answer.text, answer.headers.has('Content-Length')]).toEqual([204, '', false])
      expect([await stockOf(1), await stockOf(2)]).toEqual(['0/10', '0/5'])
    }
    expect(await read(id)).toMatchObject({ state: 'cancelled', closedAt: isoNow(), closedBy: keyId })
  })

  test('of a complete order is 409 order_closed', async () => {
    const { id } = await created({ ...BASKET, complete: true })
    expect((await cancel(id)).error).toMatchObject({ code: 'order_closed', details: [{ state: 'complete' }] })
  })
})

test('a return is a reversal of the adjustment, by line, and the order shows it', async () => {
  const { id, adjustmentId } = await created({ ...BASKET, complete: true })
  const takeBack = (lines: object[]) =>
    service.send('POST', `/inventory/adjustments/${adjustmentId}/reverse`, { reason: 'returned', lines })
  expect((await takeBack([line(1, 3)])).status).toBe(200)
  expect(await read(id)).toMatchObject({ state: 'complete', lines: [{ returned: 3 }, { returned: 0 }] })
  expect((await takeBack([line(1, 2)])).error.code).toBe('already_reversed')
  expect(await stockOf(1)).toBe('0/9')
})

describe('personal data', () => {
  test('is erased in every state, from the order, its list, and the answers to repeated requests', async () => {
    const once = withKey('erased')
    const person = { lines: [line(1, 2), line(2, 1)], ...PERSON }
    const open = (await order(person, once)).json as WireOrder
    const sold = await created({ ...person, complete: true })
    const cancelled = await created(person)
    await cancel(cancelled.id)
    const held = await created({ petId: 2, quantity: 1, ...PERSON, holdSeconds: 1 })
    service.now += SECOND
    for (const { id } of [open, sold, cancelled, held]) {
      expect(await read(id)).toMatchObject(PERSON)
      const { status, text } = await patch(id, { customer: null, note: null })
      expect(status).toBe(200)
      expect((await service.call('GET', `/store/orders/${id}`)).text).toBe(text)
      expect(text).not.toMatch(/customer|note/)
    }
    const again = await order(person, once)
    expect([again.isReplayed, again.json]).toEqual([true, await read(open.id)])
  })

  test('is in no event, and in no remembered answer', async () => {
    const after = await service.store.latestEventCursor()
    const { id } = (await order({ ...BASKET, ...PERSON }, withKey('person'))).json as WireOrder
    await patch(id, { customer: 'Anna Smith' }, withKey('renamed'))
    await patch(id, { complete: true }, withKey('sold'))
    const { text } = await service.call('GET', `/events?after=${after}`)
    const rows = await service.run('SELECT answer FROM idempotency UNION ALL SELECT detail FROM log')
    for (const stored of [text, JSON.stringify(rows)]) expect(stored).not.toMatch(/Anna|555 0134|no receipt/)
  })
})

test('a repeated request reads the order again, with the first status, and does nothing', async () => {
  const create = () => order(BASKET, withKey('again'))
  const first = await create()
  const { id } = first.json as WireOrder
  const complete = () => patch(id, { complete: true }, withKey('complete-again'))
  const completed = await complete()
  const before = await service.contents()
  for (const [again, status] of [
    [await create(), 201],
    [await complete(), 200],
  ] as const) {
    expect([again.status, again.isReplayed, again.text]).toEqual([status, true, completed.text])
    expect(again.etag).toBe(completed.etag)
  }
  expect((await create()).headers.get('Location')).toBe(first.headers.get('Location'))
  expect(await service.contents()).toEqual(before)
})

test('an event has the order without its person, right after the changes of quantities, with the stock of each pet', async () => {
  const after = await service.store.latestEventCursor()
  const { id } = await created({ ...BASKET, ...PERSON, reference: 'cart 7', metadata: { a: 'b' } })
  await patch(id, { lines: [line(1, 2), line(2, 1)] })
  await patch(id, { complete: true })
  const other = await created({ petId: 1, quantity: 1 })
  await cancel(other.id)
  const { json } = await service.call('GET', `/events?after=${after}`)
  const events = (json as { kind: string; order?: object; change?: object }[]).map(
    ({ order: of, change }) => of ?? change,
  )
  const origin = { at: isoNow(), keyId: expect.stringMatching(/^key_/) }
  const event = (change: string, state: string, ...lines: number[][]) => ({
    ...origin,
    change,
    orderId: id,
    state,
    reference: 'cart 7',
    metadata: { a: 'b' },
    lines: lines.map(([petId, quantity, reserved, available]) => ({ petId, quantity, reserved, available })),
  })
  expect(events).toMatchObject([
    event('created', 'open', [1, 4, 4, 6], [2, 1, 1, 4]),
    event('changed', 'open', [1, 2, 2, 8], [2, 1, 1, 4]),
    { petId: 1, before: 10, after: 8, reserved: 0, available: 8, reason: 'sold', reference: 'cart 7' },
    { petId: 2, before: 5, after: 4, reserved: 0, available: 4 },
    event('completed', 'complete', [1, 2, 0, 8], [2, 1, 0, 4]),
    { change: 'created', orderId: other.id, lines: [{ petId: 1, quantity: 1, reserved: 1, available: 7 }] },
    { change: 'cancelled', state: 'cancelled', lines: [{ reserved: 0, available: 8 }] },
  ])
  expect(events[0]).toEqual(event('created', 'open', [1, 4, 4, 6], [2, 1, 1, 4]))
})
