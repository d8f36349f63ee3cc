import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { TestService } from '../support/test-service.ts'

const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';",
  "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
].join(' ')

let service: TestService
let script: string
beforeAll(async () => {
  service = await TestService.start()
  script = linked(await (await get('/')).text(), /<script[^>]* src="([^"]+)"/)
})
afterAll(() => service.stop())

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(service.address + path, {
    method,
    headers: { 'Accept-Encoding': 'identity', ...headers },
    decompress: false,
  })
}

function securityHeadersOf(headers: Headers): object {
  const names = [
    ...['Content-Security-Policy', 'Cross-Origin-Opener-Policy', 'Cross-Origin-Resource-Policy'],
    ...['Permissions-Policy', 'Referrer-Policy', 'X-Content-Type-Options', 'X-Frame-Options'],
    'Strict-Transport-Security',
  ]
  return Object.fromEntries(
    names.filter((name) => headers.has(name)).map((name) => [name, headers.get(name)]),
  )
}

function linked(html: string, pattern: RegExp): string {
  const [, address] = pattern.exec(html) ?? []
  if (address === undefined) throw new Error(`nothing in the page matches ${pattern}`)
  return address
}

describe.each(['/', '/docs', '/docs/', '/docs/store', '/docs/guides/limits'])('the page %s', (path) => {
  test('needs no key, and is revalidated each time', async () => {
    const answer = await get(path)
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'text/html;charset=utf-8'])
    expect(answer.headers.get('Cache-Control')).toBe('no-cache')
    expect(await answer.text()).toStartWith('<!doctype html>')
  })

  test('loads only files of the service, which exist and are immutable', async () => {
    const html = await (await get(path)).text()
    const addresses = [...html.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"/g)].map(
      (match) => match[1] ?? '',
    )
    expect(addresses.length).toBeGreaterThanOrEqual(4)
    for (const address of addresses) {
      expect(address).toMatch(/^\/assets\/[a-z-]+-[a-z0-9]{8}\.[a-z]+$/)
      const answer = await get(address)
      expect([address, answer.status]).toEqual([address, 200])
      expect(answer.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
    }
  })

  test('has no inline script or style, which its policy would block', async () => {
    const html = await (await get(path)).text()
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:/i)
  })
})

describe('pages and their files', () => {
  test('have the security headers of the Mozilla Observatory', async () => {
    for (const path of ['/', '/docs', '/docs/guides/limits', script]) {
      const { headers } = await get(path)
      expect([path, securityHeadersOf(headers)]).toEqual([
        path,
        {
          'Content-Security-Policy': POLICY,
          'Cross-Origin-Opener-Policy': 'same-origin',
          'Cross-Origin-Resource-Policy': 'same-origin',
          'Permissions-Policy': 'camera=(self), geolocation=(), microphone=(), payment=(), usb=()',
          'Referrer-Policy': 'no-referrer',
          'X-Content-Type-Options': 'nosniff',
          'X-Frame-Options': 'DENY',
        },
      ])
    }
  })

  test('have the media type that browsers require', async () => {
    const html = await (await get('/')).text()
    const typeOf = async (pattern: RegExp) => (await get(linked(html, pattern))).headers.get('Content-Type')
    expect(await typeOf(/<script[^>]* src="([^"]+)"/)).toBe('text/javascript;charset=utf-8')
    expect(await typeOf(/rel="stylesheet"[^>]* href="([^"]+)"/)).toBe('text/css;charset=utf-8')
    expect(await typeOf(/rel="icon"[^>]* href="([^"]+)"/)).toBe('image/svg+xml')
    expect(await typeOf(/rel="manifest"[^>]* href="([^"]+)"/)).toBe('application/manifest+json')
  })

  test('have no rate-limit headers', async () => {
    expect((await get('/')).headers.get('X-RateLimit-Limit')).toBeNull()
  })

  test.each(['the script', '/openapi.json'])('%s is compressed as the caller accepts', async (given) => {
    const path = given === 'the script' ? script : given
    const plain = await get(path)
    const bytes = await plain.bytes()
    expect([plain.headers.get('Vary'), plain.headers.get('Content-Encoding')]).toEqual([
      'Accept-Encoding',
      null,
    ])

    const brotli = await get(path, { 'Accept-Encoding': 'gzip, deflate, br, zstd' })
    expect([brotli.headers.get('Vary'), brotli.headers.get('Content-Encoding')]).toEqual([
      'Accept-Encoding',
      'br',
    ])
    expect(brotliDecompressSync(await brotli.bytes()).equals(bytes)).toBe(true)

    const gzip = await get(path, { 'Accept-Encoding': 'gzip, br;q=0.5' })
    expect(gzip.headers.get('Content-Encoding')).toBe('gzip')
    const zipped = await gzip.bytes()
    expect(zipped.length).toBeLessThan(bytes.length / 2)
    expect(gunzipSync(zipped).equals(bytes)).toBe(true)
    expect(new Set([plain, brotli, gzip].map(({ headers }) => headers.get('ETag'))).size).toBe(3)

    const refused = await get(path, { 'Accept-Encoding': 'br;q=0, gzip;q=0' })
    expect([refused.headers.get('Vary'), refused.headers.get('Content-Encoding')]).toEqual([
      'Accept-Encoding',
      null,
    ])
    expect(await refused.bytes()).toEqual(bytes)
  })

  test.each(['/', '/docs', 'the script', '/openapi.json'])('%s is 304 for its tag', async (given) => {
    const path = given === 'the script' ? script : given
    const accepted = { 'Accept-Encoding': 'br' }
    const first = await get(path, accepted)
    const etag = first.headers.get('ETag') ?? ''
    expect(etag).toMatch(/^"[\w-]+"$/)
    const again = await get(path, { ...accepted, 'If-None-Match': etag })
    expect([again.status, again.headers.get('ETag'), await again.text()]).toEqual([304, etag, ''])
    expect(again.headers.get('Cache-Control')).toBe(first.headers.get('Cache-Control'))
    expect((await get(path, { ...accepted, 'If-None-Match': '"other"' })).status).toBe(200)
  })

  test('answer HEAD with the same headers and no body', async () => {
    for (const path of ['/', script, '/openapi.json']) {
      const full = await get(path)
      const head = await get(path, {}, 'HEAD')
      expect([head.status, await head.text()]).toEqual([200, ''])
      for (const name of ['ETag', 'Content-Type', 'Cache-Control', 'Content-Length'])
        expect([name, head.headers.get(name)]).toEqual([name, full.headers.get(name)])
    }
  })

  test('refuse other methods with an Error body', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const answer = await get('/', {}, method)
      expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
      expect(await answer.json()).toMatchObject({ code: 'method_not_allowed', status: 405 })
    }
  })

  test('are logged and counted under three operation names', async () => {
    const watched = await TestService.start({ settings: { logRequests: 'all' } })
    for (const path of ['/', '/docs', '/docs/store', script]) await watched.fetch('GET', path, { key: null })
    const names = (await watched.logged()).map(({ operation }) => operation)
    expect(names).toEqual(['staff-page', 'docs', 'docs', 'asset'])
  })
})

test('responses that are no page cannot be shown, embedded or stored', async () => {
  const headers = {
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
  }
  const requests = [
    ['GET', '/v1/inventory', 'private, no-cache'],
    ['HEAD', '/v1/inventory/1', 'private, no-cache'],
    ['GET', '/v1/inventory/404', 'no-store'],
    ['POST', '/v1/nowhere', 'no-store'],
    ['POST', '/docs', 'no-store'],
    ['GET', '/openapi.json', 'no-cache'],
  ] as const
  for (const [method, path, cacheControl] of requests) {
    const answer = await service.fetch(method, path)
    expect([path, securityHeadersOf(answer.headers)]).toEqual([path, headers])
    expect([path, answer.headers.get('Cache-Control')]).toEqual([path, cacheControl])
  }
})

test('browsers keep to TLS if the address of the service says so', async () => {
  const behindProxy = await TestService.start({ settings: { baseUrl: 'https://shop.example/v1' } })
  for (const path of ['/', '/v1/inventory']) {
    const { headers } = await behindProxy.fetch('GET', path)
    expect(headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
  }
})

describe('the API catalog', () => {
  const path = '/.well-known/api-catalog'
  const type = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'

  test('has absolute links to the API, its contract, docs and status, which exist', async () => {
    const answer = await get(path)
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, type])
    const { linkset } = (await answer.json()) as { linkset: readonly Record<string, unknown>[] }
    const api = `${service.address}/v1`
    const link = (page: string, type: string) => [{ href: service.address + page, type }]
    expect(linkset).toEqual([
      { anchor: service.address + path, item: [{ href: api }] },
      {
        anchor: api,
        'service-desc': link('/openapi.json', 'application/json'),
        'service-doc': link('/docs', 'text/html'),
        status: link('/readyz', 'application/json'),
      },
    ])
    for (const page of ['/openapi.json', '/docs', '/readyz']) expect((await get(page)).status).toBe(200)
  })

  test('answers HEAD with a link to itself', async () => {
    const head = await get(path, {}, 'HEAD')
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect(head.headers.get('Link')).toBe(`<${path}>; rel="api-catalog"`)
  })

  test('has the address of the service behind a proxy', async () => {
    const behindProxy = await TestService.start({ settings: { baseUrl: 'https://shop.example/v1' } })
    expect((await behindProxy.fetch('GET', path, { key: null })).text).toContain(
      '"https://shop.example/docs"',
    )
  })
})

test('an unknown file is 404 like any other path', async () => {
  const answer = await service.fetch('GET', '/assets/none-12345678.js')
  expect([answer.status, answer.error.code]).toEqual([404, 'not_found'])
  expect((await service.fetch('GET', '/assets/', { key: null })).status).toBe(401)
})

describe('the limit of an address for pages', () => {
  let limited: TestService
  const load = (path: string, init: RequestInit = {}) => fetch(limited.address + path, init)
  beforeEach(async () => {
    limited = await TestService.start({ anonymousPerMinute: 1 })
  })

  test('is ten times the limit for requests without a key, and has its own window', async () => {
    for (let loaded = 0; loaded < 10; loaded++) expect((await load('/')).status).toBe(200)
    for (const path of ['/', '/docs', script, '/openapi.json']) {
      const refused = await load(path)
      expect([path, refused.status, refused.headers.get('Retry-After')]).toEqual([path, 429, '60'])
      expect(refused.headers.get('X-RateLimit-Limit')).toBe('10')
    }
    // The first request without a key is not refused because of the pages.
    expect((await load('/v1/inventory')).status).toBe(401)
    expect((await load('/v1/inventory')).status).toBe(429)
    limited.now += 60_000
    expect((await load('/')).status).toBe(200)
  })

  test('does not count content that the browser has, requests for the headers alone, and probes', async () => {
    const etag = (await load('/')).headers.get('ETag') ?? ''
    for (let times = 0; times < 12; times++) {
      expect((await load('/', { headers: { 'If-None-Match': etag } })).status).toBe(304)
      expect((await load('/', { method: 'HEAD' })).status).toBe(200)
      expect((await load('/healthz')).status).toBe(200)
      expect((await load('/readyz')).status).toBe(200)
    }
    expect((await load('/')).status).toBe(200)
  })
})
