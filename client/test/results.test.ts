import { expect, test } from 'bun:test'
import { TestService } from '../../server/test/support/test-service.ts'
import { readOptions } from '../src/options.ts'
import { Api } from '../src/request.ts'
import { Transport } from '../src/transport.ts'
import { SYSTEM_TIME } from '../src/waiting.ts'
import { failureOf } from './support/failure-of.ts'
import { clientOf, startClient } from './support/live-service.ts'

const ODD = 9007199254740993n

test('ids are accepted as bigint or number', async () => {
  const { client } = await startClient()
  for (const petId of [1n, 1]) expect((await client.inventory.get(petId)).petId).toBe(1n)
  const order = await client.orders.create({ petId: 1, quantity: 1 })
  expect((await client.orders.get(Number(order.id))).id).toBe(order.id)
  expect((await client.orders.list({ petId: 1, state: 'open' })).items).toEqual([order])
  const pet = await client.pets.create({ id: ODD + 1n, name: 'Rex', categoryId: 1 })
  expect(pet).toMatchObject({ id: ODD + 1n, categoryId: 1n })
})

test('a list is requested when it is awaited or iterated, and its first page once', async () => {
  const service = await TestService.start()
  const paths: string[] = []
  const client = clientOf(service, { onRequest: ({ path }) => paths.push(path) })
  const list = client.catalog.list({ limit: 2 })
  expect(paths).toEqual([])
  const page = await list
  expect(await list).toBe(page)
  expect([page.items.length, typeof page.next, paths.length]).toEqual([2, 'string', 1])
  expect(await Array.fromAsync(list)).toHaveLength(5)
  expect(await Array.fromAsync(client.catalog.list({ limit: 2, cursor: page.next }))).toHaveLength(3)
  const [pets, webhooks] = await Promise.all([client.catalog.list(), client.webhooks.list()])
  expect([pets.items.length, webhooks]).toEqual([5, { items: [], next: undefined }])
})

test('a body that is not JSON is sent as it is', async () => {
  const sent: RequestInit[] = []
  const fetch = async (_: string, init: RequestInit) => {
    sent.push(init)
    return Response.json({})
  }
  const settings = readOptions({ baseUrl: 'http://petstore.example/v1', apiKey: 'k', fetch })
  const input = { body: 'name\nRex\n', contentType: 'text/csv' }
  await new Api(new Transport(settings, SYSTEM_TIME)).value('POST', '/imports', input, {})
  expect(sent[0]?.body).toBe('name\nRex\n')
  expect(new Headers(sent[0]?.headers).get('Content-Type')).toBe('text/csv')
})

test('a list of events is read by position', async () => {
  const asked: string[] = []
  const fetch = async (url: string) => {
    asked.push(url)
    const isLast = url.includes('after=b')
    const headers = { 'Event-Id': isLast ? 'c' : 'b', Link: isLast ? '' : '</v1/events?after=b>; rel="next"' }
    return Response.json([{ id: isLast ? 'c' : 'b' }], { headers })
  }
  const settings = readOptions({ baseUrl: 'http://petstore.example/v1', apiKey: 'k', fetch })
  const api = new Api(new Transport(settings, SYSTEM_TIME))
  const list = api.list<{ readonly id: string }>('/events', { pageBy: 'after', maxLimit: 9 }, { after: 'a' })
  expect(await list).toEqual({ items: [{ id: 'b' }], next: 'b', lastEventId: 'b' })
  expect(await Array.fromAsync(list)).toEqual([{ id: 'b' }, { id: 'c' }])
  expect(asked.map((url) => new URL(url).search)).toEqual([
    '?after=a',
    '?after=a&limit=9',
    '?after=b&limit=9',
  ])
})

test('a list has catch and finally, and iterating it throws what awaiting it throws', async () => {
  const { client } = await startClient()
  const wrong = client.orders.list({ limit: 0 })
  expect(await failureOf(wrong.catch((error) => Promise.reject(error)))).toMatchObject({
    code: 'invalid_request',
  })
  let hasEnded = false
  await client.orders.list().finally(() => {
    hasEnded = true
  })
  expect(hasEnded).toBe(true)
  expect(await failureOf(Array.fromAsync(wrong))).toMatchObject({ code: 'invalid_request' })
})
