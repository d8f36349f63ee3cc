import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createConfig, lint } from '@redocly/openapi-core'
import { createSecret, hashSecret } from '../../src/core/keys/api-key.ts'
import { documentedResponses } from '../support/contract-check.ts'
import { type Answer, type CallOptions, TestService } from '../support/test-service.ts'

/** A key that the broken service fails to look up: the way to fail an operation that needs nothing of the store. */
const UNLUCKY = createSecret('production')

/** How to bring about each status; `call` holds every answer against the contract. */
interface Situation {
  readonly service: TestService
  readonly send: (options?: CallOptions) => Promise<Answer>
  /** What differs from the good request, where the status does not say that by itself. */
  readonly otherwise: ((options?: CallOptions) => Promise<Answer>) | undefined
}

interface GoodRequest {
  readonly method?: string
  readonly path?: string
  readonly body?: string
}

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
  listPets: { method: 'GET', path: '/pets' },
  getPet: { method: 'GET', path: '/pets/1' },
  listCatalog: { method: 'GET', path: '/catalog' },
  listOrders: { method: 'GET', path: '/store/orders' },
  createOrder: { method: 'POST', path: '/store/orders', body: '{"petId": 1, "quantity": 1}' },
  getOrder: { method: 'GET', path: '/store/orders/1' },
  updateOrder: { method: 'PATCH', path: '/store/orders/1', body: '{"complete": true}' },
  cancelOrder: { method: 'DELETE', path: '/store/orders/9007199254740993' },
  getLimits: { method: 'GET', path: '/limits' },
}

/** A body that is right for an adjustment and, with these fields, for an update. */
function adjustment(change: string, fields = ''): string {
  return `{${fields} "reason": "lost", "changes": [${change}]}`
}

/** Where it is not the path that makes the difference: what brings about a status, by operation. */
const OTHERWISE: Readonly<Record<string, Pick<GoodRequest, 'path' | 'body'>>> = {
  'adjustInventory 400': { body: '{}' },
  'adjustInventory 404': { body: adjustment('{"petId": 404, "delta": 1}') },
  'createOrder 400': { body: '{}' },
  'createOrder 404': { body: '{"petId": 404, "quantity": 1}' },
  'createOrder 409': { body: '{"petId": 1, "quantity": 1000}' },
  'createOrder 422': { body: '{"petId": 2, "quantity": 1}' },
  'updateOrder 409': { path: '/store/orders/9007199254740993' },
  'updateOrder 422': { body: '{"shipDate": "2027-01-01T00:00:00Z"}' },
  'cancelOrder 409': { path: '/store/orders/1' },
  'cancelOrder 422': { path: '/store/orders/2' },
}

const SITUATIONS: Readonly<Record<number, (situation: Situation) => Promise<Answer>>> = {
  200: ({ send }) => send(),
  201: ({ send }) => send(),
  204: ({ send }) => send(),
  304: ({ send }) => send({ headers: { 'If-None-Match': '*' } }),
  401: ({ send }) => send({ key: null }),
  403: async ({ service, send }) => {
    const { secret } = await service.createKey('pro', { readOnly: true })
    return send({ key: secret })
  },
  // One that never ends.
  408: ({ send }) => send({ body: new ReadableStream({ start: (body) => body.enqueue(Buffer.from('{')) }) }),
  410: ({ service, send }) => {
    service.now = Date.UTC(2040, 0)
    return send()
  },
  409: async ({ service, send, otherwise }) => {
    if (otherwise === undefined) return send({ body: adjustment('{"petId": 1, "delta": -1000}') })
    await service.call('DELETE', '/store/orders/9007199254740993')
    return otherwise()
  },
  412: ({ send }) =>
    send({
      headers: { 'If-Match': '"999-sold"' },
      body: adjustment('{"petId": 1, "quantity": 1, "expected": 999}', '"quantity": 1,'),
    }),
  413: ({ send }) => send({ body: 'x'.repeat(270_000) }),
  422: async ({ send, otherwise }) => {
    const headers = { 'Idempotency-Key': 'once' }
    await send({ headers })
    return (
      otherwise?.({ headers }) ??
      send({ headers, body: adjustment('{"petId": 2, "quantity": 3}', '"quantity": 3,') })
    )
  },
  429: async ({ service, send }) => {
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 1, perDay: 9 } })
    await send({ key: secret })
    return send({ key: secret })
  },
  503: async ({ service, send }) => {
    await service.run('ALTER TABLE keys RENAME TO away')
    // Past the moment for which a key is taken for granted.
    service.now += 1_000
    const answer = await send()
    await service.run('ALTER TABLE away RENAME TO keys')
    return answer
  },
}

describe('the contract', () => {
  let service: TestService
  let broken: TestService
  beforeAll(async () => {
    service = await TestService.start({ settings: { requestTimeoutSeconds: '1' } })
    const bug = () => Promise.reject(new TypeError('a bug'))
    broken = await TestService.start({
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
        listHistoryPage: bug,
        listRecentHistory: bug,
        latestEventCursor: bug,
        findKey: (hash) => (hash === hashSecret(UNLUCKY) ? bug() : store.findKey(hash)),
      }),
    })
  })
  afterAll(() => Promise.all([service.stop(), broken.stop()]))

  test.each([...documentedResponses])('%s happens as documented', async (response) => {
    const [operationId = '', documented = ''] = response.split(' ')
    const status = Number(documented)
    const { method = '', path = '', body } = REQUESTS[operationId] ?? {}
    const sendTo =
      (target: TestService, to = path, sent = body) =>
      (options: CallOptions = {}) =>
        target.call(method, to, {
          ...(sent === undefined ? {} : { body: sent }),
          ...options,
          headers: { 'Content-Type': 'application/json', ...options.headers },
        })
    const other = OTHERWISE[response]
    const otherwise = other && sendTo(service, other.path, other.body)
    const withId = (id: string) => path.replace(/\/(1|9007199254740993)(?=\/|$)/, `/${id}`)
    const arrange: Readonly<Record<number, () => Promise<Answer>>> = {
      400: () => (otherwise ?? sendTo(service, `${withId('abc')}?limit=0&lastEventId=none`))(),
      404: () => (otherwise ?? sendTo(service, withId('404')))(),
      500: () => sendTo(broken)(operationId === 'getLimits' ? { key: UNLUCKY } : {}),
    }
    const situation = SITUATIONS[status]
    const answer = await (situation?.({ service, send: sendTo(service), otherwise }) ?? arrange[status]?.())
    expect(answer?.status).toBe(status)
  })

  test('passes the recommended rules of a public OpenAPI linter without an error', async () => {
    const config = await createConfig({ extends: ['recommended'] })
    const problems = await lint({ ref: new URL('../../../openapi.json', import.meta.url).pathname, config })
    const errors = problems.filter(({ severity }) => severity === 'error')
    expect(errors.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
  })
})
