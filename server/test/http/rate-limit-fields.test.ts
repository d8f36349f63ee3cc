import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Item, parseList } from 'structured-headers'
import type { Limits } from '../../src/core/keys/api-key.ts'
import { type Answer, type CallOptions, TestService } from '../support/test-service.ts'

const FIELDS = ['RateLimit-Policy', 'RateLimit'] as const

let service: TestService
beforeAll(async () => {
  service = await TestService.start({ anonymousPerMinute: 1 })
})
afterAll(() => service.stop())

const call = (path: string, options: CallOptions) => service.call('GET', path, options)

async function keyWith(limits: Limits): Promise<CallOptions> {
  const { secret } = await service.createKey('enterprise', { limits })
  return { key: secret }
}

/** The members of both fields, each with its name and its parameters. */
function fieldsOf({ headers }: Answer): unknown {
  return FIELDS.map((field) =>
    parseList(headers.get(field) ?? '').map((member) => {
      const [name, parameters] = member as Item
      return [name, Object.fromEntries(parameters)]
    }),
  )
}

test('GET /limits has the quotas of both windows and what is left of them', async () => {
  const key = await keyWith({ perMinute: 60, perDay: 1_000 })
  await call('/inventory', key)
  service.now += 10_500
  expect(fieldsOf(await call('/limits', key))).toEqual([
    [
      ['minute', { q: 60, w: 60 }],
      ['day', { q: 1_000, w: 86_400 }],
    ],
    [
      ['minute', { r: 59, t: 50 }],
      ['day', { r: 999, t: 86_390 }],
    ],
  ])
})

test('a 429 names the exceeded window, which ends at Retry-After', async () => {
  const key = await keyWith({ perMinute: 5, perDay: 1 })
  await call('/inventory', key)
  const refused = await call('/inventory', key)
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '86400'])
  expect(fieldsOf(refused)).toEqual([
    [
      ['minute', { q: 5, w: 60 }],
      ['day', { q: 1, w: 86_400 }],
    ],
    [['day', { r: 0, t: 86_400 }]],
  ])
})

test('during a ban, nothing is left until it ends', async () => {
  const key = await keyWith({ perMinute: 1, perDay: 9 })
  for (let sent = 0; sent < 2; sent++) await call('/inventory', key)
  service.now += 1_000
  const banned = await call('/inventory', key)
  expect(banned.error.code).toBe('key_banned')
  expect(fieldsOf(banned)).toMatchObject([{}, [['minute', { r: 0, t: 300 }]]])
  expect(fieldsOf(await call('/limits', key))).toMatchObject([
    {},
    [
      ['minute', { r: 0, t: 300 }],
      ['day', { r: 8 }],
    ],
  ])
})

test('a 429 without a valid key has the limit of the address', async () => {
  await call('/inventory', { key: null })
  const refused = await call('/inventory', { key: null })
  expect(refused.status).toBe(429)
  expect(fieldsOf(refused)).toEqual([[['minute', { q: 1, w: 60 }]], [['minute', { r: 0, t: 60 }]]])
})

test('a limit beyond the largest integer of a structured field is stated as that integer', async () => {
  const key = await keyWith({ perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER })
  expect(fieldsOf(await call('/limits', key))).toMatchObject([
    [['minute', { q: 999_999_999_999_999 }], {}],
    [['minute', { r: 999_999_999_999_999 }], {}],
  ])
})

test('other responses have neither field', async () => {
  const key = await keyWith({ perMinute: 60, perDay: 1_000 })
  for (const path of ['/inventory', '/inventory/404', '/nowhere']) {
    const { headers } = await call(path, key)
    expect(FIELDS.filter((field) => headers.has(field))).toEqual([])
  }
})
