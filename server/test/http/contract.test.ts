import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Ruleset, Spectral } from '@stoplight/spectral-core'
import owasp from '@stoplight/spectral-owasp-ruleset'
import { oas } from '@stoplight/spectral-rulesets'
import contract from '../../../openapi.json'
import { createSecret, hashSecret } from '../../src/core/keys/api-key.ts'
import { createPairingCode, toStoredPairingCode } from '../../src/core/keys/pairing.ts'
import { documentedResponses } from '../support/contract-check.ts'
import { EXAMPLES, type ExampleRequest, startExampleShop, targetOf } from '../support/example-requests.ts'
import { operatorOf } from '../support/operator.ts'
import { type Answer, type CallOptions, TestService } from '../support/test-service.ts'

/** A key whose lookup fails in the broken service: this fails operations that need nothing else from the store. */
const UNLUCKY = createSecret('production')

interface Variant {
  readonly target?: string
  readonly sentBody?: string
}

function adjustment(change: string): string {
  return `{"reason": "lost", "changes": [${change}]}`
}

/** How to cause a status of an operation, if the path alone does not. */
const VARIANTS: Readonly<Record<string, Variant>> = {
  'adjustInventory 412': { sentBody: adjustment('{"petId": 1, "quantity": 1, "expected": 999}') },
  'adjustInventory 404': { sentBody: adjustment('{"petId": 404, "delta": 1}') },
  'adjustInventory 409': { sentBody: adjustment('{"petId": 1, "delta": -1000}') },
  'reverseAdjustment 409': { sentBody: '{"lines": [{"petId": 1, "quantity": 1000001}]}' },
  'createOrder 404': { sentBody: '{"petId": 404, "quantity": 1}' },
  'createOrder 409': { sentBody: '{"petId": 1, "quantity": 1000}' },
  'createPet 409': { sentBody: '{"name": "Rex", "categoryId": 1, "id": 2}' },
  'upsertPets 409': { sentBody: '{"pets": [{"id": 1, "barcode": "SCANNED"}]}' },
  'updatePet 409': { sentBody: '{"barcode": "SCANNED"}' },
  'importFile 404': { target: '/imports?kind=count', sentBody: 'petId,quantity\n404,1\n' },
  'importFile 409': { sentBody: 'petId,barcode\n1,SCANNED\n' },
  'removePet 409': { target: '/pets/9223372036854775807' },
  'removePet 412': { target: '/pets/1' },
  'createCategory 409': { sentBody: '{"name": "Dogs", "id": 2}' },
  'updateCategory 409': { sentBody: '{"name": "EMPTY"}' },
  'removeCategory 409': { target: '/categories/2' },
  'removeCategory 412': { target: '/categories/1' },
  'updateOrder 409': { target: '/store/orders/9007199254740993' },
  'cancelOrder 409': { target: '/store/orders/1' },
  'removeWebhook 412': { target: '/webhooks/1' },
  // The pairing code needs a key that is not paused.
  'updateKey 200': { sentBody: '{"paused": false}' },
  'updateKey 429': { sentBody: '{"paused": false}' },
  'revokeKey 412': { target: '/keys/key_1' },
}

async function newPairingCode({ store, now }: TestService): Promise<string> {
  const [record] = await store.listKeys()
  const code = createPairingCode()
  const stamp = { at: now, actor: 'test' }
  await operatorOf(store).addPairingCode(record?.key.id ?? '', toStoredPairingCode(code, now), stamp)
  return code
}

/** Some operations are free for every key, but an address without a valid key is limited here as well. */
async function refusedByAddress({ method, target }: ExampleRequest): Promise<Answer> {
  const service = await TestService.start({ anonymousPerMinute: 1 })
  await service.call(method, target, { key: null })
  return service.call(method, target, { key: null })
}

/** The only key that manages keys tries to pause or revoke itself. */
async function refusedAsLastManager({ method }: ExampleRequest): Promise<Answer> {
  const service = await TestService.start()
  const [record] = await service.store.listKeys()
  const path = `/keys/${record?.key.id}`
  return service.send(method, path, method === 'PATCH' ? { paused: true } : undefined)
}

async function refusedForPausedKey(service: TestService): Promise<Answer> {
  const { id } = await service.createKey('pro', { pausedAt: service.now })
  return service.call('POST', `/keys/${id}/pairing-code`)
}

interface Situation {
  readonly service: TestService
  readonly request: ExampleRequest
  readonly send: (options?: CallOptions, target?: string) => Promise<Answer>
  /** To a service with a bug. */
  readonly sendToBroken: (options?: CallOptions) => Promise<Answer>
}

/** How to cause each status; `call` checks every response against the contract. */
const SITUATIONS: Readonly<Record<number, (situation: Situation) => Promise<Answer>>> = {
  200: ({ send }) => send(),
  201: ({ send }) => send(),
  204: ({ send }) => send(),
  304: ({ send }) => send({ headers: { 'If-None-Match': '*' } }),
  400: ({ send, request }) => {
    const { operationId, params, sentBody } = request
    // The list takes no parameters and ignores unknown ones.
    if (operationId === 'listInventory') return send({ headers: { 'If-Match': '*' } })
    if (params === undefined && sentBody !== undefined) return send({ body: '[]' })
    return send({}, `${targetOf(request, () => 'a.b')}?limit=0&lastEventId=none`)
  },
  401: ({ send }) => send({ key: null }),
  403: async ({ service, send }) => {
    const { secret } = await service.createKey('pro', { permissions: [] })
    return send({ key: secret })
  },
  404: ({ send, request }) => {
    const { operationId, params = {} } = request
    if (`${operationId} 404` in VARIANTS) return send()
    return send(
      {},
      targetOf(request, () => ('keyId' in params ? 'key_404' : '404')),
    )
  },
  // This request never ends.
  408: ({ send }) => send({ body: new ReadableStream({ start: (body) => body.enqueue(Buffer.from('{')) }) }),
  409: async ({ service, send, request }) => {
    const { operationId, path } = request
    if (operationId === 'createPairingCode') return refusedForPausedKey(service)
    if (path.startsWith('/keys')) return refusedAsLastManager(request)
    if (operationId === 'updateOrder') await service.call('DELETE', '/store/orders/9007199254740993')
    let answer = await send()
    // The store may have ten webhooks.
    for (let sent = 0; sent < 10 && answer.status === 201; sent++) answer = await send()
    return answer
  },
  410: async ({ service, send }) => {
    service.now = Date.UTC(2040, 0)
    return send()
  },
  412: ({ send, request }) =>
    send(request.method === 'POST' ? {} : { headers: { 'If-Match': '"999-sold"' } }),
  413: ({ send, request }) => send({ body: 'x'.repeat(Math.max(270_000, (request.maxBodyBytes ?? 0) + 1)) }),
  422: async ({ service, send, request }) => {
    const headers = { 'Idempotency-Key': request.operationId }
    await service.setQuantity(2n, '{"quantity": 30}', { headers })
    return send({
      headers,
      ...(request.operationId === 'updateInventory' ? { body: '{"quantity": 3}' } : {}),
    })
  },
  429: async ({ service, send, request }) => {
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 1, perDay: 9 } })
    await send({ key: secret })
    const answer = await send({ key: secret })
    return answer.status === 429 ? answer : refusedByAddress(request)
  },
  500: ({ sendToBroken, request }) =>
    sendToBroken(request.operationId === 'getLimits' ? { key: UNLUCKY } : {}),
  503: async ({ service, send, request }) => {
    const code = request.takesPairingCode ? { key: await newPairingCode(service) } : {}
    await service.run('ALTER TABLE keys RENAME TO away')
    // After the time for which a key is trusted.
    service.now += 1_000
    const answer = await send(code)
    await service.run('ALTER TABLE away RENAME TO keys')
    return answer
  },
}

interface DescribedContract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, { readonly examples?: unknown }>> }
}

interface DescribedOperation {
  readonly operationId: string
  readonly description: string
  readonly 'x-permission'?: string
  readonly responses: Readonly<Record<string, DescribedContent>>
  readonly requestBody?: DescribedContent
}

interface DescribedContent {
  readonly headers?: object
  readonly content?: Readonly<Record<string, { schema: { $ref?: string }; example?: unknown }>>
}

interface IntegerSchema {
  readonly type: 'integer'
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
}

const MAX_INT32 = 2 ** 31 - 1
const { paths, components } = contract as unknown as DescribedContract
const describedOperations = Object.values(paths).flatMap((methods) => Object.values(methods))

describe('the contract', () => {
  let service: TestService
  let broken: TestService
  beforeAll(async () => {
    service = await startExampleShop({ connectionLimits: { requestTimeoutSeconds: 1 } })
    const bug = () => Promise.reject(new TypeError('a bug'))
    broken = await TestService.start({
      settings: { webhookPrivateAddresses: 'on' },
      lookup: async () => ['127.0.0.1'],
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
        findAdjustment: bug,
        listAdjustments: bug,
        latestEventCursor: bug,
        eventsAfter: bug,
        historyStart: bug,
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
  // Each of them takes as long as the timeout.
  test('408 occurs as documented, for every operation with a body', async () => {
    await Promise.all(documentedResponses.filter(isTimeout).map(occurs))
  })
  test.each(documentedResponses.filter((response) => !isTimeout(response)))('%s occurs as documented', occurs)

  async function occurs(response: string): Promise<void> {
    const [operationId = '', status = ''] = response.split(' ')
    const example = EXAMPLES.find((one) => one.operationId === operationId)
    if (example === undefined) throw new Error(`${operationId} has no example`)
    const request = { ...example, ...VARIANTS[response] }
    const sendTo =
      (receiver: TestService) =>
      async (options: CallOptions = {}, target = request.target) =>
        receiver.send(request.method, target, request.sentBody, {
          ...(request.takesPairingCode && options.key === undefined
            ? { key: await newPairingCode(receiver) }
            : {}),
          ...options,
        })
    const situation = { service, request, send: sendTo(service), sendToBroken: sendTo(broken) }
    expect((await SITUATIONS[Number(status)]?.(situation))?.status).toBe(Number(status))
  }

  test('states how caches treat the response of every GET', async () => {
    const shop = await startExampleShop()
    const reads = EXAMPLES.filter(({ method }) => method === 'GET')
    expect(reads.length).toBeGreaterThan(20)
    for (const { operationId, target } of reads) {
      const described = describedOperations.find((one) => one.operationId === operationId)
      const stated = Object.keys(described?.responses[200]?.headers ?? {})
      const hasETag = stated.includes('ETag')
      // `call` compares the stated Cache-Control with that of the response.
      expect([operationId, stated.includes('Cache-Control')]).toEqual([operationId, true])
      const first = await shop.call('GET', target)
      // The tag of the list of keys may have changed, because the last use of a key is saved later.
      const again = await shop.call('GET', target, { headers: { 'If-None-Match': '*' } })
      expect([operationId, first.status, again.status]).toEqual([operationId, 200, hasETag ? 304 : 200])
      expect([operationId, first.headers.has('ETag')]).toEqual([operationId, hasETag])
      expect(again.headers.get('Cache-Control')).toBe(first.headers.get('Cache-Control'))
    }
  })

  test('every operation has an example of its response and of its body', () => {
    const hasExample = (media: { schema: { $ref?: string }; example?: unknown }) =>
      media.example !== undefined ||
      components.schemas[media.schema.$ref?.split('/').at(-1) ?? '']?.examples !== undefined
    const without = describedOperations.filter(({ responses, requestBody }) => {
      const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
      const media = [...Object.values(success?.content ?? {}), ...Object.values(requestBody?.content ?? {})]
      return !media.every(hasExample)
    })
    expect(without.map(({ operationId }) => operationId)).toEqual([])
  })

  test.each(EXAMPLES)(
    'has the permission of $operationId in an extension, in text and by its 403',
    (example) => {
      const { operationId, permission } = example
      const described = describedOperations.find((one) => one.operationId === operationId)
      expect(described?.['x-permission']).toBe(permission)
      expect('403' in (described?.responses ?? {})).toBe(permission !== undefined)
      const [, named] = /The key needs the permission `(\w+)`/.exec(described?.description ?? '') ?? []
      expect(named).toBe(permission)
    },
  )

  test('has a format for every integer that holds all its values', () => {
    const integers = integersIn(contract, '')
    expect(integers.length).toBeGreaterThan(100)
    const wrong = integers.filter(([, { format, minimum, maximum }]) => {
      const fitsInt32 =
        minimum !== undefined && minimum >= -MAX_INT32 - 1 && (maximum ?? Infinity) <= MAX_INT32
      return format !== (fitsInt32 ? 'int32' : 'int64')
    })
    expect(wrong.map(([path]) => path)).toEqual([])
    const { InventoryItem, InventoryUpdate } = contract.components.schemas
    for (const { properties } of [InventoryItem, InventoryUpdate]) {
      expect(properties.quantity).toMatchObject({ format: 'int64', maximum: Number.MAX_SAFE_INTEGER })
    }
  })

  test('is at most 280 kB', () => {
    const file = Bun.file(new URL('../../../openapi.json', import.meta.url))
    expect(file.size).toBeLessThanOrEqual(280_000)
  })

  test("passes all of Spectral's rules for OpenAPI and of OWASP's for APIs, with the stated exceptions", async () => {
    const linter = new Spectral()
    const allRules = [oas, owasp].map((rules) => [rules, 'all'])
    linter.setRuleset(new Ruleset({ extends: allRules, rules: RULE_EXCEPTIONS }))
    // The expressions of some rules fail on null, which occurs only in examples and in x-rate-limits.
    const text = await Bun.file(new URL('../../../openapi.json', import.meta.url)).text()
    const findings = await linter.run(JSON.parse(text, (_, value) => value ?? undefined))
    expect(findings.map(({ code, path }) => `${code}: ${path.join('.')}`)).toEqual([])
  })
})

const OWASP_RULES = owasp.rules

const RULE_EXCEPTIONS = {
  // The operator of a service, not the program, has a name, an address and a mailbox.
  'contact-properties': 'off',
  // OpenAPI 3.1 allows either `url` or `identifier`.
  'license-url': 'off',
  // The order of the tags is the order of the API docs: the most used come first.
  'openapi-tags-alphabetical': 'off',
  // The specification defines petId as an int64. Guessing an id gains nothing: every key may read all pets and orders of its shop.
  'owasp:api1:2023-no-numeric-ids': 'off',
  // The rule allows only one set of rate-limit headers. The specification has its own, and 429 also has those of the IETF.
  'owasp:api4:2023-rate-limit': 'off',
  // Limits protect against large requests. The service itself decides how large its responses are.
  'owasp:api4:2023-array-limit': {
    ...OWASP_RULES['owasp:api4:2023-array-limit'],
    given: ['requestBody', 'parameters'].map((part) => `$.paths[*][*].${part}..[?(@ && @.type=='array')]`),
  },
  // As above. A format limits the length of a text, 16 KiB limit the line and the headers of a request, and 64 MiB a CSV file.
  // The id of an event, from which a replay starts, has a fixed form.
  'owasp:api4:2023-string-limit': {
    ...OWASP_RULES['owasp:api4:2023-string-limit'],
    given:
      "$.paths[*][*].requestBody.content['application/json']..[?(@ && @.type=='string' && !@.format && @property!='from')]",
  },
  // Only ids have no bounds: they are int64, whose bounds many JSON parsers cannot read. The contract cannot be built with
  // another integer that has none.
  'owasp:api4:2023-integer-limit': 'off',
  // Names and notes are free text in any language.
  'owasp:api4:2023-string-restricted': 'off',
  // Pages of other origins get no CORS headers unless the operator sets CORS_ORIGINS.
  'owasp:api8:2023-define-cors-origin': 'off',
  // The checked-in contract has loopback addresses. A running service has its own.
  'owasp:api8:2023-no-server-http': 'off',
  // The program does not know whether its operator's address is public.
  'owasp:api9:2023-inventory-access': 'off',
}

/** Each schema of an integer in this part of the contract, with its path. */
function integersIn(part: unknown, path: string): [path: string, schema: IntegerSchema][] {
  if (typeof part !== 'object' || part === null) return []
  const inner = Object.entries(part).flatMap(([key, value]) => integersIn(value, `${path}/${key}`))
  return isInteger(part) ? [[path, part], ...inner] : inner
}

function isInteger(part: object): part is IntegerSchema {
  return 'type' in part && part.type === 'integer'
}
