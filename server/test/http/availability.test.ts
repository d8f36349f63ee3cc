import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { PETS, TestService } from '../support/test-service.ts'

const SECOND = 1_000
let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())
beforeEach(async () => {
  // All holds of the previous test have expired.
  service.now += 3_600 * SECOND
  await service.setQuantity(1n, '{"quantity": 10}')
})

const order = (body: object) => service.send('POST', '/store/orders', body)
const made = async (quantity = 1, holdSeconds = 60) => {
  const answer = await order({ petId: 1, quantity, holdSeconds })
  expect(answer.status).toBe(201)
  return answer.json as { readonly id: number }
}
const available = async (petId: number | string = 1) =>
  (await service.call('GET', `/inventory/${petId}/availability`)).json

describe('a hold', () => {
  test('reserves its units until its last second, and nothing afterwards', async () => {
    const { id } = await made(10, 1)
    service.now += 0.9 * SECOND
    expect((await order({ petId: 1, quantity: 1 })).status).toBe(409)
    service.now += 0.1 * SECOND
    expect(await available()).toEqual({ petId: 1, quantity: 10, reserved: 0, available: 10 })
    expect((await service.call('GET', `/store/orders/${id}`)).json).toMatchObject({ id, state: 'expired' })
    expect((await service.call('GET', '/store/orders?state=expired')).text).toContain(`"id":${id},`)
    expect((await order({ petId: 1, quantity: 10, holdSeconds: 60 })).status).toBe(201)
  })

  test('is swept and reported within a second or two without any request', async () => {
    const { id } = await made(10, 1)
    const cursor = await service.store.latestEventCursor()
    service.now += SECOND
    const { text } = await service.call('GET', `/inventory/events?lastEventId=${cursor}`)
    const data = JSON.parse(/^event: order\n.*\ndata: (.*)$/m.exec(text)?.[1] ?? '')
    expect(data).toMatchObject({ change: 'expired', keyId: 'petstore', orderId: id, state: 'expired' })
    expect(await service.store.expiredHolds(1)).toEqual([])
  })
})

describe('GET /inventory/{petId}/availability', () => {
  test('is negative if the stock was set below the reserved units', async () => {
    await made(8)
    await service.setQuantity(1n, '{"quantity": 5}')
    expect(await available()).toEqual({ petId: 1, quantity: 5, reserved: 8, available: -3 })
    expect(await available('9223372036854775807')).toMatchObject({
      quantity: PETS.at(-1)?.quantity,
      reserved: 1,
    })
  })

  test('has an ETag, and is 304 for it', async () => {
    const { headers } = await service.call('GET', '/inventory/1/availability')
    const condition = { headers: { 'If-None-Match': headers.get('ETag') ?? '' } }
    expect((await service.call('GET', '/inventory/1/availability', condition)).status).toBe(304)
    await made()
    expect((await service.call('GET', '/inventory/1/availability', condition)).status).toBe(200)
  })
})
