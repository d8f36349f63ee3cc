import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { DAY } from '../../src/core/values/clock.ts'
import { EXAMPLES, startExampleShop } from '../support/example-requests.ts'
import type { Answer, TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await startExampleShop()
})
afterAll(() => service.stop())

let tests = 0
let key: string
beforeEach(async () => {
  key = `key-${++tests}`
  await service.setQuantity(1n, '{"quantity": 4}')
})

const send = (method: string, path: string, body?: unknown) =>
  service.send(method, path, body, { headers: { 'Idempotency-Key': key } })
const set = (quantity: number, headers = {}) =>
  service.setQuantity(1n, `{"quantity":${quantity}}`, { headers: { 'Idempotency-Key': key, ...headers } })
const adjust = (delta: number, secret = service.key) =>
  service.send(
    'POST',
    '/inventory/adjustments',
    { reason: 'received', changes: [{ petId: 1, delta }] },
    { key: secret, headers: { 'Idempotency-Key': key } },
  )
const quantity = async () => (await service.call('GET', '/inventory/1')).item.quantity

function expectReplay(first: Answer, again: Answer): void {
  expect([first.isReplayed, again.isReplayed]).toEqual([false, true])
  expect([again.status, again.text]).toEqual([first.status, first.text])
  for (const name of ['ETag', 'Location', 'Content-Type']) {
    expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)])
  }
}

/** The position in the log, which has every change but those of webhooks, and the webhooks. */
const contents = async () => [
  await service.store.latestEventCursor(),
  (await service.store.listWebhooks()).map(({ webhook }) => {
    const { id, url, kinds, paused, secret, createdBy } = webhook
    return { id, url, kinds, paused, secret, createdBy }
  }),
]

const remembered = EXAMPLES.filter(({ acceptsIdempotencyKey }) => acceptsIdempotencyKey)

describe.each(remembered)('$operationId', ({ method, target, sentBody }) => {
  test('sent again with its Idempotency-Key gets the same response and changes nothing', async () => {
    const first = await send(method, target, sentBody)
    expect(first.status).toBeLessThan(300)
    await service.setQuantity(1n, '{"quantity": 50}')
    const before = await contents()
    expectReplay(first, await send(method, target, sentBody))
    expect(await contents()).toEqual(before)
  })

  test('sent with the Idempotency-Key of another request is 422 and changes nothing', async () => {
    await adjust(3)
    const before = await contents()
    const other = await send(method, target, sentBody)
    expect([other.status, other.error.code]).toEqual([422, 'idempotency_key_reused'])
    expect(await contents()).toEqual(before)
  })
})

describe('Idempotency-Key', () => {
  test('is accepted by every operation that changes something, except those of keys and tests of webhooks', () => {
    const changes = EXAMPLES.filter(({ method }) => method !== 'GET')
    const others = changes.filter((example) => !remembered.includes(example))
    expect(others.map(({ operationId }) => operationId)).toEqual([
      ...['testWebhook', 'createKey', 'updateKey', 'revokeKey', 'rotateKey', 'createPairingCode', 'pairKey'],
    ])
  })

  test('keeps the rejections of a commit: 404, 409 and 412', async () => {
    const conditional = () => set(1, { 'If-Match': '"9-available"' })
    const enough = () => service.setQuantity(1n, '{"quantity": 9}')
    const add = (id: number) => service.send('POST', '/categories', { id, name: `New ${id}` })
    const rejections: [number, () => Promise<Answer>, () => Promise<Answer>][] = [
      [409, () => adjust(-5), enough],
      [412, conditional, enough],
      [404, () => send('DELETE', '/categories/9001'), () => add(9001)],
      [404, () => send('PATCH', '/categories/9002', { lowStockAt: 3 }), () => add(9002)],
    ]
    for (const [status, reject, makePossible] of rejections) {
      key += 'x'
      const first = await reject()
      expect(first.status).toBe(status)
      await makePossible()
      expectReplay(first, await reject())
      await service.setQuantity(1n, '{"quantity": 4}')
    }
    const { text } = await service.call('GET', '/categories?limit=1000')
    expect(text).toContain('{"id":9001,"name":"New 9001"},{"id":9002,"name":"New 9002"}')
  })

  test('keeps a refusal of 1,000 lines in less than 1,000 bytes, with its first lines', async () => {
    const changes = Array.from({ length: 1_000 }, (_, index) => ({ petId: 10_000 + index, delta: 1 }))
    const refuse = () => send('POST', '/inventory/adjustments', { reason: 'received', changes })
    const [first, again] = [await refuse(), await refuse()]
    expect([first.status, again.status, again.isReplayed]).toEqual([404, 404, true])
    expect(first.error.details).toHaveLength(1_000)
    expect(again.json).toEqual({
      ...first.error,
      message: `${first.error.message}; this repeated response lists only the first 3`,
      details: first.error.details?.slice(0, 3),
    })
    const [row] = await service.run(`SELECT length(answer) AS bytes FROM idempotency WHERE key = '${key}'`)
    expect(Number(row?.bytes)).toBeLessThan(1_000)
  })

  test('of another API key is independent', async () => {
    const { secret } = await service.createKey('pro')
    await adjust(3)
    const other = await adjust(3, secret)
    expect([other.status, other.isReplayed, await quantity()]).toEqual([200, false, 10])
  })

  test.each([
    ['empty', ''],
    ['256 characters', 'x'.repeat(256)],
    ['a space inside', 'a b'],
    ['not ASCII', Buffer.from('ключ').toString('latin1')],
  ])('that is %s is 400, and nothing changes', async (_, wrong) => {
    key = wrong
    const before = await service.contents()
    for (const { status, error } of [await set(9), await adjust(1)]) {
      expect([status, error.code]).toEqual([400, 'invalid_request'])
      expect(error.message).toContain('Idempotency-Key must be 1 to 255 visible ASCII characters')
    }
    expect(await service.contents()).toEqual(before)
  })

  test('may have 255 visible characters', async () => {
    key = '!~'.repeat(127).padEnd(255, 'x')
    expectReplay(await adjust(1), await adjust(1))
  })

  test('is remembered across a restart, and for 24 hours', async () => {
    const first = await adjust(3)
    await service.restart()
    service.now += DAY - 1
    expectReplay(first, await adjust(3))
    service.now += 1
    const anew = await adjust(3)
    expect([anew.isReplayed, await quantity()]).toEqual([false, 10])
    expectReplay(anew, await adjust(3))
  })

  test('is removed once it has expired, in batches', async () => {
    await adjust(3)
    const { now } = service
    while ((await service.store.forgetAnswers(now + DAY - 1, 2)) > 0) await null
    expect((await adjust(3)).isReplayed).toBe(true)
    expect(await service.store.forgetAnswers(now + DAY, 100)).toBeGreaterThan(0)
    expect((await adjust(3)).isReplayed).toBe(false)
  })
})
