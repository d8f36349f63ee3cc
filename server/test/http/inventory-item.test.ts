import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { change } from '../store/plain-rows.ts'
import { removePet } from '../support/remove-pet.ts'
import { TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const update = (petId: bigint, quantity: number, ifMatch?: string) =>
  service.setQuantity(
    petId,
    `{"quantity": ${quantity}}`,
    ifMatch === undefined ? {} : { headers: { 'If-Match': ifMatch } },
  )

describe('GET /inventory/{petId}', () => {
  test('returns one entry, exact for every int64, with a tag of its state', async () => {
    const first = await service.call('GET', '/inventory/2')
    expect([first.status, first.text]).toEqual([200, '{"petId":2,"quantity":1,"status":"pending"}'])
    expect(first.headers.get('ETag')).toBe('"1-pending"')
    const last = await service.call('GET', '/inventory/9223372036854775807')
    expect(last.text).toBe('{"petId":9223372036854775807,"quantity":8,"status":"available"}')
  })

  test('is 304 for a current tag, and 200 after a change, also by another process', async () => {
    const headers = { 'If-None-Match': '"x", W/"1-pending"' }
    const same = await service.call('GET', '/inventory/2', { headers })
    expect([same.status, same.text, same.headers.get('ETag')]).toEqual([304, '', '"1-pending"'])
    await service.store.changeStock([change(2n, 3, { keyId: 'key_other' })])
    const changed = await service.call('GET', '/inventory/2', { headers })
    expect([changed.status, changed.item.quantity]).toEqual([200, 3])
    expect(changed.headers.get('ETag')).toBe('"3-pending"')
  })

  test('is 404 for a removed pet', async () => {
    expect((await service.call('GET', '/inventory/3')).status).toBe(200)
    await removePet(service.store, 3n)
    expect((await service.call('GET', '/inventory/3')).status).toBe(404)
  })
})

describe('PATCH with If-Match', () => {
  test.each([
    ['*', 200],
    [' * ', 200],
    ['"30-available"', 200],
    ['"x","30-available"', 200],
    ['"29-available" , "30-available"', 200],
    [', "30-available",', 200],
    ['"30-sold"', 412],
    ['W/"30-available"', 412],
    ['""', 412],
    ['"030-available"', 412],
    ['"30-available "', 400],
    ['"99999999999999999999-available"', 412],
    ['"a,b"', 412],
    ['30-available', 400],
    ['"30-available', 400],
    ['"30-available" "1-sold"', 400],
    ['*, "30-available"', 400],
    ['w/"30-available"', 400],
    [',', 400],
  ])('If-Match: %s on "30-available" is %d', async (ifMatch, status) => {
    await update(1n, 30)
    const answer = await update(1n, 31, ifMatch)
    expect(answer.status).toBe(status)
    expect((await service.call('GET', '/inventory/1')).item.quantity).toBe(status === 200 ? 31 : 30)
    if (status === 200) expect(answer.etag).toBe('"31-available"')
    if (status === 400) expect(answer.error.message).toContain('If-Match must be')
    if (status === 412) expect(answer.error.message).toContain('its quantity is 30')
  })
})
