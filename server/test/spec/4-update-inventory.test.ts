import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { START, TestService } from '../support/test-service.ts'
import { historyOf } from '../support/whole-store.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const MOST = 'an integer from 0 to 9007199254740991'

describe('section 4: PATCH /inventory/{petId}', () => {
  test('sets the quantity and returns the updated entry', async () => {
    const { status, item } = await service.setQuantity(1n, '{"quantity": 15}')
    expect([status, item]).toEqual([200, { petId: 1, quantity: 15, status: 'available' }])
    const list = await service.call('GET', '/inventory')
    expect(list.items[0]).toEqual({ petId: 1, quantity: 15, status: 'available' })
  })

  test.each([
    ['0', 0],
    ['-0', 0],
    ['5.0', 5],
    ['1e2', 100],
    ['120e-1', 12],
    ['0.0e5', 0],
    ['9007199254740991', 9007199254740991],
    ['9007199254740991.000', 9007199254740991],
  ])('%s is an integer within bounds', async (written, quantity) => {
    const { status, item } = await service.setQuantity(1n, `{"quantity": ${written}}`)
    expect([status, item.quantity]).toEqual([200, quantity])
    const list = await service.call('GET', '/inventory')
    expect(list.items[0]?.quantity).toBe(quantity)
  })

  test('fields other than quantity are ignored', async () => {
    const { status, item } = await service.setQuantity(1n, '{"petId": 2, "quantity": 3, "note": ["new"]}')
    expect([status, item]).toEqual([200, { petId: 1, quantity: 3, status: 'available' }])
  })

  test('the media type may have parameters and any case', async () => {
    const headers = { 'Content-Type': 'Application/JSON; charset=UTF-8' }
    const { status } = await service.setQuantity(1n, '{"quantity": 3}', { headers })
    expect(status).toBe(200)
  })

  test('each count adds one history row: before, after, time, key', async () => {
    const { id, secret } = await service.createKey('pro')
    await service.setQuantity(2n, '{"quantity": 10}', { key: secret })
    service.now += 5_000
    await service.setQuantity(2n, '{"quantity": 8}', { key: secret })
    await service.setQuantity(2n, '{"quantity": 8}', { key: secret })
    expect(await historyOf(service.store, 2n)).toMatchObject([
      { petId: 2n, before: 1, after: 10, at: START, keyId: id },
      { petId: 2n, before: 10, after: 8, at: START + 5_000, keyId: id },
      { petId: 2n, before: 8, after: 8, at: START + 5_000, keyId: id },
    ])
  })

  test('two concurrent updates both succeed, the list shows the last, the history has both in order', async () => {
    const answers = await Promise.all(
      [41, 42].map((quantity) => service.setQuantity(3n, JSON.stringify({ quantity }))),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(answers.map(({ item }) => item.quantity)).toEqual([41, 42])
    const history = await historyOf(service.store, 3n)
    const [first, second] = history
    expect(new Set(history.map(({ after }) => after))).toEqual(new Set([41, 42]))
    expect(second?.before).toBe(first?.after as number)
    const { items } = await service.call('GET', '/inventory')
    expect(items[2]?.quantity).toBe(second?.after)
  })
})

describe('section 4: a rejected update explains the error and changes nothing', () => {
  let before: unknown
  beforeEach(async () => {
    before = await service.contents()
  })

  const nested = `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`
  test.each([
    ['an empty body', '', 'the request body is missing'],
    ['null', 'null', 'must be a JSON object such as {"quantity":5}, got null'],
    ['an array', '[{"quantity": 5}]', 'got an array'],
    ['a bare number', '5', 'must be a JSON object such as {"quantity":5}, got 5'],
    ['broken JSON', '{"quantity": 5', 'not valid JSON'],
    ['a missing quantity', '{}', `quantity is missing; it must be ${MOST}`],
    ['a string', '{"quantity": "5"}', `quantity must be ${MOST}, got "5" (a string)`],
    ['a fraction', '{"quantity": 1.5}', `quantity must be ${MOST}, got 1.5`],
    ['a negative number', '{"quantity": -1}', `quantity must be ${MOST}, got -1`],
    ['a boolean', '{"quantity": true}', `quantity must be ${MOST}, got true (a boolean)`],
    ['quantity null', '{"quantity": null}', `quantity must be ${MOST}, got null`],
    ['a number beyond a double', '{"quantity": 1e400}', `quantity must be ${MOST}, got 1e400`],
    ['2^53', '{"quantity": 9007199254740992}', 'got 9007199254740992'],
    ['2^53 + 1', '{"quantity": 9007199254740993}', 'got 9007199254740993'],
    ['almost an integer', '{"quantity": 5.00000000000000000001}', 'got 5.00000000000000000001'],
    ['60,000 digits', `{"quantity": 5.${'0'.repeat(60_000)}1}`, 'got 5.000000'],
    ['deep nesting', `{"quantity": 5, "a": ${nested}}`, 'nests deeper than 16 levels'],
    ['deep nesting of arrays', `${'['.repeat(30_000)}${']'.repeat(30_000)}`, 'nests deeper than 16 levels'],
    ['an inherited name', '{"__proto__": {"quantity": 5}}', 'quantity is missing'],
  ])('%s is 400', async (_, body, message) => {
    const { status, error } = await service.setQuantity(1n, body)
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(error.message).toContain(message)
    expect(await service.contents()).toEqual(before)
  })

  test('a missing body is 400', async () => {
    const { status, error } = await service.call('PATCH', '/inventory/1')
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(error.message).toContain('the request body is missing')
    expect(await service.contents()).toEqual(before)
  })

  test('bytes that are not UTF-8 are 400', async () => {
    const { status, error } = await service.call('PATCH', '/inventory/1', {
      body: Uint8Array.from([...Buffer.from('{"quantity": 5, "a": "'), 0xff, 0xfe, ...Buffer.from('"}')]),
      headers: { 'Content-Type': 'application/json' },
    })
    expect(status).toBe(400)
    expect(error.message).toContain('not valid UTF-8; send the JSON as UTF-8')
    expect(await service.contents()).toEqual(before)
  })

  test.each(['text/plain', 'application/jsonp'])('the media type %s is 400', async (mediaType) => {
    const headers = { 'Content-Type': mediaType }
    const { status, error } = await service.setQuantity(1n, '{"quantity": 5}', { headers })
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(error.message).toContain(`Content-Type must be application/json, got "${mediaType}`)
    expect(await service.contents()).toEqual(before)
  })

  const large = `{"quantity": 5, "padding": "${'x'.repeat(70_000)}"}`
  test('a body over 64 KiB with Content-Length is 413', async () => {
    const { status, error } = await service.setQuantity(1n, large)
    expect([status, error.code]).toEqual([413, 'payload_too_large'])
    expect(await service.contents()).toEqual(before)
  })

  test('a body over 64 KiB without Content-Length is 413', async () => {
    const body = new ReadableStream({
      async start(controller) {
        for (let at = 0; at < large.length; at += 10_000) {
          controller.enqueue(new TextEncoder().encode(large.slice(at, at + 10_000)))
          await Bun.sleep(1)
        }
        controller.close()
      },
    })
    const { status, error } = await service.call('PATCH', '/inventory/1', {
      body,
      headers: { 'Content-Type': 'application/json' },
    })
    expect([status, error.code]).toEqual([413, 'payload_too_large'])
    expect(await service.contents()).toEqual(before)
  })

  test('a body of exactly 64 KiB is read', async () => {
    const frame = '{"quantity": 3, "padding": ""}'
    const body = frame.replace('""', `"${'x'.repeat(65_536 - frame.length)}"`)
    expect(body.length).toBe(65_536)
    expect((await service.setQuantity(1n, body)).status).toBe(200)
  })

  test.each(['abc', '1.5', '9223372036854775808', '007'])('the petId "%s" is 400', async (petId) => {
    const { status, error } = await service.setQuantity(petId, '{"quantity": 5}')
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(await service.contents()).toEqual(before)
  })

  test.each(['4', '-1', '9223372036854775806'])('the unknown petId %s is 404', async (petId) => {
    const { status, error } = await service.setQuantity(petId, '{"quantity": 5}')
    expect([status, error.code]).toEqual([404, 'not_found'])
    expect(error.message).toContain(petId)
    expect(await service.contents()).toEqual(before)
    expect(await historyOf(service.store, BigInt(petId))).toEqual([])
  })

  test('the request is validated before the lookup: a bad body for an unknown pet is 400', async () => {
    const { status } = await service.setQuantity(4n, '{}')
    expect(status).toBe(400)
  })
})
