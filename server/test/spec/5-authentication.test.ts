import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import contract from '../../../openapi.json'
import { createSecret, PERMISSIONS, type Permission } from '../../src/core/keys/api-key.ts'
import { OPERATIONS } from '../../src/http/routes.ts'
import { EXAMPLES_WITH_KEY, type ExampleRequest, startExampleShop } from '../support/example-requests.ts'
import { standingOf } from '../support/standing.ts'
import { type Answer, type CallOptions, START, type TestService } from '../support/test-service.ts'

const ANONYMOUS_PER_MINUTE = 1_000_000

/** More permissions than the operation names, which its example needs. */
const ALSO_NEEDED: Readonly<Record<string, readonly Permission[]>> = {
  createPet: ['stock'],
  upsertPets: ['stock'],
  takeOverWebhook: ['keys'],
  createKey: ['stock', 'orders'],
}

let service: TestService
beforeAll(async () => {
  service = await startExampleShop({ anonymousPerMinute: ANONYMOUS_PER_MINUTE })
})
afterAll(() => service.stop())

const send = (
  { method, target, sentBody }: Pick<ExampleRequest, 'method' | 'target' | 'sentBody'>,
  options?: CallOptions,
) => service.send(method, target, sentBody, options)

async function expectUnauthorized(
  request: ExampleRequest,
  options: CallOptions,
  message: string,
): Promise<Answer> {
  const before = await service.contents()
  const answer = await send(request, options)
  expect([answer.status, answer.error.code]).toEqual([401, 'unauthorized'])
  expect(answer.error.message).toContain(message)
  expect(standingOf(answer).limit).toBe(ANONYMOUS_PER_MINUTE)
  expect(await service.contents()).toEqual(before)
  return answer
}

describe('section 5: authentication', () => {
  test('every operation is secured with bearerAuth, HTTP bearer authentication', () => {
    expect(contract.security).toEqual([{ bearerAuth: [] }])
    expect(contract.components.securitySchemes.bearerAuth).toMatchObject({ type: 'http', scheme: 'bearer' })
  })

  test('only the operation that exchanges a pairing code takes another bearer token', () => {
    const others = OPERATIONS.filter(({ takesPairingCode }) => takesPairingCode)
    expect(others.map(({ operationId }) => operationId)).toEqual(['pairKey'])
    expect(contract.paths['/keys/pair'].post.security).toEqual([{ pairingCode: [] }])
  })

  test('an unknown path is 401 without a valid key, so that strangers learn nothing', async () => {
    for (const path of ['/v1/secrets', '/v1', '/v1/', '/v2/inventory']) {
      const answer = await service.fetch('GET', path, { key: null })
      expect([answer.status, answer.error.code]).toEqual([401, 'unauthorized'])
    }
  })

  const readAndChange = EXAMPLES_WITH_KEY.filter(({ path }) => path === '/inventory/{petId}')
  describe.each(readAndChange)('$operationId', (request) => {
    test('a valid key is accepted, whatever the case of the scheme', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        const headers = { Authorization: `${scheme} ${service.key}` }
        expect((await send(request, { key: null, headers })).status).toBe(200)
      }
    })

    test.each(['', 'Bearer', 'Bearer ', 'Bearer two words', 'Bearer ключ', 'Bearer a, Bearer b'])(
      'the malformed header "%s" is 401',
      async (header) => {
        const Authorization = Buffer.from(header).toString('latin1')
        await expectUnauthorized(request, { key: null, headers: { Authorization } }, 'API_KEY')
      },
    )

    test('Basic instead of Bearer is 401', async () => {
      const headers = { Authorization: `Basic ${btoa('user:password')}` }
      const answer = await expectUnauthorized(request, { key: null, headers }, 'has no bearer token')
      expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer realm="petstore"')
    })

    test('a malformed, mistyped, unknown or revoked key is 401, and so is a demo key outside demo mode', async () => {
      const { secret: revoked } = await service.createKey('pro', { revokedAt: START })
      const mistyped = service.key.slice(0, -1) + (service.key.endsWith('x') ? 'y' : 'x')
      for (const [key, message] of [
        ['secret', 'mistyped or cut off'],
        [mistyped, 'mistyped or cut off'],
        ['pst_demo_enterprise', 'mistyped or cut off'],
        [createSecret('production'), 'the API key is unknown'],
        [revoked, 'the API key is revoked'],
      ] as const) {
        const answer = await expectUnauthorized(request, { key }, message)
        expect(answer.headers.get('WWW-Authenticate')).toContain('error="invalid_token"')
      }
    })

    test('an expired key is 401, from the moment of its expiry', async () => {
      const { secret: key } = await service.createKey('pro', { expiresAt: START + 1 })
      expect((await send(request, { key })).status).toBe(200)
      service.now = START + 1
      await expectUnauthorized(request, { key }, 'the API key is expired')
      service.now = START
    })
  })
})

describe.each(EXAMPLES_WITH_KEY)('$operationId', (request) => {
  const { operationId, permission, method, isExemptFromLimits, acceptsIdempotencyKey, sentBody } = request
  const isAdmitted = ({ status }: Answer) => status < 400 || status === 404 || status === 409

  test('without a key it is 401, which explains how to send one, and nothing changes', async () => {
    const answer = await expectUnauthorized(request, { key: null }, 'Authorization: Bearer <API_KEY>')
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer realm="petstore"')
  })

  test('a key with its permission and no other is admitted, and counted down in the limit headers', async () => {
    const permissions = permission === undefined ? [] : [permission, ...(ALSO_NEEDED[operationId] ?? [])]
    const { secret: key } = await service.createKey('pro', { permissions })
    for (const count of [1, 2]) {
      const answer = await send(request, { key, headers: { 'X-Request-Id': 'order-17.a_b' } })
      expect([answer.status, isAdmitted(answer)]).toEqual([answer.status, true])
      const remaining = 300 - (isExemptFromLimits ? 0 : count)
      expect(standingOf(answer)).toEqual({ limit: 300, remaining, reset: START / 1_000 + 60 })
      expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
      expect(answer.headers.get('X-Request-Id')).toBe('order-17.a_b')
    }
  })

  test('above the limit it is 429 with Retry-After and nothing changes, unless it is free', async () => {
    const { secret: key } = await service.createKey('enterprise', { limits: { perMinute: 1, perDay: 100 } })
    expect((await service.call('GET', '/inventory', { key })).status).toBe(200)
    const before = await service.contents()
    const answer = await send(request, { key })
    expect(answer.status).toBe(isExemptFromLimits ? 200 : 429)
    expect(standingOf(answer)).toEqual({ limit: 1, remaining: 0, reset: START / 1_000 + 60 })
    if (isExemptFromLimits) return
    expect([answer.error.code, answer.headers.get('Retry-After')]).toEqual(['rate_limit_exceeded', '60'])
    expect(await service.contents()).toEqual(before)
  })

  if (permission === undefined) {
    test('it only reads, so it needs no permission', () => expect(method).toBe('GET'))
    return
  }

  test('without the permission it is 403, which names it and what to do, and nothing changes', async () => {
    const permissions = PERMISSIONS.filter((other) => other !== permission)
    const { id, secret: key } = await service.createKey('pro', { permissions })
    const before = await service.contents()
    const { status, error } = await send(request, { key })
    expect([status, error.code]).toEqual([403, 'forbidden'])
    expect(error.message).toContain(`it needs the permission "${permission}"`)
    expect(error.message).toContain(`PATCH /keys/${id} with "permissions": ${JSON.stringify(PERMISSIONS)}`)
    expect(await service.contents()).toEqual(before)
  })

  test('the permission is checked after the key and the limit, and before the request', async () => {
    const wrong = {
      headers: { 'Idempotency-Key': 'x'.repeat(256) },
      ...(sentBody === undefined ? {} : { body: '{' }),
    }
    // Without an Idempotency-Key and a body, nothing in the request can be invalid.
    if (acceptsIdempotencyKey || sentBody !== undefined) expect((await send(request, wrong)).status).toBe(400)
    const limits = { perMinute: 1, perDay: 9 }
    const { secret: key } = await service.createKey('enterprise', { permissions: [], limits })
    const refused = await send(request, { ...wrong, key })
    expect([refused.status, standingOf(refused).remaining]).toEqual([403, 0])
    expect((await send(request, { key })).status).toBe(429)
    const revoked = await service.createKey('pro', { permissions: [], revokedAt: START })
    await expectUnauthorized(request, { key: revoked.secret }, 'the API key is revoked')
  })
})

test('a request id that is not valid is replaced', async () => {
  const { headers } = await service.call('GET', '/inventory', { headers: { 'X-Request-Id': 'a"b<c>' } })
  expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
})
