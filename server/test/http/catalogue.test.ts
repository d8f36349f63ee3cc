import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Answer, TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const send = (method: string, path: string, body?: unknown) => service.send(method, path, body)
const idOf = (answer: Answer) => (answer.json as { readonly id: number }).id
const create = async (body: object) =>
  idOf(await send('POST', '/pets', { name: 'Rex', categoryId: 1, ...body }))
const listed = async (id: number) =>
  (await service.call('GET', '/inventory')).items.find(({ petId }) => petId === id)
const catalogue = async () => [
  (await service.call('GET', '/catalog?limit=1000')).text,
  (await service.call('GET', '/categories?limit=1000')).text,
]

describe('a pet', () => {
  test('is created with its entry, read, changed in the fields that are sent, and removed', async () => {
    const body = { name: 'Rex', categoryId: 1, quantity: 4, barcode: '4006381333931', lowStockAt: 2 }
    const created = await send('POST', '/pets', body)
    const id = idOf(created)
    expect([created.status, created.headers.get('Location')]).toEqual([201, `/v1/catalog/${id}`])
    const { quantity: _, ...record } = { id, status: 'available', ...body }
    expect<unknown>(created.json).toEqual(record)
    expect(await listed(id)).toEqual({ petId: id, quantity: 4, status: 'available' })
    for (const path of [`/pets/${id}`, `/catalog/${id}`]) {
      const { json, etag, headers } = await service.call('GET', path)
      expect([json, etag]).toEqual([created.json, created.etag])
      expect(headers.has('Deprecation')).toBe(path.startsWith('/pets'))
    }
    const renamed = await send('PATCH', `/pets/${id}`, { name: 'After', status: 'sold' })
    expect(renamed.json).toEqual({ ...record, name: 'After', status: 'sold' })
    expect(await listed(id)).toEqual({ petId: id, quantity: 4, status: 'sold' })
    const cleared = await send('PATCH', `/pets/${id}`, { barcode: null, lowStockAt: null, categoryId: 2 })
    expect(cleared.json).toEqual({ id, name: 'After', categoryId: 2, status: 'sold' })
    expect((await send('DELETE', `/pets/${id}`)).status).toBe(204)
    expect(await listed(id)).toBeUndefined()
  })

  test('may have a chosen id, also the lowest int64', async () => {
    const text = await send('POST', '/pets', '{"id": -9223372036854775808, "name": "First", "categoryId": 1}')
    expect([text.status, text.text.includes('"id":-9223372036854775808')]).toEqual([201, true])
  })

  test('with a quantity is only created and removed with the permission stock', async () => {
    const { secret: key } = await service.createKey('pro', { permissions: ['pets'] })
    const id = await create({ quantity: 2 })
    const headers = { 'Idempotency-Key': 'without-stock' }
    const remove = () => service.send('DELETE', `/pets/${id}`, undefined, { key, headers })
    const before = await service.contents()
    for (const { error } of [
      await remove(),
      await service.send('POST', '/pets', { name: 'New', categoryId: 1, quantity: 7 }, { key }),
    ]) {
      expect(error).toMatchObject({ code: 'forbidden', status: 403 })
      expect(error.message).toContain('it needs the permission "stock"')
    }
    expect(await service.contents()).toEqual(before)
    await service.setQuantity(BigInt(id), '{"quantity": 0}')
    // The refusal was not remembered, because the next attempt may be allowed.
    expect((await remove()).status).toBe(204)
    const empty = { name: 'Empty', categoryId: 1, quantity: 0 }
    expect((await service.send('POST', '/pets', empty, { key })).status).toBe(201)
  })

  test('can be changed after the sunset of its deprecated GET', async () => {
    const { now } = service
    service.now = Date.UTC(2040, 0)
    const { secret: key } = await service.createKey('enterprise')
    expect((await service.call('GET', '/pets/1', { key })).status).toBe(410)
    expect((await service.send('PATCH', '/pets/1', { name: 'Biscuit' }, { key })).status).toBe(200)
    service.now = now
  })
})

test('a category is created, changed and removed', async () => {
  const made = await send('POST', '/categories', { id: 900, name: 'Dogs', lowStockAt: 3 })
  expect([made.status, made.headers.get('Location'), made.json]).toEqual([
    ...[201, '/v1/categories/900', { id: 900, name: 'Dogs', lowStockAt: 3 }],
  ])
  const changed = await send('PATCH', '/categories/900', { name: 'Hounds', lowStockAt: null })
  expect(changed.json).toEqual({ id: 900, name: 'Hounds' })
  expect((await send('DELETE', '/categories/900')).status).toBe(204)
})

describe('a change of the catalogue that is refused', () => {
  beforeAll(async () => {
    await create({ id: 50, barcode: 'TAKEN' })
    await send('POST', '/store/orders', { petId: 1, quantity: 3 })
  })

  const noCategory = 'there is no category 404; add it with POST /categories'
  test.each<[string, string, unknown, number, string]>([
    ['POST', '/pets', { name: 'Rex', categoryId: 404 }, 400, noCategory],
    [
      'POST',
      '/pets',
      { name: 'Rex', categoryId: 1, id: 1 },
      409,
      'pet 1 already exists; nothing was changed',
    ],
    ['POST', '/pets', { name: 'Rex', categoryId: 1, barcode: 'TAKEN' }, 409, 'already used by pet 50'],
    ['PATCH', '/pets/1', { categoryId: 404 }, 400, noCategory],
    ['PATCH', '/pets/1', { barcode: 'TAKEN' }, 409, 'barcode TAKEN is already used by pet 50'],
    ['PATCH', '/pets/404', { categoryId: 404 }, 400, noCategory],
    ['PATCH', '/pets/404', { categoryId: 1 }, 404, 'there is no pet with petId 404'],
    [
      'DELETE',
      '/pets/1',
      undefined,
      409,
      'open orders reserve 3 of petId 1; complete or cancel these orders',
    ],
    ['POST', '/categories', { name: 'Dogs', id: 1 }, 409, 'category 1 already exists'],
    [
      'PATCH',
      '/categories/2',
      { name: 'category 1' },
      409,
      'category 1 is already called "Category 1", and category names are unique regardless of case; use category 1 or choose another name; nothing was changed',
    ],
    ['DELETE', '/categories/1', undefined, 409, 'category 1 has pets'],
    ['DELETE', '/categories/404', undefined, 404, 'there is no category 404'],
  ])('%s %s %j is %i', async (method, path, body, status, message) => {
    const before = await catalogue()
    const { error } = await send(method, path, body)
    expect([error.status, error.message]).toEqual([status, expect.stringContaining(message)])
    if (status === 400) expect(error.field).toBe('categoryId')
    if (status === 409) expect(error.code).toBe(method === 'DELETE' ? 'in_use' : 'already_exists')
    expect(await catalogue()).toEqual(before)
  })
})
