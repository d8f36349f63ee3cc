import { afterAll, beforeAll, expect, test } from 'bun:test'
import contract from '../../../openapi.json'
import { readConfig } from '../../src/service/config.ts'
import { TestService } from '../support/test-service.ts'

const SHOP = 'https://shop.example'
const ELSEWHERE = 'https://elsewhere.example'

/** Pages may always read Cache-Control. The other two keys are second descriptions of a header. */
const UNLISTED = ['Cache-Control', 'NextPage', 'NoStore']
const STATED_HEADERS = Object.keys(contract.components.headers)
  .filter((name) => !UNLISTED.includes(name))
  .map((name) => name.toLowerCase())

let service: TestService
beforeAll(async () => {
  service = await TestService.start({
    settings: { corsOrigins: `${SHOP}, http://localhost:5173`, trustProxy: 'on' },
    anonymousPerMinute: 3,
    wrapStore: (store) => ({ ...store, listOrders: () => Promise.reject(new TypeError('wrong turn')) }),
  })
})
afterAll(() => service.stop())

let addresses = 0
/** Sends each request from a new address, unless one is given. */
function preflight(path: string, method: string, origin = SHOP, address = `192.0.2.${++addresses}`) {
  return service.fetch('OPTIONS', path, {
    key: null,
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': 'authorization,content-type',
      'X-Forwarded-For': address,
    },
  })
}

const listOf = (text: string | null) => (text ?? '').toLowerCase().split(', ')

test('a preflight needs no key and returns the methods of its path', async () => {
  const item = await preflight('/v1/inventory/1', 'PATCH')
  expect([item.status, item.text]).toEqual([204, ''])
  expect(item.headers.get('Access-Control-Allow-Origin')).toBe(SHOP)
  expect(item.headers.get('Access-Control-Allow-Methods')).toBe('GET, HEAD, PATCH')
  expect(item.headers.get('Access-Control-Max-Age')).toMatch(/^\d+$/)
  expect(item.headers.get('Vary')).toBe('Origin')
  expect(item.headers.get('Access-Control-Allow-Credentials')).toBeNull()
  expect(listOf(item.headers.get('Access-Control-Allow-Headers'))).toEqual(
    expect.arrayContaining([
      ...['authorization', 'content-type', 'if-match', 'if-none-match', 'idempotency-key', 'last-event-id'],
      'traceparent',
    ]),
  )

  const orders = await preflight('/v1/store/orders', 'POST', 'http://localhost:5173')
  expect(orders.headers.get('Access-Control-Allow-Methods')).toBe('GET, HEAD, POST')
  expect(orders.headers.get('Access-Control-Allow-Origin')).toBe('http://localhost:5173')

  const nowhere = await preflight('/v1/nowhere', 'GET')
  expect([nowhere.status, nowhere.headers.get('Access-Control-Allow-Methods')]).toEqual([204, null])
})

test('a preflight counts against no limit, and is answered from an address that has reached its limit', async () => {
  const { secret } = await service.createKey('free')
  const address = '198.51.100.1'
  for (let sent = 0; sent < 4; sent++) {
    const answer = await preflight('/v1/inventory', 'GET', SHOP, address)
    expect([answer.status, answer.headers.get('X-RateLimit-Remaining')]).toEqual([204, '3'])
  }
  const statuses = []
  for (let sent = 0; sent < 4; sent++) {
    const headers = { 'X-Forwarded-For': address }
    statuses.push((await service.call('GET', '/inventory', { key: null, headers })).status)
  }
  expect(statuses).toEqual([401, 401, 401, 429])
  expect((await preflight('/v1/inventory', 'GET', SHOP, address)).status).toBe(204)
  const { headers } = await service.call('GET', '/inventory', { key: secret })
  expect(headers.get('X-RateLimit-Remaining')).toBe('59')
})

test('a page of an allowed origin may read every response, including errors and events', async () => {
  const from = (address: string) => ({ Origin: SHOP, 'X-Forwarded-For': address })
  const answers = [
    await service.call('GET', '/inventory', { headers: from('203.0.113.1') }),
    await service.call('GET', '/inventory/events', { headers: from('203.0.113.1') }),
    await service.call('GET', '/inventory', { key: null, headers: from('203.0.113.1') }),
    await service.fetch('GET', '/v1/nowhere', { headers: from('203.0.113.1') }),
    await service.fetch('PUT', '/v1/inventory', { headers: from('203.0.113.1') }),
    await service.call('GET', '/store/orders', { headers: from('203.0.113.1') }),
    await service.call('GET', '/pets/1', { headers: from('203.0.113.1') }),
  ]
  for (let sent = 0; sent < 3; sent++) {
    await service.fetch('GET', '/v1/inventory', { key: null, headers: from('203.0.113.2') })
  }
  answers.push(await service.call('GET', '/inventory', { key: null, headers: from('203.0.113.2') }))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 401, 404, 405, 500, 200, 429])
  for (const { headers } of answers) {
    expect(headers.get('Access-Control-Allow-Origin')).toBe(SHOP)
    expect(headers.get('Access-Control-Allow-Credentials')).toBeNull()
    expect(listOf(headers.get('Vary'))).toContain('origin')
    const exposed = listOf(headers.get('Access-Control-Expose-Headers'))
    expect(exposed).toEqual(expect.arrayContaining([...STATED_HEADERS, 'traceresponse']))
  }
})

test('a page of another origin may read nothing, and no origin may read our own pages', async () => {
  const refused = await preflight('/v1/inventory', 'GET', ELSEWHERE)
  const list = await service.call('GET', '/inventory', { headers: { Origin: ELSEWHERE } })
  const same = await service.call('GET', '/inventory')
  const page = await service.fetch('GET', '/', { key: null, headers: { Origin: SHOP } })
  expect([refused, list, same, page].map(({ status }) => status)).toEqual([401, 200, 200, 200])
  for (const { headers } of [refused, list, same, page]) {
    expect(headers.get('Access-Control-Allow-Origin')).toBeNull()
    expect(headers.get('Access-Control-Allow-Methods')).toBeNull()
  }
  // A cache may store it for pages of either origin.
  for (const { headers } of [refused, list, same]) expect(listOf(headers.get('Vary'))).toContain('origin')
})

test('without CORS_ORIGINS responses have no CORS headers; with * every origin may call', async () => {
  const silent = await TestService.start()
  const open = await TestService.start({ settings: { corsOrigins: '*' } })
  const headers = { Origin: ELSEWHERE, 'Access-Control-Request-Method': 'GET' }
  const refused = await silent.fetch('OPTIONS', '/v1/inventory', { key: null, headers })
  const told = await silent.call('GET', '/inventory', { headers })
  expect([refused.status, told.status]).toEqual([401, 200])
  for (const answer of [refused, told]) {
    const names = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))
    expect([names, listOf(answer.headers.get('Vary')).includes('origin')]).toEqual([[], false])
  }
  const allowed = await open.fetch('OPTIONS', '/v1/inventory', { key: null, headers })
  const list = await open.call('GET', '/inventory')
  expect(allowed.status).toBe(204)
  for (const answer of [allowed, list]) expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('*')
})

test.each([
  'shop.example',
  'https://shop.example/',
  'https://shop.example/app',
  'https://Shop.example',
  'https://shop.example:443',
  'https://*.shop.example',
  'https://user@shop.example',
  'https://shop.example,',
  'https://shop.example, *',
  'null',
])('CORS_ORIGINS=%s is rejected', (text) => {
  expect(() => readConfig({ corsOrigins: text }, {})).toThrow(/--cors-origins must be origins without a path/)
})

test('CORS_ORIGINS accepts ports, addresses and app schemes', () => {
  const { corsOrigins } = readConfig({ corsOrigins: 'http://[::1]:3000,capacitor://localhost' }, {})
  expect([...(corsOrigins ?? [])]).toEqual(['http://[::1]:3000', 'capacitor://localhost'])
})
