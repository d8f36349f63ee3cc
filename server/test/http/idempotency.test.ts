import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { DAY } from '../../src/core/values/clock.ts'
import { type Answer, TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

let tests = 0
let key: string
let before: unknown
beforeEach(async () => {
  key = `key-${++tests}`
  await service.setQuantity(1n, '{"quantity": 4}')
  before = await service.contents()
})

const set = (quantity: number, headers: Readonly<Record<string, string>> = {}, petId = 1n) =>
  service.setQuantity(petId, `{"quantity":${quantity}}`, { headers: { 'Idempotency-Key': key, ...headers } })

const adjust = (delta: number, petId = 1, secret = service.key) =>
  service.call('POST', '/inventory/adjustments', {
    key: secret,
    body: `{"reason":"received","changes":[{"petId":${petId},"delta":${delta}}]}`,
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
  })

const quantity = async () => (await service.call('GET', '/inventory/1')).item.quantity

function expectReplay(first: Answer, again: Answer): void {
  expect([again.status, again.text]).toEqual([first.status, first.text])
  expect(again.headers.get('ETag')).toBe(first.headers.get('ETag'))
  expect(again.headers.get('Content-Type')).toBe('application/json')
  expect(first.headers.get('Idempotency-Replayed')).toBeNull()
  expect(again.headers.get('Idempotency-Replayed')).toBe('true')
}

describe('Idempotency-Key', () => {
  test('a repeated adjustment gets the same response and changes nothing', async () => {
    const first = await adjust(3)
    await service.setQuantity(1n, '{"quantity": 50}')
    expectReplay(first, await adjust(3))
    expect(await quantity()).toBe(50)
  })

  test('so does an update, with its ETag', async () => {
    const first = await set(9)
    await service.setQuantity(1n, '{"quantity": 50}')
    expectReplay(first, await set(9))
    expect([first.status, await quantity()]).toEqual([200, 50])
  })

  test('rejections decided in the commit are stored: 404, 409, 412', async () => {
    const first = await adjust(-5)
    expect(first.status).toBe(409)
    await service.setQuantity(1n, '{"quantity": 50}')
    expectReplay(first, await adjust(-5))
    key += 'b'
    const unknown = await set(1, {}, 404n)
    expect(unknown.status).toBe(404)
    expectReplay(unknown, await set(1, {}, 404n))
    key += 'c'
    const conflict = await set(1, { 'If-Match': '"4-available"' })
    expect(conflict.status).toBe(412)
    expectReplay(conflict, await set(1, { 'If-Match': '"4-available"' }))
    expect(await quantity()).toBe(50)
  })

  test('a refusal of 1,000 lines is stored in less than 1,000 bytes, with its first lines', async () => {
    const changes = Array.from({ length: 1_000 }, (_, index) => ({ petId: 10_000 + index, delta: 1 }))
    const refuse = () =>
      service.call('POST', '/inventory/adjustments', {
        body: JSON.stringify({ reason: 'received', changes }),
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      })
    const [first, again] = [await refuse(), await refuse()]
    expect([first.status, again.status]).toEqual([404, 404])
    const refusal = first.json as { readonly message: string; readonly details: readonly unknown[] }
    expect(refusal.details).toHaveLength(1_000)
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    expect(again.json).toEqual({
      ...refusal,
      message: `${refusal.message}; this repeated response lists only the first 3`,
      details: refusal.details.slice(0, 3),
    })
    const [row] = await service.run(`SELECT length(answer) AS bytes FROM idempotency WHERE key = '${key}'`)
    expect(Number(row?.bytes)).toBeLessThan(1_000)
  })

  test.each([
    ['DELETE', undefined],
    ['PATCH', '{"lowStockAt":3}'],
  ])(
    'so is the 404 of %s on a category: a category created meanwhile is not changed',
    async (method, body) => {
      const id = 9_000 + tests
      const headers = { 'Content-Type': 'application/json' }
      const sent = () =>
        service.call(method, `/categories/${id}`, {
          ...(body === undefined ? {} : { body }),
          headers: { ...headers, 'Idempotency-Key': key },
        })
      const first = await sent()
      expect(first.status).toBe(404)
      await service.call('POST', '/categories', { body: `{"id":${id},"name":"New ${id}"}`, headers })
      expectReplay(first, await sent())
      expect((await service.call('GET', '/categories?limit=1000')).json).toContainEqual({
        id,
        name: `New ${id}`,
      })
    },
  )

  test('rejections before the commit are not stored: 400, 429', async () => {
    expect((await service.setQuantity(1n, '{}', { headers: { 'Idempotency-Key': key } })).status).toBe(400)
    await service.setQuantity(1n, '{"quantity": 9007199254740991}')
    expect((await adjust(1)).status).toBe(400)
    await service.setQuantity(1n, '{"quantity": 4}')
    const made = await adjust(1)
    expect([made.status, made.headers.get('Idempotency-Replayed'), await quantity()]).toEqual([200, null, 5])
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 2, perDay: 9 } })
    for (const _ of [1, 2]) await service.call('GET', '/inventory', { key: secret })
    expect((await adjust(1, 1, secret)).status).toBe(429)
    service.now += 60_000
    expect((await adjust(1, 1, secret)).status).toBe(200)
  })

  test('with another body, path or method it is 422, and nothing changes', async () => {
    await adjust(3)
    before = await service.contents()
    for (const other of [await adjust(4), await adjust(3, 2), await set(9)]) {
      expect([other.status, other.error.code]).toEqual([422, 'idempotency_key_reused'])
    }
    expect(await service.contents()).toEqual(before)
  })

  test('the same Idempotency-Key of another API key is independent', async () => {
    const { secret } = await service.createKey('pro')
    await adjust(3)
    const other = await adjust(3, 1, secret)
    expect([other.status, other.headers.get('Idempotency-Replayed'), await quantity()]).toEqual([
      200,
      null,
      10,
    ])
  })

  test.each([
    ['empty', ''],
    ['256 characters', 'x'.repeat(256)],
    ['a space inside', 'a b'],
    ['not ASCII', Buffer.from('ключ').toString('latin1')],
  ])('a key that is %s is 400, and nothing changes', async (_, wrong) => {
    const headers = { 'Idempotency-Key': wrong, 'Content-Type': 'application/json' }
    const update = await service.setQuantity(1n, '{"quantity": 9}', { headers })
    const body = '{"reason":"received","changes":[{"petId":1,"delta":1}]}'
    const adjustment = await service.call('POST', '/inventory/adjustments', { body, headers })
    for (const { status, error } of [update, adjustment]) {
      expect([status, error.code]).toEqual([400, 'invalid_request'])
      expect(error.message).toContain('Idempotency-Key must be 1 to 255 visible ASCII characters')
    }
    expect(await service.contents()).toEqual(before)
  })

  test('255 visible characters are accepted', async () => {
    key = '!~'.repeat(127).padEnd(255, 'x')
    expectReplay(await adjust(1), await adjust(1))
  })

  test('a hundred concurrent requests make one change and get the same response', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => adjust(1)))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers.filter(({ headers }) => headers.has('Idempotency-Replayed'))).toHaveLength(99)
    expect(await quantity()).toBe(5)
  })

  test('it is stored across a restart, and for 24 hours', async () => {
    const first = await adjust(3)
    await service.restart()
    service.now += DAY - 1
    expectReplay(first, await adjust(3))
    service.now += 1
    const anew = await adjust(3)
    expect([anew.headers.get('Idempotency-Replayed'), await quantity()]).toEqual([null, 10])
    expectReplay(anew, await adjust(3))
  })

  test('only expired keys are removed, in batches', async () => {
    await adjust(3)
    const { now } = service
    while ((await service.store.forgetAnswers(now, 2)) > 0) await null
    expect((await adjust(3)).headers.get('Idempotency-Replayed')).toBe('true')
    expect(await service.store.forgetAnswers(now + 1, 100)).toBeGreaterThan(0)
    expect((await adjust(3)).headers.get('Idempotency-Replayed')).toBeNull()
  })
})
