import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import contract from '../../../openapi.json'
import { OPERATIONS } from '../../src/http/routes.ts'
import { authAndLimitSuite, type GoodRequest, SUITE_SERVICE } from '../support/auth-and-limit-suite.ts'
import { TestService } from '../support/test-service.ts'

/** Makes the names of new categories different. */
let categoryCount = 0

const GOOD_REQUESTS: readonly GoodRequest[] = [
  { operationId: 'listInventory', method: 'GET', path: '/inventory' },
  { operationId: 'inventoryEvents', method: 'GET', path: '/inventory/events' },
  { operationId: 'getInventoryItem', method: 'GET', path: '/inventory/1' },
  { operationId: 'updateInventory', method: 'PATCH', path: '/inventory/1', body: '{"quantity": 5}' },
  {
    operationId: 'adjustInventory',
    method: 'POST',
    path: '/inventory/adjustments',
    body: '{"reason": "counted", "changes": [{"petId": 1, "quantity": 5}]}',
  },
  { operationId: 'getAvailability', method: 'GET', path: '/inventory/1/availability' },
  { operationId: 'listInventoryHistory', method: 'GET', path: '/inventory/1/history' },
  { operationId: 'listRecentChanges', method: 'GET', path: '/inventory/history' },
  { operationId: 'searchInventory', method: 'GET', path: '/inventory/search?q=biscuit' },
  {
    operationId: 'createPet',
    method: 'POST',
    path: '/pets',
    status: 201,
    body: '{"name": "Rex", "categoryId": 1}',
  },
  {
    operationId: 'upsertPets',
    method: 'POST',
    path: '/pets/batch',
    body: '{"pets": [{"id": 1, "name": "Rex"}, {"name": "Tom", "categoryId": 1}]}',
  },
  { operationId: 'getPet', method: 'GET', path: '/pets/1' },
  { operationId: 'updatePet', method: 'PATCH', path: '/pets/1', body: '{"name": "Rex"}' },
  { operationId: 'removePet', method: 'DELETE', path: '/pets/404', status: 404 },
  { operationId: 'listCatalog', method: 'GET', path: '/catalog' },
  { operationId: 'listPetEdits', method: 'GET', path: '/catalog/history' },
  { operationId: 'getCatalogPet', method: 'GET', path: '/catalog/1' },
  { operationId: 'listCategories', method: 'GET', path: '/categories' },
  {
    operationId: 'createCategory',
    method: 'POST',
    path: '/categories',
    status: 201,
    body: () => `{"name": "Dogs ${categoryCount++}"}`,
  },
  { operationId: 'updateCategory', method: 'PATCH', path: '/categories/1', body: '{"name": "Cats"}' },
  { operationId: 'removeCategory', method: 'DELETE', path: '/categories/404', status: 404 },
  { operationId: 'listOrders', method: 'GET', path: '/store/orders' },
  {
    operationId: 'createOrder',
    method: 'POST',
    path: '/store/orders',
    body: '{"petId": 1, "quantity": 1}',
    status: 201,
    stock: '{"quantity": 100}',
  },
  {
    operationId: 'createOrders',
    method: 'POST',
    path: '/store/orders/batch',
    body: '{"orders": [{"petId": 1, "quantity": 1}]}',
    status: 201,
    stock: '{"quantity": 100}',
  },
  { operationId: 'getOrder', method: 'GET', path: '/store/orders/1' },
  { operationId: 'updateOrder', method: 'PATCH', path: '/store/orders/1', body: '{"complete": true}' },
  { operationId: 'cancelOrder', method: 'DELETE', path: '/store/orders/9007199254740993', status: 204 },
  { operationId: 'listWebhooks', method: 'GET', path: '/webhooks' },
  {
    operationId: 'createWebhook',
    method: 'POST',
    path: '/webhooks',
    status: 201,
    body: '{"url": "http://127.0.0.1:1111/", "kinds": ["stock.changed"]}',
    cleanUp: removeWebhooks,
  },
  { operationId: 'getWebhook', method: 'GET', path: '/webhooks/404', status: 404 },
  {
    operationId: 'updateWebhook',
    method: 'PATCH',
    path: '/webhooks/404',
    status: 404,
    body: '{"paused": true}',
  },
  { operationId: 'removeWebhook', method: 'DELETE', path: '/webhooks/404', status: 404 },
  { operationId: 'listWebhookDeliveries', method: 'GET', path: '/webhooks/404/deliveries', status: 404 },
  { operationId: 'rotateWebhookSecret', method: 'POST', path: '/webhooks/404/rotate-secret', status: 404 },
  {
    operationId: 'replayWebhook',
    method: 'POST',
    path: '/webhooks/404/replay',
    body: '{"from": "evt_1_a"}',
    status: 404,
  },
  {
    operationId: 'takeOverWebhook',
    method: 'POST',
    path: '/webhooks/404/take-over',
    status: 404,
    alsoNeeds: 'keys',
  },
  { operationId: 'testWebhook', method: 'POST', path: '/webhooks/404/test', status: 404 },
  { operationId: 'listKeys', method: 'GET', path: '/keys' },
  { operationId: 'listKeyNames', method: 'GET', path: '/keys/names' },
  {
    operationId: 'createKey',
    method: 'POST',
    path: '/keys',
    // No later than the expiry of a key that creates it.
    body: '{"name": "Anna", "plan": "free", "permissions": [], "expiresAt": "2026-11-15T12:00:00.001Z"}',
    status: 201,
  },
  { operationId: 'getKey', method: 'GET', path: '/keys/key_404', status: 404 },
  { operationId: 'listKeyAudit', method: 'GET', path: '/keys/key_404/audit', status: 404 },
  {
    operationId: 'updateKey',
    method: 'PATCH',
    path: '/keys/key_404',
    body: '{"paused": true}',
    status: 404,
  },
  { operationId: 'revokeKey', method: 'DELETE', path: '/keys/key_404', status: 404 },
  { operationId: 'rotateKey', method: 'POST', path: '/keys/key_404/rotate', body: '{}', status: 404 },
  { operationId: 'createPairingCode', method: 'POST', path: '/keys/key_404/pairing-code', status: 404 },
  { operationId: 'getLimits', method: 'GET', path: '/limits' },
]

describe('section 5: authentication', () => {
  test('every operation is secured with bearerAuth, HTTP bearer authentication', () => {
    expect(contract.security).toEqual([{ bearerAuth: [] }])
    expect(contract.components.securitySchemes.bearerAuth).toMatchObject({ type: 'http', scheme: 'bearer' })
  })

  test('every operation runs the authentication suite', () => {
    expect(GOOD_REQUESTS.map(({ operationId }) => operationId)).toEqual(
      OPERATIONS.filter(({ takesPairingCode }) => !takesPairingCode).map(({ operationId }) => operationId),
    )
  })

  test('only the operation that exchanges a pairing code takes another bearer token', () => {
    const others = OPERATIONS.filter(({ takesPairingCode }) => takesPairingCode)
    expect(others.map(({ operationId }) => operationId)).toEqual(['pairKey'])
    expect(contract.paths['/keys/pair'].post.security).toEqual([{ pairingCode: [] }])
  })

  test('an unknown path is 401 without a valid key, so that strangers learn nothing', async () => {
    const service = await TestService.start()
    for (const path of ['/v1/secrets', '/v1', '/v1/', '/v2/inventory']) {
      const answer = await service.fetch('GET', path, { key: null })
      expect([answer.status, answer.error.code]).toEqual([401, 'unauthorized'])
    }
    await service.stop()
  })
})

describe('every operation', () => {
  let service: TestService
  beforeAll(async () => {
    service = await TestService.start(SUITE_SERVICE)
  })
  afterAll(() => service.stop())
  for (const request of GOOD_REQUESTS) authAndLimitSuite(request, () => service)
})

/** A store has room for ten webhooks. */
async function removeWebhooks(service: TestService): Promise<void> {
  const webhooks = (await service.call('GET', '/webhooks')).json as { id: number }[]
  for (const { id } of webhooks) await service.call('DELETE', `/webhooks/${id}`)
}
