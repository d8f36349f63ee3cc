import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import { PERMISSIONS } from '../../src/core/keys/api-key.ts'
import { removePet } from '../support/remove-pet.ts'
import { type Answer, START, TestService } from '../support/test-service.ts'
import { historyOf } from '../support/whole-store.ts'

const PETS: readonly StockedPet[] = Array.from({ length: 45 }, (_, index) => ({
  id: BigInt(index + 1),
  name: `Pet ${index + 1}`,
  categoryId: 1n,
  status: index % 3 === 0 ? 'sold' : 'available',
  quantity: 0,
}))

let service: TestService
let keyId: string
beforeAll(async () => {
  service = await TestService.start({ pets: PETS })
  const { id, secret } = await service.createKey('enterprise', { name: 'The shop' })
  keyId = id
  for (let quantity = 1; quantity <= 45; quantity++) {
    service.now = START + quantity
    await service.setQuantity(1n, `{"quantity": ${quantity}}`, { key: secret })
  }
})
afterAll(() => service.stop())

function nextOf({ headers }: Answer): string | undefined {
  const link = headers.get('Link')
  if (link === null) return undefined
  const [, address] = /^<\/v1([^>]+)>; rel="next"$/.exec(link) ?? []
  if (address === undefined) throw new Error(`what kind of link is ${link}?`)
  return address
}

/** All pages from the first on, following the links. */
async function follow(path: string): Promise<Answer[]> {
  const pages: Answer[] = []
  for (let next: string | undefined = path; next !== undefined; ) {
    const page = await service.call('GET', next)
    expect(page.status).toBe(200)
    pages.push(page)
    next = nextOf(page)
  }
  return pages
}

const each = <Field extends string>(pages: readonly Answer[], field: Field) =>
  pages.flatMap(({ json }) => (json as Record<Field, unknown>[]).map((row) => row[field]))

describe('GET /catalog', () => {
  test('returns pets by id, and links to the next page until there is none', async () => {
    const pages = await follow('/catalog?limit=20')
    expect(pages.map(({ json }) => (json as unknown[]).length)).toEqual([20, 20, 5])
    expect(each(pages, 'petId')).toEqual(Array.from({ length: 45 }, (_, index) => index + 1))
    expect(pages[0]?.text).toStartWith('[{"petId":1,"name":"Pet 1","categoryId":1},')
  })

  test('a full last page has no next link', async () => {
    expect(await follow('/catalog?limit=45')).toHaveLength(1)
    expect(await follow('/catalog?limit=44')).toHaveLength(2)
  })

  test.each([
    ['limit=0', 'limit must be an integer from 1 to 10000, got "0"'],
    ['limit=10001', 'limit must be an integer from 1 to 10000'],
    ['limit=-1', 'limit must be'],
    ['limit=5.0', 'got "5.0"'],
    ['limit=05', 'got "05"'],
    ['limit=+5', 'got " 5"'],
    ['limit=', 'got ""'],
    ['limit', 'got ""'],
    ['limit=1e1', 'got "1e1"'],
    ['limit=5&limit=5', 'limit is given twice'],
    ['cursor=', 'cursor must be a string that is not empty'],
    ['cursor=abc', 'cursor must come from the Link header'],
    ['cursor=9223372036854775808', 'cursor must come from the Link header'],
  ])('?%s is 400 and explains why', async (query, message) => {
    const answer = await service.call('GET', `/catalog?${query}`)
    expect([answer.status, answer.error.code]).toEqual([400, 'invalid_request'])
    expect(answer.error.message).toContain(message)
  })

  test('a page is 304 for its tag, until another page follows it', async () => {
    const last = await service.call('GET', '/catalog?cursor=40')
    const headers = { 'If-None-Match': last.headers.get('ETag') ?? '' }
    expect((await service.call('GET', '/catalog?cursor=40', { headers })).status).toBe(304)
    const full = await service.call('GET', '/catalog?cursor=40&limit=5')
    await service.store.addPets([{ ...(PETS[0] as StockedPet), id: 46n }])
    const longer = await service.call('GET', '/catalog?cursor=40&limit=5')
    expect(longer.text).toBe(full.text)
    expect(longer.headers.get('ETag')).not.toBe(full.headers.get('ETag'))
    await removePet(service.store, 46n)
  })
})

describe('GET /inventory/{petId}/history', () => {
  test('returns the changes newest first, page by page', async () => {
    const pages = await follow('/inventory/1/history?limit=20')
    expect(pages.map(({ json }) => (json as unknown[]).length)).toEqual([20, 20, 5])
    expect(each(pages, 'after')).toEqual(Array.from({ length: 45 }, (_, index) => 45 - index))
    expect(new Set(each(pages, 'id')).size).toBe(45)
    expect((await service.call('GET', '/inventory/1/history?limit=1')).json).toEqual([
      {
        id: expect.any(String),
        before: 44,
        after: 45,
        at: '2026-11-15T12:00:00.045Z',
        keyId,
        keyName: 'The shop',
      },
    ])
  })

  test('names an import by its id, because it has no key', async () => {
    await service.store.changeStock([
      { type: 'set_quantity', petId: 2n, quantity: 5, keyId: 'petstore-import', at: START },
    ])
    const { json } = await service.call('GET', '/inventory/2/history')
    expect(json).toMatchObject([{ keyId: 'petstore-import', keyName: 'petstore-import' }])
  })

  test('is empty for a pet without changes, and 404 for a pet that never existed', async () => {
    expect((await service.call('GET', '/inventory/3/history')).text).toBe('[]')
    const unknown = await service.call('GET', '/inventory/404/history')
    expect([unknown.status, unknown.error.code]).toEqual([404, 'not_found'])
    expect((await service.call('GET', '/inventory/404/history?cursor=5')).status).toBe(404)
  })

  test('remains after the pet is removed, including the removal', async () => {
    await service.store.changeStock([
      { type: 'set_quantity', petId: 4n, quantity: 5, keyId: 'key_a', at: START },
    ])
    await removePet(service.store, 4n)
    const { status, json } = await service.call('GET', '/inventory/4/history')
    expect([status, (json as unknown[]).length]).toEqual([200, 2])
    const [, { id }] = json as [unknown, { id: string }]
    const behind = await service.call('GET', `/inventory/4/history?cursor=${id}`)
    expect([behind.status, behind.text]).toEqual([200, '[]'])
  })

  test.each(['limit=0', 'limit=1001', 'limit=x', 'cursor=x', 'cursor=1.5', 'cursor=1&cursor=2'])(
    '?%s is 400',
    async (query) => {
      const answer = await service.call('GET', `/inventory/1/history?${query}`)
      expect([answer.status, answer.error.code]).toEqual([400, 'invalid_request'])
    },
  )
})

describe('GET /inventory/history', () => {
  test('returns the changes of all pets newest first, page by page, each once', async () => {
    await service.store.changeStock([
      { type: 'set_quantity', petId: 5n, quantity: 3, keyId, at: START + 100 },
      { type: 'set_quantity', petId: 6n, quantity: 7, keyId: 'petstore-import', at: START + 100 },
      { type: 'set_quantity', petId: 5n, quantity: 2, keyId, at: START + 100 },
    ])
    const pages = await follow('/inventory/history?limit=30')
    expect(each(pages, 'petId').slice(0, 3)).toEqual([5, 6, 5])
    const newest = await service.call('GET', '/inventory/history?limit=2')
    expect(newest.json).toEqual([
      {
        petId: 5,
        id: expect.any(String),
        before: 3,
        after: 2,
        at: '2026-11-15T12:00:00.100Z',
        keyId,
        keyName: 'The shop',
      },
      expect.objectContaining({ petId: 6, before: 0, after: 7, keyName: 'petstore-import' }),
    ])
    const all = await Promise.all(
      PETS.map(async ({ id }) => (await historyOf(service.store, id)).length),
    ).then((lengths) => lengths.reduce((sum, length) => sum + length, 0))
    expect(all).toBeGreaterThan(48)
    expect(new Set(each(pages, 'id')).size).toBe(all)
  })

  test('shows a change like the history of its pet', async () => {
    const [{ petId, ...newest }] = (await service.call('GET', '/inventory/history?limit=1')).json as [
      Record<string, unknown>,
    ]
    const { json } = await service.call('GET', `/inventory/${petId}/history?limit=1`)
    expect(json).toEqual([newest])
  })

  test('returns only matching changes, and keeps the filter from page to page', async () => {
    await service.call('POST', '/inventory/adjustments', {
      body: '{"reason": "damaged", "changes": [{"petId": 7, "delta": 2}]}',
      headers: { 'Content-Type': 'application/json' },
    })
    expect(each(await follow('/inventory/history?reason=damaged'), 'petId')).toEqual([7])
    const pages = await follow('/inventory/history?who=The%20shop&petId=5&limit=1')
    expect(each(pages, 'after')).toEqual([2, 3])
    expect(each(await follow(`/inventory/history?who=${keyId}&petId=6`), 'petId')).toEqual([])
    const since = new Date(START + 100).toISOString()
    expect(each(await follow(`/inventory/history?who=The%20shop&since=${since}&limit=1`), 'after')).toEqual([
      2, 3,
    ])
    const until = new Date(START + 3).toISOString()
    expect(each(await follow(`/inventory/history?petId=1&until=${until}`), 'after')).toEqual([2, 1])
  })

  test.each([
    ...['limit=0', 'limit=1001', 'cursor=x', 'cursor='],
    ...['petId=x', 'who=', 'who=a%00b', 'reason=stolen', 'since=yesterday', 'until=2026-09-01T10:00:00'],
  ])('?%s is 400', async (query) => {
    const answer = await service.call('GET', `/inventory/history?${query}`)
    expect([answer.status, answer.error.code]).toEqual([400, 'invalid_request'])
  })
})

describe('GET /catalog/history', () => {
  const send = async (method: string, path: string, key: string, body?: object) => {
    const headers = { 'Content-Type': 'application/json' }
    const sent = body === undefined ? {} : { body: JSON.stringify(body), headers }
    expect((await service.call(method, path, { ...sent, key })).status).toBeLessThan(300)
  }

  test('returns who created, changed and removed pets, newest first, also with a revoked key', async () => {
    const { id, secret } = await service.createKey('enterprise', { name: 'Editor' })
    service.now = START + 200
    await send('POST', '/pets', secret, { id: 900, name: 'Ivy', categoryId: 1 })
    await send('PATCH', '/inventory/900', secret, { quantity: 3 })
    await send('PATCH', '/pets/900', secret, { name: 'Fern', status: 'sold' })
    await send('DELETE', '/pets/900', secret)
    const owner = await service.createKey('enterprise', { permissions: [...PERMISSIONS] })
    await send('DELETE', `/keys/${id}`, owner.secret)
    const origin = {
      petId: 900,
      id: expect.any(String),
      at: '2026-11-15T12:00:00.200Z',
      keyId: id,
      keyName: 'Editor',
    }
    const ivy = { id: 900, name: 'Ivy', categoryId: 1, status: 'available' }
    const edits = [
      { ...origin, change: 'removed', name: 'Fern' },
      {
        ...origin,
        change: 'changed',
        name: 'Fern',
        pet: { ...ivy, name: 'Fern', status: 'sold' },
        fields: ['name', 'status'],
      },
      { ...origin, change: 'created', name: 'Ivy', pet: ivy },
    ]
    const pages = await follow('/catalog/history?who=Editor&limit=1')
    expect(pages.slice(0, 3).map(({ json }) => json)).toEqual(edits.map((edit) => [edit]))
    expect(pages.slice(3).flatMap(({ json }) => json as unknown[])).toEqual([])
    expect((await service.call('GET', '/catalog/history?petId=900')).json).toEqual(edits)
    expect((await service.call('GET', '/catalog/history?limit=3')).json).toEqual(edits)
    const since = new Date(START + 200).toISOString()
    expect(each(await follow(`/catalog/history?who=Editor&since=${since}`), 'petId')).toEqual([900, 900, 900])
    expect(each(await follow(`/catalog/history?until=${since}&petId=900`), 'petId')).toEqual([])
  })

  test.each([
    ...['limit=0', 'limit=1001', 'cursor=x', 'cursor='],
    ...['petId=x', 'who=', 'who=a%00b', 'reason=sold', 'since=yesterday', 'until=2026-09-01T10:00:00'],
  ])('?%s is 400', async (query) => {
    const answer = await service.call('GET', `/catalog/history?${query}`)
    expect([answer.status, answer.error.code]).toEqual([400, 'invalid_request'])
  })
})

describe('a large catalog', () => {
  test('returns name and category of every pet by petId, barcode and threshold if set, with the requested page size', async () => {
    const pages = await follow('/catalog?limit=20')
    const pets = await service.store.listPets(undefined, 100)
    expect(pages.map(({ json }) => (json as unknown[]).length)).toEqual([20, 20, pets.length - 40])
    expect(each(pages, 'petId')).toEqual(pets.map(({ id }) => Number(id)))
    expect(each(pages, 'name')).toEqual(pets.map(({ name }) => name))
    expect(await follow('/catalog')).toHaveLength(1)
    expect((await service.call('GET', '/catalog?limit=10000')).status).toBe(200)
  })

  test('a large page is complete, ordered, and knows whether another follows', async () => {
    const large = await TestService.start({
      pets: Array.from({ length: 2_500 }, (_, index) => ({
        ...(PETS[0] as StockedPet),
        id: BigInt(2 * index),
      })),
    })
    const page = async (query: string) => {
      const answer = await large.call('GET', `/catalog?${query}`)
      return { ids: each([answer], 'petId'), next: nextOf(answer) }
    }
    const even = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => 2 * (from + index))
    expect(await page('limit=10000')).toEqual({ ids: even(0, 2_500), next: undefined })
    expect(await page('limit=2500')).toEqual({ ids: even(0, 2_500), next: undefined })
    expect(await page('limit=2000')).toEqual({ ids: even(0, 2_000), next: '/catalog?limit=2000&cursor=3998' })
    expect(await page('limit=1999&cursor=3')).toMatchObject({ ids: even(2, 1_999) })
    expect(await page('')).toMatchObject({ ids: even(0, 1_000), next: '/catalog?limit=1000&cursor=1998' })
    await large.stop()
  })

  test('keeps ids exact and names and barcodes unchanged', async () => {
    const name = 'Söße "Line\n</script>" \u2028 🐈'
    const pet = { name, categoryId: -9223372036854775808n, status: 'sold', quantity: 0 } as const
    await service.store.addPets([
      { ...pet, id: 9223372036854775806n, barcode: '00-"7"', lowStockAt: 0 },
      { ...pet, id: 9223372036854775807n },
    ])
    const { text } = await service.call('GET', '/catalog?cursor=45')
    const record = `"name":${JSON.stringify(name)},"categoryId":-9223372036854775808`
    expect(text).toBe(
      `[{"petId":9223372036854775806,${record},"barcode":"00-\\"7\\"","lowStockAt":0},{"petId":9223372036854775807,${record}}]`,
    )
    for (const id of [9223372036854775806n, 9223372036854775807n]) await removePet(service.store, id)
  })

  test('a page is 304 for its tag', async () => {
    const first = await service.call('GET', '/catalog')
    const headers = { 'If-None-Match': first.headers.get('ETag') ?? '' }
    expect((await service.call('GET', '/catalog', { headers })).status).toBe(304)
  })

  test.each([
    ['limit=0', 'limit must be an integer from 1 to 10000, got "0"'],
    ['limit=10001', 'limit must be an integer from 1 to 10000'],
    ['cursor=abc', 'cursor must come from the Link header'],
  ])('?%s is 400 and explains why', async (query, message) => {
    const answer = await service.call('GET', `/catalog?${query}`)
    expect([answer.status, answer.error.code]).toEqual([400, 'invalid_request'])
    expect(answer.error.message).toContain(message)
  })
})
