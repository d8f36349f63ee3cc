import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import { ORDER_STATES } from '../../src/core/orders/order.ts'
import { EXAMPLES, startExampleShop } from '../support/example-requests.ts'
import { type Answer, START, TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

type Row = Readonly<Record<string, unknown>>

/** An order that was completed. */
const ORDER = '9007199254740993'

let service: TestService
beforeAll(async () => {
  service = await startExampleShop()
  await service.send('PATCH', '/webhooks/1', { paused: true })
  const { secret } = await service.createKey('enterprise', { id: 'key_shop', name: 'The shop' })
  const send = async (method: string, path: string, body?: object) =>
    expect((await service.send(method, path, body, { key: secret })).status).toBeLessThan(300)
  for (let index = 1; index <= 4; index++) {
    service.now += 1_000
    await send('PATCH', `/inventory/${index < 4 ? 1 : 2}`, { quantity: 100 + index })
    await send('PATCH', `/pets/${index < 4 ? 1 : 2}`, { name: `Zebra ${index}`, lowStockAt: 200 })
    const lines = (index < 4 ? [1, 4] : [2]).map((petId) => ({ petId, quantity: 1 }))
    await send('POST', '/store/orders', { lines, customer: `Müller ${index}`, reference: `cart ${index}` })
    await service.send('PATCH', '/keys/key_1', { name: `Name ${index}` })
  }
  await service.send('POST', '/store/orders', { petId: 1, quantity: 1 })
  for (const [state, body] of [
    ['cancelled', {}],
    ['expired', { holdSeconds: 1 }],
  ] as const) {
    const { json } = await service.send('POST', '/store/orders', { petId: 1, quantity: 1, ...body })
    if (state === 'cancelled') await send('DELETE', `/store/orders/${(json as Row).id}`)
  }
  await send('PATCH', `/store/orders/${ORDER}`, { complete: true })
  service.now += 1_000
  const lost = { reason: 'lost', reference: 'shelf 3', changes: [{ petId: 1, delta: -1 }] }
  await service.send('POST', '/inventory/adjustments', lost)
  const attempt = {
    messageId: 'm',
    type: 'stock.changed',
    at: 1,
    durationMs: 1,
    isDelivered: true,
    response: '',
  }
  const attempts = [1, 2, 3, 4].map((number) => ({ ...attempt, attempt: number }))
  await service.store.recordDeliveries(1n, attempts)
})
afterAll(() => service.stop())

const petIdsIn = ({ lines }: Row) => (lines as readonly Row[]).map(({ petId }) => petId)
const rowsOf = ({ json }: Answer) => json as readonly Row[]
async function rowsOn(path: string): Promise<readonly Row[]> {
  return (await service.pages(path)).flatMap(rowsOf)
}

const LISTS = EXAMPLES.filter(({ query = {} }) => 'cursor' in query)

describe.each(LISTS)('the pages of $operationId', ({ target, query = {} }) => {
  const { maximum } = query.limit as unknown as { readonly maximum: number }
  const idsOf = (rows: readonly Row[]) => rows.map(({ id, petId }) => id ?? petId)

  test('have each row once, in the order of the list', async () => {
    const all = await service.call('GET', `${target}?limit=${maximum}`)
    expect([rowsOf(all).length > 3, all.next]).toEqual([true, undefined])
    const pages = await service.pages(`${target}?limit=2`)
    expect(pages.every((page) => rowsOf(page).length <= 2)).toBe(true)
    expect(pages[0]?.next?.replace('sort=petId&', '')).toStartWith(`${target}?limit=2&cursor=`)
    expect(idsOf(pages.flatMap(rowsOf))).toEqual(idsOf(rowsOf(all)))
  })

  test('end with a full page if no row follows, which has no link', async () => {
    const { length } = rowsOf(await service.call('GET', `${target}?limit=${maximum}`))
    expect(await service.pages(`${target}?limit=${length}`)).toHaveLength(1)
    expect(await service.pages(`${target}?limit=${length - 1}`)).toHaveLength(2)
  })

  test('have an ETag, are 304 for it, and are rejected with the cursor of another list', async () => {
    const path = `${target}?limit=1`
    // The use of a key, which its list shows, is recorded a moment later.
    await until(async () => {
      const { etag, next } = await service.call('GET', path)
      const headers = { 'If-None-Match': etag }
      expect((await service.call('GET', next ?? '', { headers })).status).toBe(200)
      return (await service.call('GET', path, { headers })).status === 304
    })
    const { status, error } = await service.call('GET', `${target}?cursor=17.eg`)
    expect([status, error.field]).toEqual([400, 'cursor'])
  })
})

describe('a filter', () => {
  const ISO = (seconds: number) => new Date(START + seconds * 1_000).toISOString()
  const CASES: readonly [list: string, parameter: string, value: string, matches: (row: Row) => boolean][] = [
    ['/inventory/history', 'petId', '1', ({ petId }) => petId === 1],
    ['/inventory/history', 'who', 'The shop', ({ keyName }) => keyName === 'The shop'],
    ['/inventory/history', 'who', 'key_shop', ({ keyId }) => keyId === 'key_shop'],
    ['/inventory/history', 'since', ISO(3), ({ at }) => String(at) >= ISO(3)],
    ['/inventory/history', 'until', ISO(3), ({ at }) => String(at) < ISO(3)],
    ['/inventory/history', 'reason', 'lost', ({ reason }) => reason === 'lost'],
    ['/inventory/history', 'reference', 'shelf 3', ({ reference }) => reference === 'shelf 3'],
    ['/inventory/adjustments', 'petId', '2', (row) => petIdsIn(row).includes(2)],
    ['/inventory/adjustments', 'reason', 'sold', ({ reason }) => reason === 'sold'],
    ['/inventory/adjustments', 'keyId', 'key_shop', ({ keyId }) => keyId === 'key_shop'],
    ['/inventory/adjustments', 'reference', 'shelf 3', ({ reference }) => reference === 'shelf 3'],
    ['/inventory/adjustments', 'orderId', ORDER, ({ orderId }) => orderId === Number(ORDER)],
    ['/inventory/adjustments', 'since', ISO(3), ({ recordedAt }) => String(recordedAt) >= ISO(3)],
    ['/inventory/adjustments', 'until', ISO(3), ({ recordedAt }) => String(recordedAt) < ISO(3)],
    ['/catalog/history', 'petId', '1', ({ petId }) => petId === 1],
    ['/catalog/history', 'who', 'The shop', ({ keyName }) => keyName === 'The shop'],
    ['/catalog/history', 'since', ISO(3), ({ at }) => String(at) >= ISO(3)],
    ['/catalog/history', 'until', ISO(3), ({ at }) => String(at) < ISO(3)],
    ['/store/orders', 'petId', '1', (row) => petIdsIn(row).includes(1)],
    ['/store/orders', 'reference', 'cart 2', ({ reference }) => reference === 'cart 2'],
    ['/store/orders', 'since', ISO(3), ({ createdAt }) => String(createdAt) >= ISO(3)],
    ['/store/orders', 'until', ISO(3), ({ createdAt }) => String(createdAt) < ISO(3)],
    ['/store/orders', 'customer', 'MULLER', ({ customer }) => String(customer).startsWith('Müller')],
    ['/inventory/search', 'q', 'zebr', ({ name }) => String(name).startsWith('Zebra')],
    ['/inventory/search', 'status', 'sold', ({ status }) => status === 'sold'],
    ['/inventory/search', 'categoryId', '1', ({ categoryId }) => categoryId === 1],
    ['/inventory/search', 'below', '8', ({ available }) => Number(available) < 8],
    ['/inventory/search', 'low', 'true', ({ lowSince }) => lowSince !== undefined],
  ]

  test.each(CASES)('of %s: %s=%s', async (list, parameter, value, matches) => {
    const all = await rowsOn(list)
    const filtered = new URLSearchParams({ [parameter]: value })
    const pages = await service.pages(`${list}?${filtered}&limit=1`)
    expect(pages.flatMap(rowsOf)).toEqual(all.filter(matches))
    expect(pages.length).toBeGreaterThan(0)
    expect(all.length).toBeGreaterThan(all.filter(matches).length)
    for (const { next } of pages.slice(0, -1)) expect(next).toContain(`${list}?${filtered}&`)
  })

  test('of every list is in this table', () => {
    const filters = LISTS.flatMap(({ path, query = {} }) =>
      Object.keys(query).map((parameter) => `${path} ${parameter}`),
    ).filter((name) => !/ (limit|cursor|state|sort)$/.test(name))
    expect([...new Set(CASES.map(([list, parameter]) => `${list} ${parameter}`))].sort()).toEqual(
      filters.sort(),
    )
  })

  test('by the state of an order finds expired holds as well; without it, open and complete orders are listed', async () => {
    const states = async (query: string) =>
      new Set((await rowsOn(`/store/orders${query}`)).map(({ state }) => state))
    for (const state of ORDER_STATES) expect([...(await states(`?state=${state}`))]).toEqual([state])
    expect(await states('')).toEqual(new Set(['open', 'complete']))
  })

  test('is part of the next link together with all others', async () => {
    const filters = `petId=1&who=The+shop&since=${encodeURIComponent(ISO(0))}&until=${encodeURIComponent(ISO(9))}`
    const [first] = await service.pages(`/inventory/history?${filters}&limit=1`)
    expect(first?.next).toContain(`?${filters}&limit=1&cursor=`)
  })
})

test('the last page of a list is no longer 304 once another page follows it', async () => {
  const [before, last] = (await service.pages('/store/orders?petId=1&limit=1')).slice(-2)
  await service.send('POST', '/store/orders', { petId: 1, quantity: 1 })
  const headers = { 'If-None-Match': last?.etag ?? '' }
  const longer = await service.call('GET', before?.next ?? '', { headers })
  expect([longer.status, longer.text]).toEqual([200, last?.text ?? ''])
})

describe('GET /catalog', () => {
  test('has 1,000 pets in a page by default and 10,000 at most, and knows whether more follow', async () => {
    const pets = Array.from(
      { length: 2_500 },
      (_, index): StockedPet => ({
        id: BigInt(2 * index),
        name: 'Pet',
        categoryId: 1n,
        status: 'available',
        quantity: 0,
      }),
    )
    const large = await TestService.start({ pets })
    const page = async (query: string) => {
      const answer = await large.call('GET', `/catalog?${query}`)
      return { ids: rowsOf(answer).map(({ petId }) => petId), next: answer.next }
    }
    const even = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => 2 * (from + index))
    expect(await page('limit=10000')).toEqual({ ids: even(0, 2_500), next: undefined })
    expect(await page('limit=2000')).toEqual({ ids: even(0, 2_000), next: '/catalog?limit=2000&cursor=3998' })
    expect(await page('limit=1999&cursor=3')).toMatchObject({ ids: even(2, 1_999) })
    expect(await page('')).toMatchObject({ ids: even(0, 1_000), next: '/catalog?limit=1000&cursor=1998' })
  })

  test('keeps ids exact and names and barcodes unchanged', async () => {
    const name = 'Söße "Line</script>" \u2028 🐈'
    const categoryId = -9223372036854775808n
    const pet = { name, categoryId, status: 'sold', quantity: 0 } as const
    const shop = await TestService.start({
      pets: [
        { ...pet, id: 9223372036854775806n, barcode: '00-"7"', lowStockAt: 0 },
        { ...pet, id: 9223372036854775807n },
      ],
    })
    const record = `"name":${JSON.stringify(name)},"categoryId":-9223372036854775808`
    expect((await shop.call('GET', '/catalog')).text).toBe(
      `[{"petId":9223372036854775806,${record},"barcode":"00-\\"7\\"","lowStockAt":0},{"petId":9223372036854775807,${record}}]`,
    )
  })
})

describe('the history of a pet', () => {
  test('is a list of changes with the time, the key and its name, which recent changes show with the pet', async () => {
    const times = { at: ISO_OF_FIRST, occurredAt: ISO_OF_FIRST }
    const first = {
      id: expect.any(String),
      before: 4,
      after: 101,
      adjustmentId: expect.any(Number),
      ...times,
      keyId: 'key_shop',
      keyName: 'The shop',
    }
    const found = await rowsOn(`/inventory/1/history`)
    expect(found.filter(({ at }) => at === ISO_OF_FIRST)).toEqual([first])
    expect(found[0]).toMatchObject({ before: 103, after: 102, reason: 'lost', reference: 'shelf 3' })
    const recent = await rowsOn('/inventory/history?petId=1')
    expect(recent.filter(({ at }) => at === ISO_OF_FIRST)).toEqual([{ petId: 1, ...first }])
  })

  test('begins when the pet is created, remains after it is removed, and is 404 if the pet never existed', async () => {
    await service.send('PATCH', '/inventory/77', { quantity: 5 })
    await service.send('DELETE', '/pets/77')
    const rows = await rowsOn('/inventory/77/history')
    expect(rows).toMatchObject([
      { before: 5, after: 0 },
      { before: 0, after: 5 },
      { before: 0, after: 0 },
    ])
    // The position before all changes.
    const behind = '/inventory/77/history?cursor=0_0'
    expect((await service.call('GET', behind)).text).toBe('[]')
    expect((await service.call('GET', '/inventory/404/history?cursor=0_0')).status).toBe(404)
  })
})

const ISO_OF_FIRST = new Date(START + 1_000).toISOString()

test('the edits of pets show who created, changed and removed them, also with a revoked key', async () => {
  const { id, secret: key } = await service.createKey('enterprise', { name: 'Editor' })
  for (const [method, path, body] of [
    ['POST', '/pets', { id: 900, name: 'Ivy', categoryId: 1 }],
    ['PATCH', '/pets/900', { name: 'Fern', status: 'sold' }],
    ['DELETE', '/pets/900', undefined],
  ] as const) {
    expect((await service.send(method, path, body, { key })).status).toBeLessThan(300)
  }
  await service.send('DELETE', `/keys/${id}`)
  const at = new Date(service.now).toISOString()
  const origin = { petId: 900, id: expect.any(String), at, keyId: id, keyName: 'Editor' }
  const ivy = { id: 900, name: 'Ivy', categoryId: 1, status: 'available' }
  const fern = { ...ivy, name: 'Fern', status: 'sold' }
  expect<unknown>(await rowsOn('/catalog/history?petId=900')).toEqual([
    { ...origin, change: 'removed', name: 'Fern' },
    { ...origin, change: 'changed', name: 'Fern', pet: fern, fields: ['name', 'status'] },
    { ...origin, change: 'created', name: 'Ivy', pet: ivy },
  ])
})
