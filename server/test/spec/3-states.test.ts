import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

describe('section 3: states and transitions', () => {
  test('an update that names a status changes the quantity and leaves the status', async () => {
    const update = await service.setQuantity(2n, '{"quantity": 6, "status": "sold"}')
    expect(update.json).toEqual({ petId: 2, quantity: 6, status: 'pending' })
    const { items } = await service.call('GET', '/inventory')
    expect(items[1]).toEqual({ petId: 2, quantity: 6, status: 'pending' })
  })

  test('an update with a status but no quantity is rejected', async () => {
    const { status } = await service.setQuantity(2n, '{"status": "sold"}')
    expect(status).toBe(400)
  })

  test.each(['available', 'pending', 'sold'])('an entry with status %s can be updated', async (wanted) => {
    const { items } = await service.call('GET', '/inventory')
    const entry = items.find((item) => item.status === wanted)
    const update = await service.setQuantity(String(entry?.petId), '{"quantity": 3}')
    expect(update.json).toEqual({ ...entry, quantity: 3 })
  })
})
