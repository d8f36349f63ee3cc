import { expect, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import type { IncomingResponse } from '../src/index.ts'
import { failureOf } from './support/failure-of.ts'
import { FaultyFetch } from './support/faulty-fetch.ts'
import { clientAt, clientOf } from './support/live-service.ts'
import { recordedSleeps } from './support/recorded-sleeps.ts'

const ITEM = '{"petId":1,"quantity":4,"status":"available"}'

/** A client whose fetch records what it is called with and answers with an entry. */
function recordingClient(options: Parameters<typeof clientAt>[1] = {}) {
  const sent: RequestInit[] = []
  const fetch = async (_: string, init: RequestInit) => {
    sent.push(init)
    return new Response(ITEM)
  }
  const headers = (index: number) => Object.fromEntries(new Headers(sent[index]?.headers))
  return { client: clientAt('http://127.0.0.1:1/v1', { fetch, ...options }), sent, headers }
}

test('retries, timeout and totalTimeout of a call replace those of the client', async () => {
  const silent = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  const { sleeps, options } = recordedSleeps()
  const client = clientAt(`http://127.0.0.1:${silent.port}/v1`, { timeout: 60_000, retries: 0, ...options })
  const error = await failureOf(client.inventory.get(1n, { timeout: 15, retries: 2 }))
  expect([error.attempts, sleeps.length]).toEqual([3, 2])
  expect(error.message).toContain('no response within 15 ms')
  const brief = await failureOf(client.orders.list({ timeout: 15, retries: 9, totalTimeout: 400 }))
  expect(brief.attempts).toBe(2)
  silent.stop(true)
})

test('headers of a call are added to those of the client, and none replaces the key or the content type', async () => {
  const { client, headers } = recordingClient({
    apiKey: 'secret',
    headers: { 'User-Agent': 'till/1.2', 'X-Shop': 'north' },
  })
  const override = { authorization: 'Bearer x', 'content-type': 'text/plain', 'x-shop': 'south' }
  await client.inventory.set(1n, { quantity: 4 }, { headers: override, idempotencyKey: 'k-1' })
  expect(headers(0)).toEqual({
    accept: 'application/json',
    authorization: 'Bearer secret',
    'content-type': 'application/json',
    'idempotency-key': 'k-1',
    'user-agent': 'till/1.2',
    'x-shop': 'south',
  })
})

test('a header that cannot be sent fails its call, and later calls proceed', async () => {
  const { client, sent } = recordingClient({ concurrency: 1 })
  await expect(client.inventory.get(1n, { headers: { 'X-Shop': 'a\nb' } })).rejects.toThrow(TypeError)
  expect(sent).toEqual([])
  expect(await client.inventory.get(1n)).toMatchObject({ quantity: 4 })
})

test('the headers of a list are those of each of its pages', async () => {
  const service = await TestService.start()
  const shops: (string | null)[] = []
  const client = clientOf(service, { onRequest: ({ headers }) => shops.push(headers.get('X-Shop')) })
  await Array.fromAsync(client.catalog.list({ limit: 2, headers: { 'X-Shop': 'north' } }))
  expect(shops).toEqual(['north', 'north', 'north'])
})

test('onRequest sees every attempt and may add headers, onResponse sees every response', async () => {
  const service = await TestService.start()
  const requests: unknown[] = []
  const responses: IncomingResponse[] = []
  const traces: (string | null)[] = []
  const faulty = new FaultyFetch(['before'])
  const client = clientOf(service, {
    ...recordedSleeps().options,
    fetch: (url, init) => {
      traces.push(new Headers(init.headers).get('traceparent'))
      return faulty.fetch(url, init)
    },
    onRequest: ({ method, path, headers, attempt, idempotencyKey }) => {
      headers.set('traceparent', `trace-${attempt}`)
      requests.push([method, path, attempt, idempotencyKey])
    },
    onResponse: (response) => responses.push(response),
  })
  await client.inventory.set(1n, { quantity: 5 }, { idempotencyKey: 'k-1' })
  await failureOf(client.inventory.get(404n))
  expect(requests).toEqual([
    ['PATCH', '/inventory/1', 1, 'k-1'],
    ['PATCH', '/inventory/1', 2, 'k-1'],
    ['GET', '/inventory/404', 1, undefined],
  ])
  expect(traces).toEqual(['trace-1', 'trace-2', 'trace-1'])
  expect(responses.map(({ path, status, attempt }) => [path, status, attempt])).toEqual([
    ['/inventory/1', 200, 2],
    ['/inventory/404', 404, 1],
  ])
  expect(responses[0]).toMatchObject({ requestId: expect.any(String), duration: 0 })
  expect(responses[0]?.limits).toEqual(client.limits.latest && expect.objectContaining({ limit: 1_000_000 }))
  expect(responses[0]?.headers.get('ETag')).toBe('"5-available"')
})

test.each(['onRequest', 'onResponse'] as const)(
  'an error of %s fails its call, and later calls proceed',
  async (hook) => {
    let isBroken = true
    const fail = () => {
      if (isBroken) throw new Error('the hook failed')
    }
    const { client } = recordingClient({ concurrency: 1, [hook]: fail })
    await expect(client.inventory.get(1n)).rejects.toThrow('the hook failed')
    isBroken = false
    expect(await client.inventory.get(1n)).toMatchObject({ quantity: 4 })
  },
)

test('fetch gets only the options that every platform has', async () => {
  const { client, sent } = recordingClient()
  await client.inventory.get(1n)
  await client.inventory.set(1n, { quantity: 4 })
  const known = ['body', 'cache', 'headers', 'method', 'signal']
  expect(sent.flatMap((init) => Object.keys(init)).filter((name) => !known.includes(name))).toEqual([])
})

test('a platform whose requests have no cache option does not get one', async () => {
  const script = `
    globalThis.Request = class {}
    const { PetstoreClient } = await import('./client/src/index.ts')
    const fetch = async (url, init) => {
      if ('cache' in init || 'credentials' in init) throw new Error('not implemented')
      return new Response('${ITEM}')
    }
    const client = new PetstoreClient({ baseUrl: 'http://x/v1', apiKey: 'k', retries: 0, fetch })
    console.log((await client.inventory.get(1)).quantity)`
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script], {
    cwd: new URL('../..', import.meta.url).pathname,
  })
  expect(stdout.toString().trim()).toBe('4')
})

test('an aborted signal ends all calls that share it, waiting ones as well', async () => {
  const stop = new AbortController()
  const fetch = (_: string, { signal }: RequestInit) =>
    new Promise<Response>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  const client = clientAt('http://127.0.0.1:1/v1', { fetch })
  const calls = Array.from({ length: 1_000 }, () => client.inventory.get(1n, { signal: stop.signal }))
  const outcomes = Promise.allSettled(calls)
  await Bun.sleep(0)
  stop.abort(new Error('enough'))
  for (const outcome of await outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: new Error('enough') })
  }
})
