import { expect, test } from 'bun:test'
import { isPetstoreError, PetstoreClient, PetstoreError } from '../src/index.ts'
import { failureOf } from './support/failure-of.ts'
import { clientOf, liveService, stopServicesAfterEach } from './support/live-service.ts'

stopServicesAfterEach()

test('an error has the code, the status, the request and the limit state, and names method and path', async () => {
  const service = await liveService()
  const { secret } = await service.createKey('free')
  const client = clientOf(service, { apiKey: secret })
  expect(client.limits).toBeUndefined()

  const error = await failureOf(client.updateInventory(404n, { quantity: 1 }))
  expect(error).toBeInstanceOf(PetstoreError)
  expect(error).toBeInstanceOf(Error)
  expect(error).toMatchObject({ name: 'PetstoreError', code: 'not_found', status: 404 })
  expect(error.message).toStartWith(
    'PATCH /inventory/404 answered 404 not_found: there is no inventory entry',
  )
  expect(error.requestId).toBeString()
  expect(error.limits).toEqual({ limit: 60, remaining: 59, reset: service.now / 1000 + 60 })
  expect(client.limits).toEqual(error.limits)

  await client.listInventory()
  expect(client.limits?.remaining).toBe(58)
})

test('each kind of refusal comes with its own code', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const viewer = await service.createKey('pro', { permissions: [] })
  const negative = client.updateInventory(1n, { quantity: -1 })
  expect(await failureOf(negative)).toMatchObject({ code: 'invalid_request', status: 400 })
  const stranger = clientOf(service, { apiKey: 'pst_live_nonsense' })
  expect(await failureOf(stranger.listInventory())).toMatchObject({ code: 'unauthorized', status: 401 })
  const reader = clientOf(service, { apiKey: viewer.secret })
  const adjustment = reader.adjustInventory({ petId: 1n, delta: 1 }, { reason: 'received' })
  expect(await failureOf(adjustment)).toMatchObject({ code: 'forbidden', status: 403 })
  expect(await failureOf(client.listPets({ limit: 1_001 }))).toMatchObject({ code: 'invalid_request' })
})

test('an answer that is not the service’s is told as such', async () => {
  const other = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      url.endsWith('/inventory') ? new Response('<html>') : new Response('no', { status: 404 }),
  })
  const client = new PetstoreClient({ baseUrl: `http://127.0.0.1:${other.port}/v1/`, apiKey: 'k' })
  expect(await failureOf(client.listInventory())).toMatchObject({ code: 'invalid_response', status: 200 })
  expect(await failureOf(client.listOrderPage())).toMatchObject({ code: 'invalid_response', status: 404 })
  await other.stop(true)
})

test('what could never work is refused before anything is sent', async () => {
  const options = { baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'k' }
  expect(() => new PetstoreClient({ ...options, baseUrl: 'petstore' })).toThrow('baseUrl must be an address')
  expect(() => new PetstoreClient({ ...options, baseUrl: 'http://x/v1?a=1' })).toThrow('end in its path')
  expect(() => new PetstoreClient({ ...options, apiKey: '' })).toThrow('apiKey must be')
  expect(() => new PetstoreClient({ ...options, apiKey: 'a\nb' })).toThrow('apiKey must be')

  const client = new PetstoreClient(options)
  const asNumber = 5 as unknown as bigint
  await expect(client.getPet(asNumber)).rejects.toThrow('petId must be a bigint such as 5n, got 5 (a number)')
  await expect(client.getPet(2n ** 63n)).rejects.toThrow('petId must be an int64')
  const change = { petId: asNumber, delta: 1 }
  await expect(client.adjustInventory(change, { reason: 'sold' })).rejects.toThrow('petId must be a bigint')
})

test('the guard tells a PetstoreError from anything else, and one code from another', () => {
  const error: unknown = new PetstoreError('gone', 'answered 410 gone', {
    request: 'GET /pets/1',
    status: 410,
  })
  expect(isPetstoreError(error)).toBe(true)
  expect(isPetstoreError(error, 'gone')).toBe(true)
  expect(isPetstoreError(error, 'not_found')).toBe(false)
  expect(isPetstoreError(new Error('gone'))).toBe(false)
})
