import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { EXAMPLES_WITH_KEY, NOWHERE, startExampleShop } from '../support/example-requests.ts'
import type { Answer, TestService } from '../support/test-service.ts'

setDefaultTimeout(120_000)

let service: TestService
let orderId: string

beforeAll(async () => {
  service = await startExampleShop()
  await service.setQuantity(1n, '{"quantity": 9}')
  orderId = idOf(await send('POST', '/store/orders', { petId: 1, quantity: 1 }))
})
afterAll(() => service.stop())

const send = (method: string, path: string, body?: object, headers = {}) =>
  service.send(method, path, body, { headers })
const idOf = ({ headers }: Answer) => headers.get('Location')?.split('/').at(-1) ?? ''

/**
 * Two changes of a record, and how to read its ETag: categories have no GET, so an empty change returns it.
 * Both changes differ from what is stored: a change that changes nothing leaves the ETag as it is.
 */
const RECORDS = {
  order: {
    path: () => `/store/orders/${orderId}`,
    read: 'GET',
    one: { note: 'one' },
    other: { note: 'other' },
  },
  pet: { path: () => '/pets/77', read: 'GET', one: { name: 'One' }, other: { name: 'Other' } },
  category: { path: () => '/categories/77', read: 'PATCH', one: { lowStockAt: 1 }, other: { lowStockAt: 2 } },
  key: { path: () => '/keys/key_1', read: 'GET', one: { name: 'One' }, other: { name: 'Other' } },
  webhook: {
    path: () => '/webhooks/1',
    read: 'GET',
    one: { url: `${NOWHERE}one` },
    other: { url: `${NOWHERE}other` },
  },
} as const

const records = Object.entries(RECORDS).map(([name, record]) => ({ name, ...record }))

describe('If-Match', () => {
  test.each(records)(
    'lets one of two changes of a $name through',
    async ({ path: pathOf, read, one, other }) => {
      const path = pathOf()
      const tag = (await (read === 'GET' ? send('GET', path) : send('PATCH', path, { name: 'Parrots' }))).etag
      expect(tag).not.toBe('')
      const answers = await Promise.all(
        [one, other].map((body) => send('PATCH', path, body, { 'If-Match': tag })),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
      const refused = answers.find(({ status }) => status === 412)
      expect(refused?.error).toMatchObject({ code: 'precondition_failed', status: 412 })
      expect(refused?.error.message).toContain('is not in the state that If-Match names')
      const made = answers.find(({ status }) => status === 200)
      if (made === undefined) throw new Error('no change was made')
      expect(made.etag).not.toBe(tag)
      expect((await send('PATCH', path, other, { 'If-Match': `"x", ${made.etag}` })).status).toBe(200)
      expect((await send('PATCH', path, one, { 'If-Match': '*' })).status).toBe(200)
    },
  )

  test('is not concerned with what changes by itself: the use of a key, the backlog of a webhook', async () => {
    const { id, secret } = await service.createKey('pro', { name: 'Busy' })
    const keyTag = (await send('GET', `/keys/${id}`)).etag
    await service.call('GET', '/inventory', { key: secret })
    await service.restart()
    const usedTag = (await send('GET', `/keys/${id}`)).etag
    expect(usedTag).not.toBe(keyTag)
    expect((await send('PATCH', `/keys/${id}`, { name: 'Still busy' }, { 'If-Match': keyTag })).status).toBe(
      200,
    )

    await send('PATCH', '/webhooks/1', { paused: true })
    const hookTag = (await send('GET', '/webhooks/1')).etag
    await service.setQuantity(1n, '{"quantity": 8}')
    expect((await send('GET', '/webhooks/1')).etag).not.toBe(hookTag)
    expect((await send('PATCH', '/webhooks/1', { paused: true }, { 'If-Match': hookTag })).status).toBe(200)
  })

  test('has the ETag of a new record', async () => {
    const created = await send('POST', '/categories', { id: 51, name: 'Fish' })
    const renamed = await send('PATCH', '/categories/51', { name: 'Fishes' }, { 'If-Match': created.etag })
    expect(renamed.status).toBe(200)
    const pet = await send('POST', '/pets', { id: 51, name: 'Nemo', categoryId: 51 })
    expect(pet.etag).toBe((await send('GET', '/catalog/51')).etag)
    const order = await send('POST', '/store/orders', { petId: 1, quantity: 1 })
    expect(order.etag).toBe((await send('GET', `/store/orders/${idOf(order)}`)).etag)
  })

  test('is part of the request that an Idempotency-Key names', async () => {
    const tag = (await send('GET', '/catalog/77')).etag
    const change = (headers: Record<string, string>) =>
      send('PATCH', '/pets/77', { name: 'Once' }, { 'Idempotency-Key': 'condition', ...headers })
    const first = await change({ 'If-Match': tag })
    const again = await change({ 'If-Match': tag })
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text])
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    for (const headers of [{}, { 'If-Match': '*' }, { 'If-Match': `${tag}, "x"` }]) {
      expect((await change(headers)).error.code).toBe('idempotency_key_reused')
    }
  })

  const changes = EXAMPLES_WITH_KEY.filter(({ method }) => method === 'PATCH' || method === 'DELETE')
  test.each(changes)('with an old ETag refuses $operationId, which changes nothing', async (example) => {
    const { method, target, sentBody } = example
    const before = await service.contents()
    const headers = { 'If-Match': '"old"' }
    expect((await service.send(method, target, sentBody, { headers })).status).toBe(412)
    expect(await service.contents()).toEqual(before)
  })

  const others = EXAMPLES_WITH_KEY.filter((example) => !changes.includes(example))
  test.each(others)('is 400 for $operationId, which would ignore it', async (example) => {
    const { method, target, sentBody } = example
    const { status, error } = await service.send(method, target, sentBody, { headers: { 'If-Match': '*' } })
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(error.message).toContain('does not support If-Match')
  })
})
