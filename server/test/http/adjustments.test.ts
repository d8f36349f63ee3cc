import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { removePet } from '../support/remove-pet.ts'
import { type Answer, type CallOptions, PETS, TestService } from '../support/test-service.ts'

const MOST = 9007199254740991
let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

interface Failure {
  readonly code: string
  readonly details?: readonly { index: number; petId?: number; code: string; message: string }[]
}

function adjust(body: unknown, options: CallOptions = {}): Promise<Answer> {
  return service.call('POST', '/inventory/adjustments', {
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...options,
    headers: { 'Content-Type': 'application/json', ...options.headers },
  })
}

const received = (...changes: readonly unknown[]) => ({ reason: 'received', changes })

const quantities = async () => (await service.call('GET', '/inventory')).items.map(({ quantity }) => quantity)

describe('POST /inventory/adjustments', () => {
  test('makes every change in one request, and returns the entries in request order', async () => {
    const { status, json } = await adjust({
      reason: 'received',
      reference: 'PO-1043',
      changes: [
        { petId: 2, quantity: 30, expected: 1 },
        { petId: 1, delta: 12 },
        { petId: 3, quantity: 0 },
      ],
    })
    expect([status, json]).toEqual([
      200,
      {
        items: [
          { petId: 2, quantity: 30, status: 'pending' },
          { petId: 1, quantity: 16, status: 'available' },
          { petId: 3, quantity: 0, status: 'sold' },
        ],
      },
    ])
    expect((await quantities()).slice(0, 3)).toEqual([16, 30, 0])
  })

  test('history and recent changes show its reason and reference; other changes have none', async () => {
    await service.setQuantity(1n, '{"quantity": 20}')
    const history = (await service.call('GET', '/inventory/1/history')).json
    expect(history).toMatchObject([{ after: 20 }, { after: 16, reason: 'received', reference: 'PO-1043' }])
    expect((history as object[])[0]).not.toContainKey('reason')
    const recent = (await service.call('GET', '/inventory/history')).json as object[]
    expect(recent[1]).toMatchObject({ reason: 'received', reference: 'PO-1043' })
    await adjust({ reason: 'lost', changes: [{ petId: 1, delta: -1 }] })
    const [latest] = (await service.call('GET', '/inventory/1/history')).json as [object]
    expect(latest).toMatchObject({ reason: 'lost' })
    expect(latest).not.toContainKey('reference')
  })

  test('events carry its reason and reference', async () => {
    const before = await service.store.latestEventCursor()
    await adjust({ reason: 'damaged', reference: 'shelf "3" \\ ключ 🐶', changes: [{ petId: 1, delta: -2 }] })
    const { text } = await service.call('GET', `/inventory/events?lastEventId=${before}`)
    const data = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '')
    expect(data).toMatchObject({ petId: 1, reason: 'damaged', reference: 'shelf "3" \\ ключ 🐶' })
  })

  test('ids beyond a double stay exact', async () => {
    const { status, text } = await adjust(
      `{"reason":"counted","changes":[{"petId":9007199254740993,"delta":1},{"petId":9223372036854775807,"delta":-8}]}`,
    )
    expect(status).toBe(200)
    expect(text).toBe(
      '{"items":[{"petId":9007199254740993,"quantity":8,"status":"available"},{"petId":9223372036854775807,"quantity":0,"status":"available"}]}',
    )
  })

  test('1,000 changes in more than 64 KiB are accepted', async () => {
    const pets = Array.from({ length: 1_000 }, (_, index) => ({
      id: BigInt(index + 100),
      name: 'Many',
      categoryId: 1n,
      status: 'available' as const,
      quantity: 1,
    }))
    await service.store.addPets(pets)
    const changes = pets.map(({ id }) => ({ petId: Number(id), delta: 2 }))
    const body = JSON.stringify(received(...changes)) + ' '.repeat(65_536)
    const { status, json } = await adjust(body)
    expect(status).toBe(200)
    expect((json as { items: unknown[] }).items).toHaveLength(1_000)
    for (const { id } of pets) await removePet(service.store, id)
  })
})

describe('an adjustment that cannot be made explains why and changes nothing', () => {
  let before: unknown
  beforeEach(async () => {
    await service.setQuantity(1n, '{"quantity": 4}')
    await service.setQuantity(2n, `{"quantity": ${MOST}}`)
    before = await service.contents()
  })

  async function refused(body: unknown): Promise<[number, Failure]> {
    const answer = await adjust(body)
    expect(await service.contents()).toEqual(before)
    return [answer.status, answer.json as Failure]
  }

  const many = (count: number) => Array.from({ length: count }, (_, index) => ({ petId: index, delta: 1 }))
  test.each([
    [
      'no reason',
      { changes: [{ petId: 1, delta: 1 }] },
      'reason is missing; it must be one of received, returned, sold',
    ],
    ['an unknown reason', { reason: 'theft', changes: [{ petId: 1, delta: 1 }] }, 'got "theft" (a string)'],
    [
      'a reference of 201 characters',
      { ...received({ petId: 1, delta: 1 }), reference: 'x'.repeat(201) },
      'at most 200 characters',
    ],
    [
      'control characters in it',
      { ...received({ petId: 1, delta: 1 }), reference: 'a\u0007b' },
      'without control characters',
    ],
    [
      'half a surrogate pair in it',
      { ...received({ petId: 1, delta: 1 }), reference: '\ud800' },
      'reference must be',
    ],
    ['a reference that is not a text', { ...received({ petId: 1, delta: 1 }), reference: null }, 'got null'],
    ['no changes', { reason: 'received' }, 'changes must be an array of 1 to 1000 changes, got nothing'],
    ['empty changes', received(), 'got 0 of them'],
    ['1,001 changes', received(...many(1_001)), 'got 1001 of them'],
    [
      'changes that are not an array',
      { reason: 'received', changes: { petId: 1, delta: 1 } },
      'got an object',
    ],
    ['an array', [1], 'must be a JSON object'],
    ['deep nesting', received({ petId: [[1]], delta: 1 }), 'the request body nests deeper than 4 levels'],
    ['deep nesting that does not end', `${'['.repeat(250_000)}`, 'nests deeper than 4 levels'],
  ])('%s is 400', async (_, body, message) => {
    const [status, error] = await refused(body)
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(JSON.stringify(error)).toContain(JSON.stringify(message).slice(1, -1))
    expect(error).not.toContainKey('details')
  })

  test.each([
    ['delta 0', '{"petId": 1, "delta": 0}', 'delta must be an integer other than 0'],
    ['delta 1.5', '{"petId": 1, "delta": 1.5}', 'got 1.5'],
    ['delta "5"', '{"petId": 1, "delta": "5"}', 'got "5" (a string)'],
    ['delta null', '{"petId": 1, "delta": null}', 'got null'],
    ['a list as delta', '{"petId": 1, "delta": [1]}', 'delta must be an integer other than 0'],
    ['250,000 digits', `{"petId": 1, "delta": 1.${'0'.repeat(250_000)}1}`, 'got 1.000000'],
    ['delta above 2^53-1', '{"petId": 1, "delta": 9007199254740992}', 'got 9007199254740992'],
    ['delta below it', '{"petId": 1, "delta": -9007199254740993}', 'got -9007199254740993'],
    [
      'both delta and quantity',
      '{"petId": 1, "delta": 1, "quantity": 5}',
      'either delta or quantity, got both',
    ],
    ['neither delta nor quantity', '{"petId": 1}', 'got neither'],
    ['a negative quantity', '{"petId": 1, "quantity": -1}', 'quantity must be an integer from 0 to'],
    [
      'an invalid expected',
      '{"petId": 1, "delta": 1, "expected": "4"}',
      'expected must be an integer from 0 to',
    ],
  ])('%s is 400, and details name the change', async (_, change, message) => {
    const [status, error] = await refused(
      `{"reason": "received", "changes": [{"petId": 3, "delta": 1}, ${change}]}`,
    )
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(error.details).toMatchObject([{ index: 1, petId: 1, code: 'invalid_request' }])
    expect(error.details?.[0]?.message).toContain(message)
  })

  test('a duplicate pet, and a change without a pet, are 400, and details name each', async () => {
    const [status, error] = await refused(
      received(
        { petId: 1, delta: 1 },
        { petId: 1, quantity: 3 },
        { petId: '2', delta: 1 },
        { delta: 1 },
        null,
        7,
      ),
    )
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(error.details?.map(({ index, petId }) => [index, petId])).toEqual([
      [1, 1],
      [2, undefined],
      [3, undefined],
      [4, undefined],
      [5, undefined],
    ])
    expect(error.details?.[0]?.message).toContain('petId 1 occurs twice')
  })

  test('unknown pets among known ones are 404, and details name each', async () => {
    const [status, error] = await refused(
      received({ petId: 1, delta: 1 }, { petId: 404, delta: 1 }, { petId: 405, quantity: 1 }),
    )
    expect([status, error.code]).toEqual([404, 'not_found'])
    expect(error.details?.map(({ index, petId, code }) => [index, petId, code])).toEqual([
      [1, 404, 'not_found'],
      [2, 405, 'not_found'],
    ])
  })

  test('a result below zero is 409', async () => {
    const [status, error] = await refused(received({ petId: 1, delta: -5 }))
    expect([status, error.code]).toEqual([409, 'insufficient_stock'])
    expect(error.details).toMatchObject([{ index: 0, petId: 1, code: 'insufficient_stock', available: 4 }])
    expect(error.details?.[0]?.message).toContain('the quantity of petId 1 is 4, so 5 cannot be taken away')
  })

  test('with keepReserved, taking reserved units is 409; without it, they may be taken', async () => {
    const order = JSON.stringify({ petId: 1, quantity: 3 })
    const headers = { 'Content-Type': 'application/json' }
    const { id } = (await service.call('POST', '/store/orders', { body: order, headers })).json as {
      id: number
    }
    before = await service.contents()
    for (const change of [
      { petId: 1, delta: -2 },
      { petId: 1, quantity: 2 },
    ]) {
      const [status, error] = await refused({ reason: 'sold', keepReserved: true, changes: [change] })
      expect([status, error.code]).toEqual([409, 'insufficient_stock'])
      expect(error.details).toMatchObject([{ index: 0, petId: 1, available: 1 }])
      expect(error.details?.[0]?.message).toBe(
        'petId 1 has 1 available unit, because open orders reserve 3 of 4; 2 cannot be taken away',
      )
    }
    const [, tooMuch] = await refused({
      reason: 'sold',
      keepReserved: true,
      changes: [{ petId: 1, delta: -9 }],
    })
    expect(tooMuch.details).toMatchObject([{ code: 'insufficient_stock', available: 1 }])
    const sell = (changes: object[], keepReserved?: boolean) =>
      adjust({ reason: 'sold', keepReserved, changes })
    expect((await sell([{ petId: 1, delta: -1 }], true)).status).toBe(200)
    expect((await sell([{ petId: 1, delta: -1 }])).status).toBe(200)
    // More is reserved than there is, but a delivery takes nothing.
    expect((await sell([{ petId: 1, delta: 1 }], true)).status).toBe(200)
    await service.call('DELETE', `/store/orders/${id}`)
  })

  test('with keepReserved, an expired hold reserves nothing', async () => {
    const order = JSON.stringify({ petId: 1, quantity: 4, holdSeconds: 1 })
    const headers = { 'Content-Type': 'application/json' }
    await service.call('POST', '/store/orders', { body: order, headers })
    service.now += 2_000
    const { status } = await adjust({
      reason: 'sold',
      keepReserved: true,
      changes: [{ petId: 1, delta: -4 }],
    })
    expect(status).toBe(200)
  })

  test('a quantity other than expected is 412', async () => {
    const [status, error] = await refused(received({ petId: 1, delta: -1, expected: 5 }))
    expect([status, error.code]).toEqual([412, 'precondition_failed'])
    expect(error.details).toMatchObject([{ index: 0, petId: 1, code: 'precondition_failed' }])
  })

  test('a result above 2^53-1 is 400', async () => {
    const [status, error] = await refused(received({ petId: 2, delta: 1 }))
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(error.details).toMatchObject([{ index: 0, petId: 2, code: 'invalid_request' }])
  })

  test('if changes fail for different reasons, each is named and the first check decides the status', async () => {
    const failing = [
      { petId: 1, delta: -1, expected: 9 },
      { petId: 3, delta: -9 },
      { petId: 404, delta: 1 },
    ]
    const codes = ['precondition_failed', 'insufficient_stock', 'not_found']
    for (const [count, status] of [
      [3, 404],
      [2, 409],
      [1, 412],
    ] as const) {
      const [got, error] = await refused(received(...failing.slice(0, count)))
      expect(got).toBe(status)
      expect(error.details?.map(({ code }) => code)).toEqual(codes.slice(0, count))
    }
  })

  test('a body above 256 KiB is 413', async () => {
    const answer = await adjust(`{"reason":"received","note":"${'x'.repeat(262_144)}"}`)
    expect([answer.status, answer.error.code]).toEqual([413, 'payload_too_large'])
    expect(answer.error.message).toContain('262144')
  })

  test('a key with only the orders permission gets 403', async () => {
    const { secret } = await service.createKey('pro', { permissions: ['orders'] })
    const answer = await adjust(received({ petId: 1, delta: 1 }), { key: secret })
    expect([answer.status, answer.error.code]).toEqual([403, 'forbidden'])
    expect(await service.contents()).toEqual(before)
  })

  test('counts as one request', async () => {
    const { secret } = await service.createKey('free')
    const { headers } = await adjust(received({ petId: 3, delta: 1 }, { petId: 1, delta: 1 }), {
      key: secret,
    })
    expect(headers.get('X-RateLimit-Remaining')).toBe('59')
    expect(PETS).toHaveLength(5)
  })
})
