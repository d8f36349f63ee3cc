import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
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
    const { status, text, headers } = await adjust(
      `{"reason":"counted","changes":[{"petId":2,"quantity":30,"expected":1},{"petId":1,"delta":12},{"petId":9223372036854775807,"delta":-8}]}`,
      { key },
    )
    expect([status, text, headers.get('X-RateLimit-Remaining')]).toEqual([
      200,
      '{"items":[{"petId":2,"quantity":30,"status":"pending"},{"petId":1,"quantity":16,"status":"available"},{"petId":9223372036854775807,"quantity":0,"status":"available"}]}',
      '59',
    ])
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
