import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import contract from '../../../openapi.json'
import { TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const { schemas } = contract.components

describe('section 2: resources and their fields', () => {
  test('an InventoryItem has petId (int64), quantity and status, all required', () => {
    const { required, properties } = schemas.InventoryItem
    expect(required).toEqual(['petId', 'quantity', 'status'])
    expect(properties.petId).toMatchObject({ type: 'integer', format: 'int64' })
    expect(properties.quantity).toMatchObject({ type: 'integer' })
    expect(properties.status).toEqual({ $ref: '#/components/schemas/PetStatus' })
  })

  test('the list carries exactly the fields of an InventoryItem', async () => {
    const { items } = await service.call('GET', '/inventory')
    for (const item of items) expect(Object.keys(item)).toEqual(['petId', 'quantity', 'status'])
  })

  test('an InventoryUpdate has one field, quantity, and it is required', () => {
    const { required, properties } = schemas.InventoryUpdate
    expect(required).toEqual(['quantity'])
    expect(Object.keys(properties)).toEqual(['quantity'])
    expect(properties.quantity).toMatchObject({ type: 'integer' })
  })

  test('a PetStatus is exactly one of available, pending, sold', async () => {
    expect(schemas.PetStatus).toMatchObject({ type: 'string', enum: ['available', 'pending', 'sold'] })
    const { items } = await service.call('GET', '/inventory')
    const seen = new Set(items.map((item) => item.status))
    expect(seen).toEqual(new Set(['available', 'pending', 'sold']))
  })

  test('an Error has code, message and status, and status is the HTTP status', async () => {
    expect(schemas.Error.required).toEqual(['code', 'message', 'status'])
    const { status, json } = await service.call('GET', '/inventory', { key: null })
    expect(json).toEqual({ code: expect.any(String), message: expect.any(String), status })
  })

  test('ids are int64 end to end: digits beyond a double are returned unchanged', async () => {
    const list = await service.call('GET', '/inventory')
    expect(list.text).toContain('{"petId":9007199254740993,"quantity":7,"status":"available"}')
    expect(list.text).toContain('{"petId":9223372036854775807,"quantity":8,"status":"available"}')

    for (const petId of ['9007199254740993', '9223372036854775807']) {
      const update = await service.setQuantity(petId, '{"quantity": 20}')
      expect(update.text).toBe(`{"petId":${petId},"quantity":20,"status":"available"}`)
    }
    const pet = await service.call('GET', '/pets/9223372036854775807')
    expect(pet.text).toContain('"id":9223372036854775807')
    const orders = await service.call('GET', '/store/orders')
    expect(orders.text).toContain('"id":9007199254740993,"lines":[{"petId":9223372036854775807,')
  })
})
