import { expect, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import { isPetstoreError, PetstoreClient, PetstoreError } from '../src/index.ts'
import { failureOf } from './support/failure-of.ts'
import { clientAt, clientOf } from './support/live-service.ts'
import { recordedSleeps } from './support/recorded-sleeps.ts'

const NOWHERE = 'http://127.0.0.1:1/v1'

test('an error has the code, the status, the request and the limit state', async () => {
  const service = await TestService.start()
  const { secret } = await service.createKey('free')
  const client = clientOf(service, { apiKey: secret })
  expect(client.limits.latest).toBeUndefined()

  const error = await failureOf(client.inventory.set(404n, { quantity: 1 }))
  expect(error).toBeInstanceOf(PetstoreError)
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({
    name: 'PetstoreError',
    code: 'not_found',
    status: 404,
    request: 'PATCH /inventory/404',
    attempts: 1,
  })
  expect(error.requestId).toBeString()
  expect(error.limits).toEqual({ limit: 60, remaining: 59, reset: service.now / 1000 + 60 })
  expect(client.limits.latest).toEqual(error.limits)

  await client.inventory.list()
  expect(client.limits.latest?.remaining).toBe(58)
})

test('the message is exactly the one that the service sent', async () => {
  const service = await TestService.start()
  const { text } = await service.call('GET', '/inventory/404')
  const error = await failureOf(clientOf(service).inventory.get(404n))
  expect(error.message).toBe(JSON.parse(text).message)
})

test('the field that is wrong is named, if the service names it', async () => {
  const body = { code: 'invalid_request', message: 'quantity must be …', status: 400, field: 'quantity' }
  const fetch = async () => Response.json(body, { status: 400 })
  const error = await failureOf(clientAt(NOWHERE, { fetch }).inventory.set(1n, { quantity: -1 }))
  expect([error.message, error.field]).toEqual([body.message, 'quantity'])
  expect(JSON.parse(JSON.stringify(error))).toMatchObject(body)
})

test('a response that is not from the service is reported as such', async () => {
  const other = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      url.endsWith('/inventory') ? new Response('<html>') : new Response('no', { status: 404 }),
  })
  const client = clientAt(`http://127.0.0.1:${other.port}/v1/`)
  expect(await failureOf(client.inventory.list())).toMatchObject({ code: 'invalid_response', status: 200 })
  const missing = await failureOf(client.orders.list())
  expect(missing).toMatchObject({ code: 'invalid_response', status: 404 })
  expect(missing.message).toContain('check that baseUrl is the address of the service')
  await other.stop(true)
})

test('a connection that fails is reported with the host, the port and the system error', async () => {
  const client = clientAt(NOWHERE, { retries: 1, ...recordedSleeps().options })
  const error = await failureOf(client.inventory.list())
  expect(error).toMatchObject({ code: 'connection_failed', status: undefined, attempts: 2 })
  expect(error.message).toStartWith('no complete response from 127.0.0.1:1: ')
  expect(error.message).toMatch(/ECONNREFUSED|ConnectionRefused/)
  expect(error.message).toEndWith('(2 attempts in 0.1 s)')
})

test('the reason is the innermost cause of the error that fetch throws', async () => {
  const refused = (address: string) =>
    Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' })
  for (const [cause, message] of [
    [refused('127.0.0.1:8080'), 'connect ECONNREFUSED 127.0.0.1:8080'],
    [
      new AggregateError([refused('::1:8080'), refused('127.0.0.1:8080')]),
      'connect ECONNREFUSED ::1:8080; connect ECONNREFUSED 127.0.0.1:8080',
    ],
    [Object.assign(new Error('getaddrinfo failed'), { code: 'ENOTFOUND' }), 'getaddrinfo failed (ENOTFOUND)'],
  ] as const) {
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }))
    const error = await failureOf(
      clientAt('http://localhost:8080/v1', { fetch, retries: 0 }).inventory.list(),
    )
    expect(error.message).toBe(`no complete response from localhost:8080: ${message}`)
  }
})

test('options that can never work are refused when the client is created', () => {
  const options = { baseUrl: NOWHERE, apiKey: 'k' }
  const without = (name: 'apiKey' | 'baseUrl') => ({ ...options, [name]: undefined }) as never
  expect(() => new PetstoreClient({ ...options, baseUrl: 'petstore' })).toThrow('baseUrl must be an address')
  expect(() => new PetstoreClient({ ...options, baseUrl: 'http://x/v1?a=1' })).toThrow(
    'must not have a query',
  )
  expect(() => new PetstoreClient(without('baseUrl'))).toThrow('baseUrl is missing')
  expect(() => new PetstoreClient(without('apiKey'))).toThrow('apiKey is missing: pass the key')
  expect(() => new PetstoreClient({ ...options, apiKey: '' })).toThrow('apiKey is missing')
  expect(() => new PetstoreClient({ ...options, apiKey: 'a\nb' })).toThrow('apiKey must consist of')
  expect(() => new PetstoreClient({ ...options, concurrency: 0 })).toThrow('concurrency must be at least 1')
})

test('an id or a quantity that may have been rounded is refused before anything is sent', async () => {
  const client = clientAt(NOWHERE)
  for (const id of [1.5, 2 ** 53, Number.NaN]) {
    const expected = 'must be a safe integer or a bigint'
    await expect(client.pets.get(id)).rejects.toThrow(`petId ${expected}`)
    await expect(client.orders.list({ petId: id }).then()).rejects.toThrow(`petId ${expected}`)
    await expect(client.inventory.receive({ petId: id, quantity: 1 })).rejects.toThrow(TypeError)
    await expect(client.inventory.set(1n, { quantity: id })).rejects.toThrow(`quantity ${expected}`)
  }
})

test('isPetstoreError distinguishes a PetstoreError from other errors, and its codes', () => {
  const error: unknown = new PetstoreError('gone', 'the operation has been removed', { status: 410 })
  expect(isPetstoreError(error)).toBe(true)
  expect(isPetstoreError(error, 'gone')).toBe(true)
  expect(isPetstoreError(error, 'not_found')).toBe(false)
  expect(isPetstoreError(new Error('gone'))).toBe(false)
})
