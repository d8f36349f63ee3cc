import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Type } from 'typebox'
import { PERMISSIONS } from '../../src/core/keys/api-key.ts'
import { defineOperation } from '../../src/http/operation.ts'
import { OPERATIONS } from '../../src/http/routes.ts'
import { operatorOf } from '../support/operator.ts'
import { TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const order = (key: string, headers: Record<string, string> = {}) =>
  service.send('POST', '/store/orders', { petId: 1, quantity: 1 }, { key, headers })

const UNRESTRICTED = new Set(['/keys/pair', '/keys/names'])

describe('permissions', () => {
  test('stock changes need stock, order changes need orders, and reads need no permission, except those of webhooks and keys; names of keys need none', () => {
    const needs = Object.fromEntries(
      OPERATIONS.map((operation) => [operation.operationId, operation.permission]),
    )
    expect(needs).toMatchObject({
      updateInventory: 'stock',
      adjustInventory: 'stock',
      createOrder: 'orders',
      updateOrder: 'orders',
      cancelOrder: 'orders',
    })
    for (const { method, permission: needed } of OPERATIONS) {
      if (method === 'GET' && needed !== 'webhooks' && needed !== 'keys') expect(needed).toBeUndefined()
    }
    for (const permission of ['webhooks', 'keys'] as const) {
      const all = OPERATIONS.filter(
        ({ path }) => path.startsWith(`/${permission}`) && !UNRESTRICTED.has(path),
      )
      expect(all.map((operation) => operation.permission)).toEqual(all.map(() => permission))
    }
  })

  test('a changing operation without a permission cannot be defined', () => {
    const define = () =>
      defineOperation('DELETE', '/all', {
        summary: '',
        description: '',
        success: { status: 204, description: '', schema: Type.Null() },
        reply: () => ({ status: 204, headers: {}, body: null }),
      })
    expect(define).toThrow('DELETE /all changes something, but does not name the permission that it needs')
  })

  test('the rejection names the missing permission and the command that adds it to the existing ones', async () => {
    const { id, secret } = await service.createKey('pro', { permissions: ['stock', 'webhooks'] })
    const { error } = await order(secret)
    expect(error.message).toBe(
      `this key may not change orders: it needs the permission "orders" (People on the staff page, or PATCH /keys/${id} with "permissions": ["stock","orders","webhooks"])`,
    )
  })

  test('a response is not replayed after its permission was removed', async () => {
    const { id, secret } = await service.createKey('pro', { permissions: ['orders'] })
    const once = { 'Idempotency-Key': 'before-and-after' }
    await service.setQuantity(1n, '{"quantity": 100}')
    expect((await order(secret, once)).status).toBe(201)
    const act = { at: service.now, actor: 'test' }
    await operatorOf(service.store).changeKey(id, { permissions: [] }, act)
    service.now += 1_000
    expect((await order(secret, once)).status).toBe(403)
    await operatorOf(service.store).changeKey(id, { permissions: PERMISSIONS }, act)
    service.now += 1_000
    const again = await order(secret, once)
    expect([again.status, again.headers.get('Idempotency-Replayed')]).toEqual([201, 'true'])
  })
})
