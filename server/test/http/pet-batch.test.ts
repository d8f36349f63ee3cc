import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Answer, type CallOptions, TestService } from '../support/test-service.ts'

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

const upsert = (pets: unknown, options?: CallOptions) =>
  service.send('POST', '/pets/batch', { pets }, options)
const resultOf = (answer: Answer) => {
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.json as BatchResult
}
const petOf = async (id: number) => (await service.call('GET', `/catalog/${id}`)).json
const quantityOf = async (id: number) => (await service.call('GET', `/inventory/${id}`)).item.quantity
const allPets = async () => (await service.call('GET', '/catalog?limit=10000')).text

describe('POST /pets/batch', () => {
  test('creates and updates pets as one request, in the order of the request', async () => {
    const { secret: key } = await service.createKey('pro')
    const answer = await upsert(
      [
        { name: 'First', categoryId: 1, quantity: 4, barcode: 'PB-1', lowStockAt: 2 },
        { id: 1, name: 'Renamed', quantity: 9 },
        { id: 9007199254740993n, name: 'Still odd' },
        { id: 700, name: 'Chosen', categoryId: 2, status: 'pending', barcode: null },
      ],
      { key },
    )
    expect([answer.status, answer.headers.get('X-RateLimit-Remaining')]).toEqual([200, '299'])
    expect(answer.text).toContain('"id":9007199254740993,"name":"Still odd"')
    const { pets, created, updated } = resultOf(answer)
    const id = pets[0]?.id ?? 0
    const first = { id, name: 'First', categoryId: 1, status: 'available', barcode: 'PB-1', lowStockAt: 2 }
    const chosen = { id: 700, name: 'Chosen', categoryId: 2, status: 'pending' }
    expect<unknown>([created, updated, pets[0], pets[3]]).toEqual([2, 2, first, chosen])
    expect(await Promise.all([id, 700].map(petOf))).toEqual([first, chosen])
    expect(await Promise.all([id, 1, 700].map(quantityOf))).toEqual([4, 9, 0])
    const [corrected] = (await service.call('GET', '/inventory/1/history')).json as object[]
    expect(corrected).toMatchObject({ before: 4, after: 9, reason: 'corrected' })
    const found = await service.call('GET', '/inventory/search?q=chosen')
    expect(found.items.map(({ petId }) => petId)).toEqual([700])
  })

  test('is all or nothing: details lists every pet that cannot be saved', async () => {
    const before = await allPets()
    const { error } = await upsert([
      { name: 'Good', categoryId: 1 },
      { id: 1, barcode: 'PB-1' },
      { id: 1_700, name: 'No category' },
      { id: 2, categoryId: 404 },
    ])
    expect(error).toMatchObject({
      code: 'invalid_request',
      status: 400,
      field: 'pets[2].categoryId',
      details: [
        { index: 1, petId: 1, code: 'already_exists' },
        { index: 2, petId: 1_700, field: 'categoryId' },
        { index: 3, petId: 2, message: expect.stringContaining('there is no category 404') },
      ],
    })
    expect(error.message).toContain('3 pets cannot be saved, so nothing was changed')
    expect(error.message).toContain('The error code comes from pets[2]: categoryId is missing')
    const taken = await upsert([{ id: 1, barcode: 'PB-1' }])
    expect(taken.error).toMatchObject({ code: 'already_exists', status: 409 })
    expect(taken.error.message).toMatch(/^barcode PB-1 is already used by pet \d+; nothing was changed$/)
    expect(await allPets()).toBe(before)
  })

  test.each<[unknown, string, string]>([
    [[{ id: 1 }, { id: 1 }], 'pets[1].id', 'id 1 occurs twice in the batch'],
    [[1, 2].map((id) => ({ id, barcode: 'D' })), 'pets[1].barcode', 'barcode D occurs twice in the batch'],
    [[{ id: 1 }, { id: 2, nmae: 'Rex' }], 'pets[1].nmae', 'unknown field "nmae" (did you mean name?)'],
    [Array(1_001).fill({}), 'pets', 'pets must be an array of 1 to 1000 pets, got 1001 of them'],
  ])('%j is rejected at %s', async (pets, field, message) => {
    const { error } = await upsert(pets)
    expect(error).toMatchObject({ status: 400, field, message: expect.stringContaining(message) })
  })

  test('needs the permission stock to change the quantity of a pet, also of a new one', async () => {
    const { secret: key } = await service.createKey('pro', { permissions: ['pets'] })
    const before = await allPets()
    const { error } = await upsert(
      [
        { name: 'Empty', categoryId: 1 },
        { id: 2, quantity: 6 },
      ],
      { key },
    )
    expect(error).toMatchObject({ code: 'forbidden', status: 403, field: 'pets[1].quantity' })
    expect([await allPets(), await quantityOf(2)]).toEqual([before, 1])
    expect((await upsert([{ id: 2, name: 'Same', quantity: 1 }], { key })).status).toBe(200)
  })
})
