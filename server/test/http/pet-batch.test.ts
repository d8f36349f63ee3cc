import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ErrorDetail } from '../../src/core/values/errors.ts'
import { type Answer, TestService } from '../support/test-service.ts'

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

interface BatchResult {
  readonly pets: readonly { readonly id: number; readonly name: string }[]
  readonly created: number
  readonly updated: number
}

const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  service.call('POST', path, {
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...headers },
  })
const upsert = (pets: readonly unknown[], headers = {}) => post('/pets/batch', { pets }, headers)
const resultOf = (answer: Answer) => {
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json as BatchResult
}
const idOf = (answer: Answer) => (answer.json as { readonly id: number }).id
const createOne = async (fields: object) =>
  idOf(await post('/pets', { name: 'One', categoryId: 1, ...fields }))
const petOf = async (id: number) => (await service.call('GET', `/catalog/${id}`)).json
const quantityOf = async (id: number) => (await service.call('GET', `/inventory/${id}`)).item.quantity
const allPets = async () => (await service.call('GET', '/catalog?limit=10000')).text
const detailsOf = (answer: Answer) => (answer.json as { readonly details: readonly ErrorDetail[] }).details

async function eventsDuring(work: () => Promise<unknown>): Promise<unknown[]> {
  const start = await service.store.latestEventCursor()
  await work()
  const found = await service.store.eventsAfter(start, 10_000)
  if (typeof found === 'string') throw new Error(`the events cannot be read: ${found}`)
  return found.events.map(({ cursor: _, ...event }) => event)
}

describe('POST /pets/batch', () => {
  test('creates pets with and without a chosen id, in the order of the request', async () => {
    const answer = await upsert([
      { name: 'First', categoryId: 1, quantity: 4, barcode: 'PB-1', lowStockAt: 2 },
      { id: 700, name: 'Chosen', categoryId: 2, status: 'pending' },
      { name: 'Plain', categoryId: 1, barcode: null, lowStockAt: null },
    ])
    const { pets, created, updated } = resultOf(answer)
    const [first, chosen, plain] = pets
    expect({ created, updated, ids: new Set(pets.map(({ id }) => id)).size }).toEqual({
      created: 3,
      updated: 0,
      ids: 3,
    })
    expect<unknown>(first).toEqual({
      id: first?.id,
      name: 'First',
      categoryId: 1,
      status: 'available',
      barcode: 'PB-1',
      lowStockAt: 2,
    })
    expect<unknown>(chosen).toEqual({ id: 700, name: 'Chosen', categoryId: 2, status: 'pending' })
    expect(await Promise.all(pets.map(({ id }) => petOf(id)))).toEqual([...pets])
    expect(await Promise.all(pets.map(({ id }) => quantityOf(id)))).toEqual([4, 0, 0])
    const found = await service.call('GET', '/inventory/search?q=chosen')
    expect(found.items.map(({ petId }) => petId)).toEqual([700])
    expect(plain?.id).not.toBe(700)
  })

  test('never generates an id that another pet of the batch has chosen', async () => {
    const next = (await createOne({})) + 1
    const { pets } = resultOf(
      await upsert([
        { name: 'Generated', categoryId: 1 },
        { id: next, name: 'Chosen', categoryId: 1 },
        { name: 'Generated too', categoryId: 1 },
      ]),
    )
    expect(new Set(pets.map(({ id }) => id)).size).toBe(3)
    expect(pets[1]).toMatchObject({ id: next, name: 'Chosen' })
  })

  test('ids are exact', async () => {
    const answer = await post('/pets/batch', '{"pets": [{"id": 9007199254740993, "name": "Still odd"}]}')
    expect(answer.text).toContain('"id":9007199254740993,"name":"Still odd"')
  })

  test('updates only the given fields, and null removes a value', async () => {
    const id = await createOne({ quantity: 3, barcode: 'PB-U', lowStockAt: 1 })
    const { pets, created, updated } = resultOf(await upsert([{ id, name: 'Renamed', status: 'sold' }]))
    const renamed = { id, name: 'Renamed', categoryId: 1, status: 'sold', barcode: 'PB-U', lowStockAt: 1 }
    expect([pets, created, updated]).toEqual([[renamed], 0, 1])
    expect(await quantityOf(id)).toBe(3)
    await upsert([{ id, barcode: null, lowStockAt: null, categoryId: 2 }])
    expect(await petOf(id)).toEqual({ id, name: 'Renamed', categoryId: 2, status: 'sold' })
  })

  test('a quantity of an existing pet is a change with the reason corrected', async () => {
    const id = await createOne({ quantity: 3 })
    await upsert([{ id, quantity: 8 }])
    await upsert([{ id, quantity: 5, name: 'Renamed' }])
    expect(await quantityOf(id)).toBe(5)
    const history = (await service.call('GET', `/inventory/${id}/history`)).json
    expect(history).toMatchObject([
      { before: 8, after: 5, reason: 'corrected' },
      { before: 3, after: 8, reason: 'corrected' },
      { before: 0, after: 3 },
    ])
  })

  test('writes the events of single changes: pets, quantities and crossings', async () => {
    const id = await createOne({ quantity: 9, lowStockAt: 2 })
    const newId = id + 1_000
    const events = await eventsDuring(() =>
      upsert([
        { id, quantity: 1, name: 'Nearly gone' },
        { id: newId, name: 'New and low', categoryId: 1, quantity: 1, lowStockAt: 1 },
      ]),
    )
    expect(events).toMatchObject([
      { kind: 'pet', petId: BigInt(id), change: 'changed', name: 'Nearly gone', quantity: 9 },
      { kind: 'change', petId: BigInt(id), before: 9, after: 1, reason: 'corrected' },
      { kind: 'pet', petId: BigInt(newId), change: 'created', quantity: 1 },
      { kind: 'low', petId: BigInt(id), available: 1 },
      { kind: 'low', petId: BigInt(newId), available: 1 },
    ])
  })

  test('a batch that changes nothing writes no events', async () => {
    const id = await createOne({ quantity: 9, barcode: 'PB-S' })
    const same = { id, name: 'One', quantity: 9, barcode: 'PB-S' }
    expect(await eventsDuring(() => upsert([same, { id: 1 }]))).toEqual([])
    expect(resultOf(await upsert([same])).updated).toBe(1)
  })

  test('pets of a batch may pass on and swap their barcodes', async () => {
    const one = await createOne({ barcode: 'PB-X' })
    const other = await createOne({ barcode: 'PB-Y' })
    resultOf(
      await upsert([
        { id: one, barcode: 'PB-Y' },
        { id: other, barcode: 'PB-X' },
      ]),
    )
    expect(await petOf(one)).toMatchObject({ barcode: 'PB-Y' })
    resultOf(
      await upsert([
        { name: 'Heir', categoryId: 1, barcode: 'PB-Y' },
        { id: one, barcode: null },
      ]),
    )
    const refused = await upsert([
      { id: one, barcode: 'PB-Y' },
      { id: other, barcode: 'PB-Y-2' },
    ])
    expect([refused.status, refused.error.code]).toEqual([409, 'already_exists'])
  })

  test('a barcode of a pet that keeps it is 409, in or outside the batch', async () => {
    const owner = await createOne({ barcode: 'PB-K' })
    const wish = { name: 'Wishes', categoryId: 1, barcode: 'PB-K' }
    for (const batch of [[wish], [wish, { id: owner, name: 'Keeps it' }]]) {
      const answer = await upsert(batch)
      const message = `barcode PB-K is already used by pet ${owner}`
      expect(answer.error).toMatchObject({
        code: 'already_exists',
        status: 409,
        message: `${message}; nothing was changed`,
      })
      expect(detailsOf(answer)).toEqual([{ index: 0, code: 'already_exists', message }])
    }
  })

  test('all or nothing: details lists every pet that cannot be saved', async () => {
    const owner = await createOne({ barcode: 'PB-T' })
    const before = await allPets()
    const answer = await upsert([
      { name: 'Good', categoryId: 1 },
      { id: 1, barcode: 'PB-T' },
      { id: 1_700, name: 'No category' },
      { id: 1_701 },
      { categoryId: 1 },
      { id: 2, categoryId: 404 },
    ])
    expect(answer.error).toMatchObject({ code: 'invalid_request', status: 400, field: 'pets[2].categoryId' })
    expect(answer.error.message).toContain('5 pets cannot be saved, so nothing was changed')
    expect(answer.error.message).toContain('The error code comes from pets[2]: categoryId is missing')
    expect(detailsOf(answer)).toMatchObject([
      {
        index: 1,
        petId: 1,
        code: 'already_exists',
        message: `barcode PB-T is already used by pet ${owner}`,
      },
      { index: 2, petId: 1_700, code: 'invalid_request', field: 'categoryId' },
      {
        index: 3,
        petId: 1_701,
        code: 'invalid_request',
        message:
          'name and categoryId are missing: there is no pet 1701, and a new pet needs a name and a categoryId',
      },
      { index: 4, code: 'invalid_request', field: 'name' },
      {
        index: 5,
        petId: 2,
        code: 'invalid_request',
        field: 'categoryId',
        message: expect.stringContaining('there is no category 404; add it with POST /categories'),
      },
    ])
    expect(await allPets()).toBe(before)
    expect((await createOne({})) > owner).toBe(true)
  })

  test.each<[unknown, string, string]>([
    [{}, 'pets', 'pets must be an array of 1 to 1000 pets, got nothing'],
    [{ pets: [] }, 'pets', 'pets must be an array of 1 to 1000 pets, got 0 of them'],
    [{ pets: [{ id: 1 }], pet: 1 }, 'pet', 'unknown field "pet"'],
    [
      { pets: [{ id: 1 }, { id: 2 }, { id: 3 }, { name: 'Rex', nmae: 'Rex' }] },
      'pets[3].nmae',
      'unknown field "nmae" (did you mean name?)',
    ],
    [{ pets: [{ id: 1, name: null }] }, 'pets[0].name', 'name must be 1 to 200 characters'],
    [{ pets: [{ id: 1, quantity: -1 }] }, 'pets[0].quantity', 'quantity must be an integer from 0'],
    [{ pets: [{ id: 1, quantity: null }] }, 'pets[0].quantity', 'quantity must be an integer from 0'],
    [{ pets: [{ id: 1 }, { id: 1 }] }, 'pets[1].id', 'id 1 occurs twice in the batch'],
    [
      {
        pets: [
          { id: 1, barcode: 'D' },
          { id: 2, barcode: 'D' },
        ],
      },
      'pets[1].barcode',
      'barcode D occurs twice in the batch',
    ],
    [{ pets: [{ id: 1, categoryId: 404 }] }, 'pets[0].categoryId', 'there is no category 404'],
    [{ pets: [{ name: 'Rex' }] }, 'pets[0].categoryId', 'categoryId is missing'],
  ])('%j is rejected at %s', async (body, field, message) => {
    const before = await allPets()
    const { error } = await post('/pets/batch', body)
    expect(error).toMatchObject({
      status: 400,
      code: 'invalid_request',
      field,
      message: expect.stringContaining(message),
    })
    expect(await allPets()).toBe(before)
  })

  test('a pet that is not an object is rejected, together with the other invalid pets', async () => {
    const answer = await upsert([5, null, { id: 'x' }])
    expect(detailsOf(answer)).toMatchObject([{ index: 0 }, { index: 1 }, { index: 2, field: 'id' }])
  })

  test('1,000 pets are created and updated at once; 1,001 are rejected', async () => {
    const rows = Array.from({ length: 1_001 }, (_, index) => ({
      name: `Pet ${index}`,
      categoryId: 1,
      quantity: 5,
      barcode: `PB-${index}-1000`,
      lowStockAt: 7,
    }))
    const before = await allPets()
    const tooMany = await upsert(rows)
    expect([tooMany.status, tooMany.error.field]).toEqual([400, 'pets'])
    expect(await allPets()).toBe(before)
    const { pets, created } = resultOf(await upsert(rows.slice(1)))
    expect([created, pets.length, pets[999]?.name]).toEqual([1_000, 1_000, 'Pet 1000'])
    // Every pet writes three log rows: its record, its quantity, and that it is no longer low.
    const updates = pets.map(({ id, name }) => ({ id, name: `${name}!`, quantity: 8 }))
    const events = await eventsDuring(() => upsert(updates))
    expect(
      Map.groupBy(events, (event) => (event as { kind: string }).kind)
        .keys()
        .toArray(),
    ).toEqual(['pet', 'change', 'recovered'])
    expect(events.length).toBe(3_000)
  })

  test('releases expired holds of its pets', async () => {
    const id = await createOne({ quantity: 3, lowStockAt: 1 })
    await post('/store/orders', { petId: id, quantity: 2, holdSeconds: 60 })
    service.now += 61_000
    resultOf(await upsert([{ id, quantity: 2 }]))
    const { reserved } = (await service.call('GET', `/inventory/${id}/availability`)).json as {
      readonly reserved: number
    }
    expect(reserved).toBe(0)
  })

  test('sent twice with an Idempotency-Key, it is decided once, unless it is invalid', async () => {
    const headers = { 'Idempotency-Key': 'batch-once' }
    const batch = [{ name: 'Once', categoryId: 1, quantity: 2 }]
    const first = await upsert(batch, headers)
    const again = await upsert(batch, headers)
    expect([again.status, again.text]).toEqual([200, first.text])
    expect(again.headers.get('Idempotency-Replayed')).toBe('true')
    const invalid = { 'Idempotency-Key': 'batch-invalid' }
    expect((await upsert([{ name: 'Early', categoryId: 90 }], invalid)).status).toBe(400)
    await post('/categories', { id: 90, name: 'Late' })
    expect((await upsert([{ name: 'Early', categoryId: 90 }], invalid)).status).toBe(200)
  })

  test('needs the permission stock to change the quantity of a pet, also of a new one', async () => {
    const { secret } = await service.createKey('pro', { permissions: ['pets'] })
    const id = await createOne({ quantity: 5 })
    const headers = { 'Content-Type': 'application/json' }
    const send = (pets: readonly unknown[]) =>
      service.call('POST', '/pets/batch', { key: secret, headers, body: JSON.stringify({ pets }) })
    const before = await allPets()
    const refused = await send([
      { name: 'Empty', categoryId: 1, quantity: 0 },
      { name: 'New', categoryId: 1, quantity: 3 },
      { id, quantity: 6 },
    ])
    expect([refused.status, refused.error.code, refused.error.field]).toEqual([
      403,
      'forbidden',
      'pets[1].quantity',
    ])
    const { details } = refused.json as { details: readonly { index: number }[] }
    expect(details.map(({ index }) => index)).toEqual([1, 2])
    expect([await allPets(), await quantityOf(id)]).toEqual([before, 5])
    expect(
      (
        await send([
          { name: 'Empty', categoryId: 1, quantity: 0 },
          { name: 'Without a quantity', categoryId: 1 },
          { id, name: 'Same', quantity: 5 },
        ])
      ).status,
    ).toBe(200)
  })

  test('counts as one request', async () => {
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 10, perDay: 10 } })
    const answer = await service.call('POST', '/pets/batch', {
      key: secret,
      body: JSON.stringify({ pets: [{ id: 1 }, { id: 2 }, { id: 3 }] }),
      headers: { 'Content-Type': 'application/json' },
    })
    expect([answer.status, answer.headers.get('X-RateLimit-Remaining')]).toEqual([200, '9'])
  })

  test('batches of the same pets at once are made one after the other', async () => {
    const ids = Array.from({ length: 50 }, (_, index) => 8_000 + index)
    const batchOf = (word: string) =>
      ids.map((id) => ({ id, name: `${word} ${id}`, categoryId: 1, barcode: `${word}-${id}` }))
    const words = ['a', 'b', 'c', 'd', 'e', 'f']
    const answers = await Promise.all(
      words.map((word, index) => {
        const batch = batchOf(word)
        return upsert(index % 2 === 0 ? batch : batch.reverse())
      }),
    )
    const results = answers.map(resultOf)
    expect(results.map(({ created }) => created).sort((one, other) => other - one)).toEqual([
      50, 0, 0, 0, 0, 0,
    ])
    const names = await Promise.all(ids.map(async (id) => ((await petOf(id)) as { name: string }).name[0]))
    expect(new Set(names).size).toBe(1)
  })
})
