import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import { addPets } from '../support/add-pets.ts'
import { TestService } from '../support/test-service.ts'

const HIGHEST = '9223372036854775807'
const PATH = '/inventory/search'
let service: TestService
beforeAll(async () => {
  service = await TestService.start()
  const made = (id: bigint, name: string, more: Partial<StockedPet> = {}): StockedPet => ({
    id,
    name,
    categoryId: 7n,
    status: 'pending',
    quantity: 4,
    ...more,
  })
  await addPets(service.store, [
    made(701n, 'Müller’s Zebrafish', { barcode: '4006381333931', lowStockAt: 4 }),
    made(702n, 'Zebrafish', { quantity: 2, status: 'sold' }),
    made(703n, 'zebra muller', { quantity: 9, lowStockAt: 8 }),
    made(BigInt(HIGHEST) - 1n, 'Zebra', { quantity: 4 }),
  ])
  await service.send('POST', '/store/orders', { petId: 703, quantity: 1 })
})
afterAll(() => service.stop())

async function found(query: string): Promise<string[]> {
  const { status, text } = await service.call('GET', `${PATH}?${query}`)
  expect([status, query]).toEqual([200, query])
  return [...text.matchAll(/\{"petId":(-?\d+)/g)].map(([, id]) => id ?? '')
}

describe('GET /inventory/search', () => {
  test('returns the record, the stock and the available units of each pet', async () => {
    const { json } = await service.call('GET', `${PATH}?q=zebra&low=true`)
    expect(json).toEqual([
      {
        petId: 701,
        name: 'Müller’s Zebrafish',
        categoryId: 7,
        status: 'pending',
        quantity: 4,
        reserved: 0,
        available: 4,
        barcode: '4006381333931',
        lowStockAt: 4,
        ownLowStockAt: 4,
        lowSince: expect.stringMatching(/Z$/),
      },
      {
        petId: 703,
        name: 'zebra muller',
        categoryId: 7,
        status: 'pending',
        quantity: 9,
        reserved: 1,
        available: 8,
        lowStockAt: 8,
        ownLowStockAt: 8,
        lowSince: expect.stringMatching(/Z$/),
      },
    ])
  })

  test.each([
    ['q=4006381333931', ['701']],
    ['q=9223372036854775806', ['9223372036854775806']],
    ['q=zebra&status=sold', ['702']],
    ['categoryId=7&below=4', ['702']],
    ['q=zebra&low=false', ['701', '702', '703', '9223372036854775806']],
    ['categoryId=7&sort=name', ['701', '9223372036854775806', '703', '702']],
    ['categoryId=7&sort=-available', ['703', '9223372036854775806', '701', '702']],
    ['categoryId=8', []],
  ])('%s', async (query, ids) => {
    expect(await found(query)).toEqual(ids)
  })

  test.each([
    ['q=+%20%09', 'q must have 1 to 200 characters and must not be blank'],
    ['q=a+b+c+d+e+f+g+h+i+j+k', 'q must have at most 10 different words, got 11'],
    ['cursor=W10', 'cursor must come from the Link header of a page'],
  ])('%s is 400 and explains why', async (query, message) => {
    const { status, error } = await service.call('GET', `${PATH}?${query}`)
    expect([status, error.message]).toEqual([400, expect.stringContaining(message)])
  })

  test('is a CSV file of the pets, page by page, if the caller prefers one', async () => {
    const csv = async (query: string) => {
      const answer = await service.call('GET', `${PATH}?${query}`, { headers: { Accept: 'text/csv' } })
      return [answer.headers.get('Content-Type'), answer.headers.get('Vary'), answer.text]
    }
    const header = 'petId,name,categoryId,status,quantity,barcode,lowStockAt,metadata,category'
    expect(await csv('q=zebrafish&sort=-petId')).toEqual([
      'text/csv',
      'Accept',
      `${header}\n702,Zebrafish,7,sold,2,,,,Category 7\n701,Müller’s Zebrafish,7,pending,4,4006381333931,4,,Category 7\n`,
    ])
    const { headers } = await service.call('GET', `${PATH}?q=zebra&limit=1`, {
      headers: { Accept: 'text/csv' },
    })
    const [, next = ''] = /cursor=([^&>]*)/.exec(headers.get('Link') ?? '') ?? []
    expect((await csv(`q=zebra&limit=1&cursor=${next}`))[2]).toBe(
      `${header}\n702,Zebrafish,7,sold,2,,,,Category 7\n`,
    )
  })

  test('the longest text is accepted, counted in characters', async () => {
    expect(await found(`q=${encodeURIComponent('𝒳'.repeat(200))}`)).toEqual([])
    expect(await found(`q=${'x%20'.repeat(99)}`)).toEqual([])
    expect(await found('q=a+b+c+d+e+f+g+h+i+j')).toEqual([])
  })

  test.each([
    'q=zebr',
    'q=zebra&sort=name',
    'q=zebra&low=true',
    'q=zebra&below=9',
    'q=zebra&categoryId=7',
    '',
  ])('a cursor of another search is rejected with %p', async (query) => {
    const first = await service.call('GET', `${PATH}?q=zebra&limit=1`)
    const cursor = /cursor=([\w-]+)/.exec(first.headers.get('Link') ?? '')?.[1]
    const { status, error } = await service.call('GET', `${PATH}?${query}&cursor=${cursor}`)
    expect([status, error.code]).toEqual([400, 'invalid_request'])
    expect(error.message).toStartWith('cursor belongs to another search')
    expect(await found(`q=zebra&limit=2&cursor=${cursor}`)).toEqual(['702', '703'])
  })

  test('a manipulated cursor is rejected and is not a failure', async () => {
    const first = await service.call('GET', `${PATH}?limit=1&sort=name`)
    const cursor = /cursor=([\w-]+)/.exec(first.headers.get('Link') ?? '')?.[1] ?? ''
    const [fingerprint] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    for (const rest of [[], ['1'], ['1', 5], ['x', 'a'], ['1', 'a\0'], ['1', '\ud800'], [HIGHEST + 1, 'a']]) {
      const forged = Buffer.from(JSON.stringify([fingerprint, ...rest])).toString('base64url')
      const { status, error } = await service.call('GET', `${PATH}?sort=name&cursor=${forged}`)
      expect([status, error.message.slice(0, 22)]).toEqual([400, 'cursor must come from the'.slice(0, 22)])
    }
  })
})
