import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createSecret, PERMISSIONS, type Permission } from '../../src/core/keys/api-key.ts'
import { OPERATIONS } from '../../src/http/routes.ts'
import { standingOf } from './standing.ts'
import { type Answer, type CallOptions, START, type TestService } from './test-service.ts'

/** A request that succeeds with a valid key. */
export interface GoodRequest {
  readonly operationId: string
  readonly method: string
  readonly path: string
  /** A function if no two such requests may have the same body. */
  readonly body?: string | (() => string)
  /** The status of its response, if that is not 200. */
  readonly status?: number
  /** The stock of pet 1 before the request, if it needs some. */
  readonly stock?: string
  /** Runs before each test, if the store has room for only some such requests. */
  readonly cleanUp?: (service: TestService) => Promise<void>
  /** A second permission that the operation needs. */
  readonly alsoNeeds?: Permission
}

/** The service that the suite runs on. All operations can share one service. */
export const SUITE_SERVICE = {
  anonymousPerMinute: 1_000_000,
  settings: { webhookPrivateAddresses: 'on' },
}

/** The rules for every operation: each one runs this suite. */
export function authAndLimitSuite(request: GoodRequest, startedService: () => TestService): void {
  const { operationId, method, path, body, status = 200, stock, cleanUp, alsoNeeds } = request
  const { permission, acceptsIdempotencyKey, isExemptFromLimits } =
    OPERATIONS.find((operation) => operation.operationId === operationId) ?? {}
  describe(`${operationId}: key and limits`, () => {
    let service: TestService
    beforeAll(async () => {
      service = startedService()
      if (stock !== undefined) await service.setQuantity(1n, stock)
    })
    beforeEach(() => cleanUp?.(service))

    const send = (options: CallOptions = {}): Promise<Answer> =>
      service.call(method, path, {
        ...(body === undefined ? {} : { body: typeof body === 'function' ? body() : body }),
        ...options,
        headers: { 'Content-Type': 'application/json', ...options.headers },
      })

    async function expectUnauthorized(options: CallOptions, message: string): Promise<Answer> {
      const before = await service.contents()
      const answer = await send(options)
      expect([answer.status, answer.error.code]).toEqual([401, 'unauthorized'])
      expect(answer.error.message).toContain(message)
      expect(standingOf(answer).limit).toBe(SUITE_SERVICE.anonymousPerMinute)
      expect(await service.contents()).toEqual(before)
      return answer
    }

    test('a valid key is accepted, whatever the case of the scheme', async () => {
      for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
        const answer = await send({ key: null, headers: { Authorization: `${scheme} ${service.key}` } })
        expect(answer.status).toBe(status)
        expect(answer.headers.get('X-Content-Type-Options')).toBe('nosniff')
      }
    })

    test('a missing key is 401 and explains how to send one', async () => {
      const answer = await expectUnauthorized({ key: null }, 'Authorization: Bearer <API_KEY>')
      expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer realm="petstore"')
    })

    test('Basic instead of Bearer is 401', async () => {
      const headers = { Authorization: `Basic ${btoa('user:password')}` }
      const answer = await expectUnauthorized({ key: null, headers }, 'has no bearer token')
      expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer realm="petstore"')
    })

    test.each(['', 'Bearer', 'Bearer ', 'Bearer two words', 'Bearer ключ', 'Bearer a, Bearer b'])(
      'the malformed header "%s" is 401',
      async (header) => {
        const Authorization = Buffer.from(header).toString('latin1')
        await expectUnauthorized({ key: null, headers: { Authorization } }, 'API_KEY')
      },
    )

    test('a malformed key is 401', async () => {
      const answer = await expectUnauthorized({ key: 'secret' }, 'mistyped or cut off')
      expect(answer.headers.get('WWW-Authenticate')).toContain('error="invalid_token"')
    })

    test('a mistyped key is 401', async () => {
      const last = service.key.endsWith('x') ? 'y' : 'x'
      await expectUnauthorized({ key: service.key.slice(0, -1) + last }, 'mistyped or cut off')
    })

    test('an unknown key is 401', async () => {
      await expectUnauthorized({ key: createSecret('production') }, 'the API key is unknown')
    })

    test('an expired key is 401, from the moment of its expiry', async () => {
      const { secret } = await service.createKey('pro', { expiresAt: START + 1 })
      expect((await send({ key: secret })).status).toBe(status)
      service.now = START + 1
      await expectUnauthorized({ key: secret }, 'the API key is expired')
      service.now = START
    })

    test('a revoked key is 401', async () => {
      const { secret } = await service.createKey('pro', { revokedAt: START })
      await expectUnauthorized({ key: secret }, 'the API key is revoked')
    })

    test('a demo key is 401 outside demo mode', async () => {
      await expectUnauthorized({ key: 'pst_demo_enterprise' }, 'mistyped or cut off')
    })

    test('a response carries the three limit headers, and counts down', async () => {
      const { secret } = await service.createKey('free')
      const first = standingOf(await send({ key: secret }))
      const counted = isExemptFromLimits ? 0 : 1
      expect(first).toEqual({ limit: 60, remaining: 60 - counted, reset: START / 1000 + 60 })
      expect(standingOf(await send({ key: secret })).remaining).toBe(60 - 2 * counted)
    })

    if (isExemptFromLimits) {
      test('above the limit it is answered, because it is free', async () => {
        const { secret } = await service.createKey('enterprise', { limits: { perMinute: 1, perDay: 100 } })
        for (const expected of [200, 429]) {
          expect((await service.call('GET', '/inventory', { key: secret })).status).toBe(expected)
        }
        expect((await send({ key: secret })).status).toBe(status)
      })
    } else {
      test('above the limit it is 429 with Retry-After, and nothing changes', async () => {
        const { secret } = await service.createKey('enterprise', { limits: { perMinute: 2, perDay: 100 } })
        await send({ key: secret })
        await send({ key: secret })
        const before = await service.contents()
        const answer = await send({ key: secret })
        expect([answer.status, answer.error.code]).toEqual([429, 'rate_limit_exceeded'])
        expect(answer.headers.get('Retry-After')).toBe('60')
        expect(standingOf(answer)).toEqual({ limit: 2, remaining: 0, reset: START / 1000 + 60 })
        expect(await service.contents()).toEqual(before)
      })
    }

    test("every response names its request, by the caller's id if it is valid", async () => {
      const own = await send({ headers: { 'X-Request-Id': 'order-17.a_b' } })
      expect(own.headers.get('X-Request-Id')).toBe('order-17.a_b')
      const hostile = await send({ headers: { 'X-Request-Id': 'a"b<c>' } })
      expect(hostile.headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/)
    })

    if (permission === undefined) {
      test('it changes nothing, so a key without permissions is enough', async () => {
        expect(method).toBe('GET')
        const { secret } = await service.createKey('pro', { permissions: [] })
        expect((await send({ key: secret })).status).toBe(status)
      })
      return
    }

    test('no more than its permission is needed', async () => {
      const permissions = [permission, ...(alsoNeeds === undefined ? [] : [alsoNeeds])]
      const { secret } = await service.createKey('pro', { permissions })
      expect((await send({ key: secret })).status).toBe(status)
    })

    test('without the permission it is 403, which names it and what to do, and nothing changes', async () => {
      const permissions = PERMISSIONS.filter((other) => other !== permission)
      const { id, secret } = await service.createKey('pro', { permissions })
      const before = await service.contents()
      const { status: refused, error } = await send({ key: secret })
      expect([refused, error.code]).toEqual([403, 'forbidden'])
      expect(error.message).toContain(`it needs the permission "${permission}"`)
      expect(error.message).toContain(`PATCH /keys/${id} with "permissions": ${JSON.stringify(PERMISSIONS)}`)
      expect(await service.contents()).toEqual(before)
    })

    test('the permission is checked after the key and the limit, and before the request', async () => {
      const none = { permissions: [] }
      const wrong = {
        headers: { 'Idempotency-Key': 'x'.repeat(256) },
        ...(body === undefined ? {} : { body: '{' }),
      }
      // Without an Idempotency-Key and a body, nothing in the request can be invalid.
      if (acceptsIdempotencyKey || body !== undefined) expect((await send(wrong)).status).toBe(400)
      const { secret } = await service.createKey('enterprise', {
        ...none,
        limits: { perMinute: 1, perDay: 9 },
      })
      const refused = await send({ ...wrong, key: secret })
      expect([refused.status, standingOf(refused).remaining]).toEqual([403, 0])
      expect((await send({ key: secret })).status).toBe(429)
      const revoked = await service.createKey('pro', { ...none, revokedAt: START })
      await expectUnauthorized({ key: revoked.secret }, 'the API key is revoked')
    })
  })
}
