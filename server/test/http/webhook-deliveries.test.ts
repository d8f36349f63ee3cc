import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { until } from '../support/until.ts'
import { signed, WebhookReceiver } from '../support/webhook-receiver.ts'
import { type Shown, WebhookDesk } from './webhook-desk.ts'

setDefaultTimeout(120_000)

const DAY = 24 * 60 * 60 * 1_000

const desk = new WebhookDesk()
const { sent, create, shown, arrived, settled, changePet, passTime } = desk

describe('a delivery', () => {
  test('contains the event and is signed as specified', async () => {
    const { id, secret } = await create()
    const after = await changePet()
    await arrived(1)
    const [delivery] = desk.receiver.all
    if (delivery === undefined) throw new Error('nothing came')
    expect(JSON.parse(delivery.text)).toEqual({
      type: 'stock.changed',
      timestamp: new Date(desk.service.now).toISOString(),
      data: {
        petId: 1,
        before: expect.any(Number),
        after,
        status: 'available',
        reserved: 0,
        available: after,
        adjustmentId: expect.any(Number),
        at: new Date(desk.service.now).toISOString(),
        occurredAt: new Date(desk.service.now).toISOString(),
        keyId: expect.any(String),
      },
    })
    expect(delivery.seconds).toBe(desk.service.now / 1_000)
    expect(delivery.id).toMatch(/^evt_\d+_[0-9a-f]+$/)
    expect(delivery.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-02$/)
    expect(delivery.signatures).toEqual([signed(delivery, secret)])
    await settled(id)
    await desk.recorded(id, 1)
    const { json } = await desk.service.call('GET', `/webhooks/${id}/deliveries`)
    expect(json).toEqual([
      {
        id: expect.any(String),
        attempt: 1,
        messageId: delivery.id,
        type: 'stock.changed',
        at: new Date(desk.service.now).toISOString(),
        durationMs: expect.any(Number),
        delivered: true,
        status: 204,
        response: '',
      },
    ])
  })

  test('is sent for every subscribed kind, and for no other', async () => {
    const kinds = ['stock.low', 'stock.recovered', 'order.created', 'order.completed', 'order.cancelled']
    const otherKinds = ['order.changed', 'order.expired', 'pet.changed', 'pet.removed', 'category.changed']
    await create({ kinds: [...kinds, ...otherKinds] })
    const pet = (await sent('POST', '/pets', { name: 'Rex', categoryId: 1, quantity: 5, lowStockAt: 2 }))
      .json as Shown
    const person = { customer: 'Zebediah Quux', note: 'For Zebediah' }
    const order = (await sent('POST', '/store/orders', { petId: pet.id, quantity: 3, ...person }))
      .json as Shown
    await sent('PATCH', `/store/orders/${order.id}`, { shipDate: '2027-01-01T00:00:00Z' })
    await sent('PATCH', `/store/orders/${order.id}`, { complete: true })
    await changePet(BigInt(pet.id))
    const other = (await sent('POST', '/store/orders', { petId: pet.id, quantity: 1 })).json as Shown
    await desk.service.call('DELETE', `/store/orders/${other.id}`)
    await sent('POST', '/store/orders', { petId: pet.id, quantity: 1, holdSeconds: 1 })
    await passTime(2_000)
    await arrived(10)
    await desk.service.call('DELETE', `/pets/${pet.id}`)
    await arrived(11)
    await sent('POST', '/categories', { name: 'Birds' })
    await arrived(12)
    expect(desk.receiver.all.map(({ type }) => type)).toEqual([
      ...['pet.changed', 'order.created', 'stock.low', 'order.changed', 'order.completed', 'stock.recovered'],
      ...['order.created', 'order.cancelled', 'order.created', 'order.expired', 'pet.removed'],
      'category.changed',
    ])
    const line = { petId: pet.id, quantity: 3, reserved: 3, available: 2 }
    expect(desk.receiver.all[1]?.data).toMatchObject({ orderId: order.id, state: 'open', lines: [line] })
    expect(desk.receiver.all.map(({ text }) => text).join()).not.toMatch(/Zebediah/)
  })

  test('is retried with the same id and a new signature, and each attempt is listed', async () => {
    const { id, secret } = await create()
    const headers = { 'Retry-After': '120' }
    desk.receiver.reply = () => new Response('not today', { status: 429, headers })
    await changePet()
    await until(async () => (await shown(id)).retryAt !== undefined)
    const { failingSince, retryAt, state, behind, heldPets } = await shown(id)
    expect([state, behind.events, heldPets]).toEqual(['on', 1, 1])
    expect([Date.parse(failingSince), Date.parse(retryAt) - desk.service.now]).toEqual([
      desk.service.now,
      120_000,
    ])
    desk.receiver.reply = () => new Response(null, { status: 299 })
    await passTime(120_000)
    await settled(id)
    const [first, second] = desk.receiver.all
    if (first === undefined || second === undefined) throw new Error('there was no retry')
    expect([second.id, second.seconds]).toEqual([first.id, first.seconds + 120])
    for (const one of [first, second]) expect(one.signatures).toEqual([signed(one, secret)])
    await desk.recorded(id, 2)
    const { json } = await desk.service.call('GET', `/webhooks/${id}/deliveries`)
    expect(json).toMatchObject([
      { attempt: 2, delivered: true, status: 299 },
      {
        attempt: 1,
        delivered: false,
        status: 429,
        error: 'the receiver answered 429',
        response: 'not today',
      },
    ])
    expect((await shown(id)).failingSince).toBeUndefined()
  })

  test.each([301, 410])('fails if it is answered with %i', async (status) => {
    const { id } = await create()
    const elsewhere = new WebhookReceiver()
    desk.receiver.reply = () => new Response(null, { status, headers: { Location: elsewhere.url } })
    await changePet()
    await until(async () => (await shown(id)).failingSince !== undefined || (await shown(id)).state === 'off')
    expect(elsewhere.all).toHaveLength(0)
    const { state, offReason, retryAt } = await shown(id)
    expect([state, offReason, retryAt]).toEqual(
      status === 410
        ? ['off', 'the receiver answered 410 Gone', undefined]
        : ['on', undefined, expect.any(String)],
    )
    const message = 'webhook turned off'
    const logged = (await desk.service.logged()).filter(
      (line) => line.message === message && line.webhookId === String(id),
    )
    expect(logged).toHaveLength(status === 410 ? 1 : 0)
  })

  test('succeeds by its status, however long the body takes', async () => {
    const { id } = await create()
    const endless = new ReadableStream({ start: (body) => body.enqueue(Buffer.from('so far')) })
    desk.receiver.reply = () => new Response(endless, { status: 200 })
    await changePet()
    await desk.recorded(id, 1)
    expect((await desk.service.call('GET', `/webhooks/${id}/deliveries`)).json).toMatchObject([
      { delivered: true, status: 200, response: 'so far' },
    ])
  })

  test('continues at its cursor at a new url, which turns the webhook on again', async () => {
    const { id } = await create()
    desk.receiver.reply = () => new Response(null, { status: 410 })
    await changePet()
    await until(async () => (await shown(id)).state === 'off')
    const elsewhere = new WebhookReceiver()
    const same = (await sent('PATCH', `/webhooks/${id}`, { url: desk.receiver.url })).json as Shown
    expect(same.state).toBe('off')
    const moved = (await sent('PATCH', `/webhooks/${id}`, { url: elsewhere.url })).json as Shown
    expect([moved.state, moved.offAt, moved.offReason]).toEqual(['on', undefined, undefined])
    await settled(id)
    expect(elsewhere.all.map(({ id }) => id)).toEqual([desk.receiver.all[0]?.id ?? ''])
  })

  test('is signed with both secrets for a day after a rotation', async () => {
    const { id, secret } = await create()
    const { secret: newer } = (await sent('POST', `/webhooks/${id}/rotate-secret`)).json as Shown
    await changePet()
    await arrived(1)
    await passTime(DAY)
    await changePet()
    await arrived(2)
    const [one, other] = desk.receiver.all
    if (one === undefined || other === undefined) throw new Error('too little came')
    expect(one.signatures).toEqual([signed(one, newer), signed(one, secret)])
    expect(other.signatures).toEqual([signed(other, newer)])
  })

  test('that is being sent while the webhook is changed is repeated afterwards', async () => {
    const { id } = await create()
    const answer = Promise.withResolvers<Response>()
    desk.receiver.reply = () => answer.promise
    await changePet()
    await arrived(1)
    await sent('PATCH', `/webhooks/${id}`, { paused: true })
    desk.receiver.reply = () => new Response(null, { status: 204 })
    answer.resolve(new Response(null, { status: 204 }))
    expect((await shown(id)).behind.events).toBe(1)
    await sent('PATCH', `/webhooks/${id}`, { paused: false })
    await settled(id)
    expect(desk.receiver.all.map((one) => one.id)).toEqual(Array(2).fill(desk.receiver.all[0]?.id))
  })

  test('is repeated with its id by a replay, from the given event on', async () => {
    const { id } = await create()
    for (const petId of [1n, 2n, 3n]) await changePet(petId)
    await settled(id)
    const second = desk.receiver.all.find(({ data }) => data.petId === 2)?.id
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    expect((await sent('POST', `/webhooks/${id}/replay`, { from: second }, headers)).status).toBe(204)
    await arrived(5)
    await settled(id)
    const again = await sent('POST', `/webhooks/${id}/replay`, { from: second }, headers)
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([204, 'true'])
    await changePet(1n)
    await settled(id)
    const pets = desk.receiver.all.map(({ data }) => data.petId)
    expect([pets.slice(0, 3).sort(), pets.slice(3, 5).sort(), pets.slice(5)]).toEqual([
      [1, 2, 3],
      [2, 3],
      [1],
    ])
    expect(desk.receiver.all[3]?.id === second || desk.receiver.all[4]?.id === second).toBe(true)
  })

  test('is one relist after a replay from a pruned event', async () => {
    const { id } = await create()
    for (let count = 0; count < 3; count++) await changePet()
    await settled(id)
    const from = desk.receiver.all[0]?.id
    await desk.service.store.pruneHistory({ keep: 1 }, 1_000)
    await sent('POST', `/webhooks/${id}/replay`, { from })
    await arrived(4)
    await settled(id)
    expect(desk.receiver.all.slice(3).map(({ id: message, type, data }) => [message, type, data])).toEqual([
      [expect.stringMatching(/^relist_/), 'relist', {}],
    ])
  })

  test('of a test has a type of its own and no data of the store, and the response is returned', async () => {
    const { id, secret } = await create({ kinds: ['order.created'] })
    desk.receiver.reply = () => new Response('x'.repeat(2_000), { status: 418 })
    const tried = (await sent('POST', `/webhooks/${id}/test`)).json as Shown
    expect(tried).toMatchObject({
      type: 'webhook.test',
      delivered: false,
      status: 418,
      error: 'the receiver answered 418',
      response: 'x'.repeat(1_024),
    })
    const [sample] = desk.receiver.all
    if (sample === undefined) throw new Error('nothing came')
    expect([sample.id, sample.signatures]).toEqual([tried.messageId, [signed(sample, secret)]])
    expect(tried.messageId).toMatch(/^test_/)
    expect(JSON.parse(sample.text)).toEqual({
      type: 'webhook.test',
      timestamp: new Date(desk.service.now).toISOString(),
      data: { webhookId: id, test: true },
    })
    await desk.receiver.stop()
    expect((await sent('POST', `/webhooks/${id}/test`)).json).toMatchObject({
      delivered: false,
      error: expect.stringContaining('the receiver could not be reached'),
    })
    await desk.recorded(id, 2)
    expect((await desk.service.call('GET', `/webhooks/${id}/deliveries`)).json).toHaveLength(2)
  })

  test('is retried if the clock was set back', async () => {
    const { id } = await create()
    desk.receiver.reply = () => new Response(null, { status: 500 })
    await changePet()
    await until(async () => (await shown(id)).failingSince !== undefined)
    await passTime(-365 * DAY)
    desk.receiver.reply = () => new Response(null, { status: 204 })
    await settled(id)
    await passTime(365 * DAY)
  })

  test('is retried at once after a rotation', async () => {
    const { id } = await create()
    desk.receiver.reply = () => new Response(null, { status: 401 })
    await changePet()
    await until(async () => (await shown(id)).failingSince !== undefined)
    desk.receiver.reply = () => new Response(null, { status: 204 })
    expect((await sent('POST', `/webhooks/${id}/rotate-secret`)).json).not.toHaveProperty('failingSince')
    await settled(id)
  })

  test('is listed among the last thousand attempts, and says if it is not tried again', async () => {
    const { id } = await create()
    const attempt = { messageId: 'm', type: 'stock.changed', at: 1, durationMs: 1, response: '' }
    const attempts = Array.from({ length: 1_200 }, (_, index) => ({
      ...attempt,
      attempt: index + 1,
      isDelivered: index > 0,
      ...(index === 1_199 ? { isDelivered: false, isParked: true } : {}),
    }))
    for (const from of [0, 400, 800]) {
      await desk.service.store.recordDeliveries(BigInt(id), attempts.slice(from, from + 400))
    }
    const pages = await desk.service.pages(`/webhooks/${id}/deliveries?limit=1000`)
    const listed = pages.flatMap(({ json }) => json as Shown[])
    expect(listed[0]).toMatchObject({ attempt: 1_200, delivered: false, parked: true })
    expect(listed[1]).not.toHaveProperty('parked')
    const numbers = listed.map((one) => one.attempt)
    // Those that are not tried again are kept in addition.
    expect(numbers).toEqual(Array.from({ length: 1_001 }, (_, index) => 1_200 - index))
  })
})
