import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createConfig, lint } from '@redocly/openapi-core'
import contract from '../../../openapi.json'
import { createSecret, hashSecret } from '../../src/core/keys/api-key.ts'
import { createPairingCode, toStoredPairingCode } from '../../src/core/keys/pairing.ts'
import { addWebhook } from '../support/add-webhook.ts'
import { documentedResponses } from '../support/contract-check.ts'
import { operatorOf } from '../support/operator.ts'
import { type Answer, type CallOptions, TestService } from '../support/test-service.ts'

/** A key whose lookup fails in the broken service: this fails operations that need nothing else from the store. */
const UNLUCKY = createSecret('production')

/** How to cause each status; `call` checks every response against the contract. */
interface Situation {
  readonly service: TestService
  readonly send: (options?: CallOptions) => Promise<Answer>
  /** The difference from the valid request, if the status does not imply it. */
  readonly otherwise: ((options?: CallOptions) => Promise<Answer>) | undefined
  readonly isAboutOrders: boolean
  readonly request: GoodRequest
}

interface GoodRequest {
  readonly method?: string
  readonly path?: string
  readonly body?: string
  /** Creates the bearer token of each request, if it is not an API key. */
  readonly token?: (service: TestService) => Promise<string>
}

interface DescribedContract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, { readonly examples?: unknown }>> }
}

interface DescribedOperation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, DescribedContent>>
  readonly requestBody?: DescribedContent
}

interface DescribedContent {
  readonly content?: Readonly<Record<string, { schema: { $ref?: string }; example?: unknown }>>
}

/** An address without a listener. */
const NOWHERE = 'http://127.0.0.1:1111/'
const NEW_WEBHOOK = `{"url": "${NOWHERE}", "kinds": ["stock.changed"]}`

const REQUESTS: Readonly<Record<string, GoodRequest>> = {
  listInventory: { method: 'GET', path: '/inventory' },
  inventoryEvents: { method: 'GET', path: '/inventory/events' },
  getInventoryItem: { method: 'GET', path: '/inventory/1' },
  updateInventory: { method: 'PATCH', path: '/inventory/1', body: '{"quantity": 5}' },
  adjustInventory: {
    method: 'POST',
    path: '/inventory/adjustments',
    body: '{"reason": "counted", "changes": [{"petId": 1, "quantity": 5}]}',
  },
  getAvailability: { method: 'GET', path: '/inventory/1/availability' },
  listInventoryHistory: { method: 'GET', path: '/inventory/1/history' },
  listRecentChanges: { method: 'GET', path: '/inventory/history' },
  searchInventory: { method: 'GET', path: '/inventory/search' },
  createPet: { method: 'POST', path: '/pets', body: '{"name": "Rex", "categoryId": 1}' },
  upsertPets: { method: 'POST', path: '/pets/batch', body: batchOf('{"id": 1, "name": "Rex"}') },
  getPet: { method: 'GET', path: '/pets/1' },
  updatePet: { method: 'PATCH', path: '/pets/1', body: '{"name": "Rex"}' },
  removePet: { method: 'DELETE', path: '/pets/77' },
  listCatalog: { method: 'GET', path: '/catalog' },
  listPetEdits: { method: 'GET', path: '/catalog/history' },
  getCatalogPet: { method: 'GET', path: '/catalog/1' },
  listCategories: { method: 'GET', path: '/categories' },
  createCategory: { method: 'POST', path: '/categories', body: '{"name": "Dogs"}' },
  updateCategory: { method: 'PATCH', path: '/categories/1', body: '{"name": "Cats"}' },
  removeCategory: { method: 'DELETE', path: '/categories/77' },
  listOrders: { method: 'GET', path: '/store/orders' },
  createOrder: { method: 'POST', path: '/store/orders', body: '{"petId": 1, "quantity": 1}' },
  createOrders: {
    method: 'POST',
    path: '/store/orders/batch',
    body: '{"orders": [{"petId": 1, "quantity": 1, "customer": "Anna"}, {"petId": 2, "quantity": 1}]}',
  },
  getOrder: { method: 'GET', path: '/store/orders/1' },
  updateOrder: { method: 'PATCH', path: '/store/orders/1', body: '{"complete": true}' },
  cancelOrder: { method: 'DELETE', path: '/store/orders/9007199254740993' },
  listWebhooks: { method: 'GET', path: '/webhooks' },
  createWebhook: { method: 'POST', path: '/webhooks', body: NEW_WEBHOOK },
  getWebhook: { method: 'GET', path: '/webhooks/1' },
  updateWebhook: { method: 'PATCH', path: '/webhooks/1', body: '{"paused": true}' },
  removeWebhook: { method: 'DELETE', path: '/webhooks/77' },
  listWebhookDeliveries: { method: 'GET', path: '/webhooks/1/deliveries' },
  rotateWebhookSecret: { method: 'POST', path: '/webhooks/1/rotate-secret' },
  replayWebhook: { method: 'POST', path: '/webhooks/1/replay', body: '{"from": "evt_1_a"}' },
  takeOverWebhook: { method: 'POST', path: '/webhooks/1/take-over' },
  testWebhook: { method: 'POST', path: '/webhooks/1/test' },
  listKeys: { method: 'GET', path: '/keys' },
  listKeyNames: { method: 'GET', path: '/keys/names' },
  createKey: { method: 'POST', path: '/keys', body: '{"name": "Anna", "plan": "pro"}' },
  getKey: { method: 'GET', path: '/keys/key_1' },
  listKeyAudit: { method: 'GET', path: '/keys/key_1/audit' },
  updateKey: { method: 'PATCH', path: '/keys/key_1', body: '{"name": "Anna"}' },
  revokeKey: { method: 'DELETE', path: '/keys/key_77' },
  rotateKey: { method: 'POST', path: '/keys/key_1/rotate', body: '{}' },
  createPairingCode: { method: 'POST', path: '/keys/key_1/pairing-code' },
  pairKey: { method: 'POST', path: '/keys/pair', token: newPairingCode },
  getLimits: { method: 'GET', path: '/limits' },
}

function batchOf(pet: string): string {
  return `{"pets": [${pet}]}`
}

async function newPairingCode({ store, now }: TestService): Promise<string> {
  const [record] = await store.listKeys()
  const code = createPairingCode()
  const stamp = { at: now, actor: 'test' }
  await operatorOf(store).addPairingCode(record?.key.id ?? '', toStoredPairingCode(code, now), stamp)
  return code
}

function adjustment(change: string): string {
  return `{"reason": "lost", "changes": [${change}]}`
}

/** How to cause a status of an operation, if the path alone does not. */
const OTHERWISE: Readonly<Record<string, Pick<GoodRequest, 'path' | 'body'>>> = {
  'adjustInventory 400': { body: '{}' },
  'adjustInventory 412': { body: adjustment('{"petId": 1, "quantity": 1, "expected": 999}') },
  'adjustInventory 422': { body: adjustment('{"petId": 2, "quantity": 3}') },
  'updateInventory 422': { body: '{"quantity": 3}' },
  'adjustInventory 404': { body: adjustment('{"petId": 404, "delta": 1}') },
  'createOrder 400': { body: '{}' },
  'createOrder 404': { body: '{"petId": 404, "quantity": 1}' },
  'createOrder 409': { body: '{"petId": 1, "quantity": 1000}' },
  'createOrder 422': { body: '{"petId": 2, "quantity": 1}' },
  'createOrders 400': { body: '{"orders": [{}, {"petId": 1}]}' },
  'createOrders 404': { body: '{"orders": [{"petId": 404, "quantity": 1}]}' },
  'createOrders 409': { body: '{"orders": [{"petId": 1, "quantity": 1000}]}' },
  'createOrders 422': { body: '{"orders": [{"petId": 2, "quantity": 1}]}' },
  'createPet 400': { body: '{"name": "", "categoryId": 1}' },
  'createPet 409': { body: '{"name": "Rex", "categoryId": 1, "id": 2}' },
  'createPet 422': { body: '{"name": "Another", "categoryId": 1}' },
  'upsertPets 400': { body: batchOf('{"nmae": "Rex"}') },
  'upsertPets 409': { body: batchOf('{"id": 1, "barcode": "4006381333931"}') },
  'upsertPets 422': { body: batchOf('{"id": 1, "name": "Another"}') },
  'updatePet 409': { body: '{"barcode": "4006381333931"}' },
  'updatePet 422': { body: '{"name": "Another"}' },
  'removePet 412': { path: '/pets/1' },
  'removePet 409': { path: '/pets/9223372036854775807' },
  'removePet 422': { path: '/pets/2' },
  'createCategory 400': { body: '{"name": 5}' },
  'createCategory 409': { body: '{"name": "Dogs", "id": 2}' },
  'createCategory 422': { body: '{"name": "Another"}' },
  'updateCategory 409': { body: '{"name": "EMPTY"}' },
  'updateCategory 422': { body: '{"name": "Another"}' },
  'removeCategory 412': { path: '/categories/1' },
  'removeCategory 409': { path: '/categories/2' },
  'removeCategory 422': { path: '/categories/78' },
  'updateOrder 409': { path: '/store/orders/9007199254740993' },
  'updateOrder 422': { body: '{"shipDate": "2027-01-01T00:00:00Z"}' },
  'cancelOrder 409': { path: '/store/orders/1' },
  'cancelOrder 422': { path: '/store/orders/2' },
  'createWebhook 400': { body: '{"url": "no address", "kinds": ["stock.changed"]}' },
  'createWebhook 409': { body: NEW_WEBHOOK },
  'createWebhook 422': { body: NEW_WEBHOOK.replace('changed', 'low') },
  'updateWebhook 422': { body: '{"paused": false}' },
  'removeWebhook 412': { path: '/webhooks/1' },
  'removeWebhook 422': { path: '/webhooks/78' },
  'createKey 400': { body: '{"name": "Anna", "plan": "best"}' },
  'revokeKey 412': { path: '/keys/key_1' },
  'rotateWebhookSecret 422': { path: '/webhooks/78/rotate-secret' },
  'takeOverWebhook 422': { path: '/webhooks/78/take-over' },
  'replayWebhook 422': { path: '/webhooks/78/replay', body: '{"from": "evt_1_a"}' },
}

/** Some operations are free for every key, but an address without a valid key is limited here as well. */
async function refusedByAddress({ method = '', path = '' }: GoodRequest): Promise<Answer> {
  const service = await TestService.start()
  try {
    let answer = await service.call(method, path, { key: null })
    while (answer.status === 401) answer = await service.call(method, path, { key: null })
    return answer
  } finally {
    await service.stop()
  }
}

/** The only key that manages keys tries to pause or revoke itself. */
async function refusedAsLastManager({ method = '' }: GoodRequest): Promise<Answer> {
  const service = await TestService.start()
  try {
    const [record] = await service.store.listKeys()
    return await service.call(method, `/keys/${record?.key.id}`, {
      ...(method === 'PATCH' ? { body: '{"paused": true}' } : {}),
      headers: { 'Content-Type': 'application/json' },
    })
  } finally {
    await service.stop()
  }
}

async function refusedForPausedKey(service: TestService): Promise<Answer> {
  const { id } = await service.createKey('pro', { pausedAt: service.now })
  return service.call('POST', `/keys/${id}/pairing-code`)
}

const SITUATIONS: Readonly<Record<number, (situation: Situation) => Promise<Answer>>> = {
  200: ({ send }) => send(),
  201: ({ send }) => send(),
  204: ({ send }) => send(),
  304: ({ send }) => send({ headers: { 'If-None-Match': '*' } }),
  401: ({ send }) => send({ key: null }),
  403: async ({ service, send }) => {
    const { secret } = await service.createKey('pro', { permissions: [] })
    return send({ key: secret })
  },
  // This request never ends.
  408: ({ send }) => send({ body: new ReadableStream({ start: (body) => body.enqueue(Buffer.from('{')) }) }),
  410: ({ service, send }) => {
    service.now = Date.UTC(2040, 0)
    return send()
  },
  409: async ({ service, send, otherwise, isAboutOrders, request }) => {
    if (request.path?.endsWith('/pairing-code')) return refusedForPausedKey(service)
    if (request.path?.startsWith('/keys')) return refusedAsLastManager(request)
    if (otherwise === undefined) return send({ body: adjustment('{"petId": 1, "delta": -1000}') })
    if (isAboutOrders) await service.call('DELETE', '/store/orders/9007199254740993')
    let answer = await otherwise()
    // The store may have ten webhooks.
    for (let sent = 0; sent < 10 && answer.status === 201; sent++) answer = await otherwise()
    return answer
  },
  412: ({ send, otherwise, request }) =>
    (otherwise ?? send)(request.method === 'POST' ? {} : { headers: { 'If-Match': '"999-sold"' } }),
  413: ({ send }) => send({ body: 'x'.repeat(270_000) }),
  422: async ({ send, otherwise }) => {
    const headers = { 'Idempotency-Key': 'once' }
    await send({ headers })
    return (otherwise ?? send)({ headers })
  },
  429: async ({ service, send, request }) => {
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 1, perDay: 9 } })
    await send({ key: secret })
    const answer = await send({ key: secret })
    return answer.status === 429 ? answer : refusedByAddress(request)
  },
  503: async ({ service, send, request }) => {
    const token = await request.token?.(service)
    await service.run('ALTER TABLE keys RENAME TO away')
    // After the time for which a key is trusted.
    service.now += 1_000
    const answer = await send(token === undefined ? {} : { key: token })
    await service.run('ALTER TABLE away RENAME TO keys')
    return answer
  },
}

describe('the contract', () => {
  let service: TestService
  let broken: TestService
  beforeAll(async () => {
    service = await TestService.start({
      settings: { webhookPrivateAddresses: 'on' },
      connectionLimits: { requestTimeoutSeconds: 1 },
    })
    const more = [
      ['/categories', '{"id": 77, "name": "Empty"}'],
      ['/pets', '{"id": 77, "name": "Gone soon", "categoryId": 1}'],
      ['/pets', '{"id": 78, "name": "Scanned", "categoryId": 1, "barcode": "4006381333931"}'],
    ] as const
    for (const [path, body] of more) {
      await service.call('POST', path, { body, headers: { 'Content-Type': 'application/json' } })
    }
    for (const id of ['key_1', 'key_77']) await service.createKey('pro', { id })
    for (const id of [1n, 77n]) await addWebhook(service.store, { id, url: NOWHERE })
    const bug = () => Promise.reject(new TypeError('a bug'))
    broken = await TestService.start({
      settings: { webhookPrivateAddresses: 'on' },
      wrapStore: (store) => ({
        ...store,
        version: () => undefined,
        stockChangesSince: bug,
        changeStock: bug,
        findPet: bug,
        listOrders: bug,
        findOrder: bug,
        findAvailability: bug,
        listPets: bug,
        listCategories: bug,
        searchPets: bug,
        listHistoryPage: bug,
        listRecentHistory: bug,
        listPetEdits: bug,
        latestEventCursor: bug,
        listWebhooks: bug,
        findWebhook: bug,
        listKeyPage: bug,
        findKeyRecord: bug,
        runKeyCommand: bug,
        pairKey: bug,
        findKey: (hash) => (hash === hashSecret(UNLUCKY) ? bug() : store.findKey(hash)),
      }),
    })
  })
  afterAll(() => Promise.all([service.stop(), broken.stop()]))

  const isTimeout = (response: string) => response.endsWith(' 408')
  const [timeouts, others] = [
    [...documentedResponses].filter(isTimeout),
    [...documentedResponses].filter((response) => !isTimeout(response)),
  ]
  // Each of them takes as long as the timeout.
  test('408 occurs as documented, for every operation with a body', async () => {
    await Promise.all(timeouts.map(occurs))
  })
  test.each(others)('%s occurs as documented', occurs)

  async function occurs(response: string): Promise<void> {
    const [operationId = '', documented = ''] = response.split(' ')
    const status = Number(documented)
    const request = REQUESTS[operationId] ?? {}
    const { method = '', path = '', body, token } = request
    const sendTo =
      (target: TestService, to = path, sent = body) =>
      async (options: CallOptions = {}) =>
        target.call(method, to, {
          ...(sent === undefined ? {} : { body: sent }),
          ...(token === undefined || options.key !== undefined ? {} : { key: await token(target) }),
          ...options,
          headers: { 'Content-Type': 'application/json', ...options.headers },
        })
    const other = OTHERWISE[response]
    const otherwise = other && sendTo(service, other.path, other.body)
    const withId = (id: string) => path.replace(/\/(key_)?(1|77|9007199254740993)(?=\/|$)/, `/$1${id}`)
    const arrange: Readonly<Record<number, () => Promise<Answer>>> = {
      400: () => {
        // The list takes no parameters and ignores unknown ones.
        if (operationId === 'listInventory') return sendTo(service)({ headers: { 'If-Match': '*' } })
        return (otherwise ?? sendTo(service, `${withId('a.b')}?limit=0&lastEventId=none`))()
      },
      404: () => (otherwise ?? sendTo(service, withId('404')))(),
      500: () => sendTo(broken)(operationId === 'getLimits' ? { key: UNLUCKY } : {}),
    }
    const situation = SITUATIONS[status]
    const answer = await (situation?.({
      service,
      send: sendTo(service),
      otherwise,
      isAboutOrders: operationId.endsWith('Order'),
      request,
    }) ?? arrange[status]?.())
    expect(answer?.status).toBe(status)
  }

  test('every operation has an example of its response and of its body', () => {
    const { paths, components } = contract as unknown as DescribedContract
    const hasExample = (media: { schema: { $ref?: string }; example?: unknown }) =>
      media.example !== undefined ||
      components.schemas[media.schema.$ref?.split('/').at(-1) ?? '']?.examples !== undefined
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
    const without = operations.filter(({ responses, requestBody }) => {
      const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
      const media = [...Object.values(success?.content ?? {}), ...Object.values(requestBody?.content ?? {})]
      return !media.every(hasExample)
    })
    expect(without.map(({ operationId }) => operationId)).toEqual([])
  })

  test('is at most 240 kB', () => {
    const file = Bun.file(new URL('../../../openapi.json', import.meta.url))
    expect(file.size).toBeLessThanOrEqual(240_000)
  })

  test('passes the recommended rules of a public OpenAPI linter', async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lint({ ref: new URL('../../../openapi.json', import.meta.url).pathname, config })
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
  })
})
