import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import { DAY, MINUTE } from '../../src/core/values/clock.ts'
import { addPets } from '../support/add-pets.ts'
import { type CallOptions, TestService } from '../support/test-service.ts'

const MANY: readonly StockedPet[] = Array.from({ length: 1_000 }, (_, index) => ({
  id: BigInt(index + 100),
  name: 'Many',
  categoryId: 1n,
  status: 'available',
  quantity: 1,
}))

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const adjust = (body: unknown, options?: CallOptions) =>
  service.send('POST', '/inventory/adjustments', body, options)
const received = (...changes: readonly unknown[]) => ({ reason: 'received', changes })

describe('POST /inventory/adjustments', () => {
  test('makes every change as one request, and returns the entries in request order', async () => {
    const { secret: key } = await service.createKey('free')
    const { status, json, text, headers } = await adjust(
      `{"reason":"counted","changes":[{"petId":2,"quantity":30,"expected":1},{"petId":1,"delta":12},{"petId":9223372036854775807,"delta":-8}]}`,
      { key },
    )
    expect([status, headers.get('X-RateLimit-Remaining')]).toEqual([200, '59'])
    expect(text).toEndWith(
      '"items":[{"petId":2,"quantity":30,"status":"pending"},{"petId":1,"quantity":16,"status":"available"},{"petId":9223372036854775807,"quantity":0,"status":"available"}]}',
    )
    const { items, ...adjustment } = json as { readonly id: number; readonly items: unknown }
    expect(adjustment).toMatchObject({
      reason: 'counted',
      lines: [{ counted: 30 }, { delta: 12 }, { delta: -8 }],
    })
    expect((await service.call('GET', `/inventory/adjustments/${adjustment.id}`)).json).toEqual(adjustment)
  })

  test('events and the history carry its reason and reference, if it has one', async () => {
    const cursor = await service.store.latestEventCursor()
    const reference = 'shelf "3" \\ ключ 🐶'
    await adjust({ reason: 'damaged', reference, changes: [{ petId: 1, delta: -2 }] })
    const { text } = await service.call('GET', `/inventory/events?lastEventId=${cursor}`)
    const data = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '')
    expect(data).toMatchObject({ petId: 1, reason: 'damaged', reference })
    await adjust({ reason: 'lost', changes: [{ petId: 1, delta: -1 }] })
    await service.setQuantity(1n, '{"quantity": 20}')
    const [set, lost, damaged] = (await service.call('GET', '/inventory/1/history')).json as object[]
    expect(damaged).toMatchObject({ reason: 'damaged', reference })
    expect([lost, set]).toMatchObject([{ reason: 'lost' }, { after: 20 }])
    expect(lost).not.toContainKey('reference')
    expect(set).not.toContainKey('reason')
  })

  test('accepts 1,000 changes in more than 64 KiB, and no body above 256 KiB', async () => {
    await addPets(service.store, MANY)
    const changes = MANY.map(({ id }) => ({ petId: Number(id), delta: 2 }))
    const { status, json } = await adjust(JSON.stringify(received(...changes)) + ' '.repeat(65_536))
    expect([status, (json as { items: unknown[] }).items.length]).toEqual([200, 1_000])
    const { error } = await adjust(`{"reason":"received","note":"${'x'.repeat(262_144)}"}`)
    expect(error).toMatchObject({ code: 'payload_too_large', status: 413 })
    expect(error.message).toContain('262144')
  })

  test('that fails names every change that cannot be made; the first check decides the status', async () => {
    await service.setQuantity(1n, '{"quantity": 4}')
    await service.setQuantity(2n, '{"quantity": 9007199254740991}')
    const before = await service.contents()
    const failing = [
      [{ petId: 1, delta: -1, expected: 9 }, 412, 'precondition_failed'],
      [{ petId: 3, delta: -9 }, 409, 'insufficient_stock'],
      [{ petId: 9404, delta: 1 }, 404, 'not_found'],
      [{ petId: 2, delta: 1 }, 400, 'invalid_request'],
    ] as const
    for (const [last, [, status, code]] of failing.entries()) {
      const tried = failing.slice(0, last + 1)
      const { error } = await adjust(received(...tried.map(([change]) => change)))
      expect([error.status, error.code]).toEqual([status, code])
      const details = tried.map(([{ petId }, , code], index) => ({ index, petId, code }))
      expect(error.details).toMatchObject(details)
    }
    expect(await service.contents()).toEqual(before)
  })

  test('with keepReserved, taking reserved units is 409', async () => {
    await service.setQuantity(1n, '{"quantity": 4}')
    await service.send('POST', '/store/orders', { petId: 1, quantity: 3 })
    const changes = [{ petId: 1, delta: -2 }]
    const { error } = await adjust({ reason: 'sold', keepReserved: true, changes })
    expect(error).toMatchObject({ status: 409, details: [{ index: 0, petId: 1, available: 1 }] })
    expect(error.message).toStartWith(
      'petId 1 has 1 available unit, because open orders reserve 3 of 4; 2 cannot be taken away',
    )
    expect((await adjust({ reason: 'sold', keepReserved: false, changes })).status).toBe(200)
  })
})

describe('an adjustment that happened earlier or later', () => {
  const isoTime = (after: number) => new Date(service.now + after).toISOString()
  const sold = (occurredAt: string, headers = {}) =>
    adjust({ reason: 'sold', occurredAt, changes: [{ petId: 1, delta: -1 }] }, { headers })

  test('is recorded with its time, up to 30 days late, and changes no later count', async () => {
    await service.setQuantity(1n, '{"quantity": 4}')
    const occurredAt = isoTime(-30 * DAY)
    const { json } = await sold(occurredAt)
    expect(json).toMatchObject({
      occurredAt,
      recordedAt: isoTime(0),
      lines: [{ delta: -1, after: 4, effect: 'already_counted' }],
    })
    const { error } = await sold(isoTime(-30 * DAY - 1))
    expect(error).toMatchObject({ status: 409, code: 'too_late' })
  })

  test('may be 5 minutes ahead, but no more', async () => {
    expect((await sold(isoTime(5 * MINUTE))).status).toBe(200)
    const { error } = await sold(isoTime(5 * MINUTE + 1))
    expect(error).toMatchObject({ status: 400, field: 'occurredAt' })
    expect(error.message).toContain('at most 5 minutes ahead')
  })
})

test('a change can name the barcode of its pet, and with onConflict skip the others are left out', async () => {
  await service.send('PATCH', '/pets/2', { barcode: '4006381333931' })
  const changes = [
    { barcode: '4006381333931', quantity: 7 },
    { barcode: '404', delta: 1 },
    { petId: 1, delta: -99 },
  ]
  const { error } = await adjust(received(...changes))
  expect([error.status, error.details?.map(({ index, code }) => [index, code])]).toEqual([
    404,
    [
      [1, 'not_found'],
      [2, 'insufficient_stock'],
    ],
  ])
  const { json } = await adjust({ ...received(...changes), onConflict: 'skip' })
  expect(json).toMatchObject({
    lines: [{ petId: 2, counted: 7 }],
    skipped: [
      { index: 1, code: 'not_found' },
      { index: 2, petId: 1, code: 'insufficient_stock' },
    ],
  })
  for (const wrong of [{ delta: 1 }, { petId: 1, barcode: '404', delta: 1 }]) {
    expect((await adjust(received(wrong))).error.message).toContain('either petId or barcode')
  }
  const both = received({ petId: 2, delta: 1 }, { barcode: '4006381333931', delta: 1 })
  expect((await adjust(both)).error).toMatchObject({ status: 400, code: 'invalid_request' })
})

describe('POST /inventory/adjustments/{adjustmentId}/reverse', () => {
  const reverse = (id: number, body: object = {}) =>
    service.send('POST', `/inventory/adjustments/${id}/reverse`, body)
  const made = async (delta: number) =>
    ((await adjust(received({ petId: 1, delta }))).json as { readonly id: number }).id
  beforeEach(() => service.setQuantity(1n, '{"quantity": 4}'))

  test('undoes the adjustment once, and the adjustment shows what has reversed it', async () => {
    const id = await made(5)
    const { json } = await reverse(id)
    expect(json).toMatchObject({ reason: 'correction', reverses: id, items: [{ petId: 1, quantity: 4 }] })
    const { id: reversal } = json as { readonly id: number }
    const { json: shown } = await service.call('GET', `/inventory/adjustments/${id}`)
    expect(shown).toMatchObject({ reversedBy: [reversal], lines: [{ reversed: 5 }] })
    for (const other of [id, reversal]) {
      expect((await reverse(other)).error).toMatchObject({ status: 409, code: 'already_reversed' })
    }
  })

  test('cannot happen before the adjustment', async () => {
    const occurredAt = new Date(service.now - 1).toISOString()
    expect((await reverse(await made(1), { occurredAt })).error).toMatchObject({
      status: 400,
      field: 'occurredAt',
    })
    expect((await reverse(404_404)).status).toBe(404)
  })
})
