import { expect, test } from 'bun:test'
import { PetstoreClient } from '@petstore/client'
import { PetLoader } from '../../../src/staff-page/data/stock/pet-loader.ts'
import { StockModel } from '../../../src/staff-page/data/stock/stock-model.ts'
import { type ReadPage, takeSearchRows } from '../../../src/staff-page/data/stock/stock-search.ts'
import { fillStock } from '../../support/desk.ts'

/** A store with the pets 1 to 99, of which the page holds none. */
function largeStore({ isDown = false } = {}) {
  const stock = new StockModel()
  stock.endLoading()
  const searched: string[] = []
  let [running, most] = [0, 0]
  const read: ReadPage = async ({ q = '' }) => {
    searched.push(q)
    most = Math.max(most, ++running)
    await Bun.sleep(1)
    running--
    if (isDown) throw new Error('down')
    const state = { categoryId: 1n, status: 'available', quantity: 4, reserved: 1, available: 3 } as const
    const items = Number(q) < 100 ? [{ petId: BigInt(q), name: `Name ${q}`, ...state }] : []
    takeSearchRows(stock, items)
    return { items, next: undefined }
  }
  const client = new PetstoreClient({
    baseUrl: 'http://store.test/v1',
    apiKey: 'key',
    retries: 0,
    fetch: async () =>
      Response.json({ code: 'not_found', message: 'no such pet', requestId: '1' }, { status: 404 }),
  })
  const pets = new PetLoader({ client, stock, signal: new AbortController().signal }, read)
  return { stock, pets, searched, mostAtOnce: () => most }
}

test('names that are shown are loaded once each, a few at a time', async () => {
  const { stock, searched, mostAtOnce } = largeStore()
  const ids = Array.from({ length: 20 }, (_, index) => BigInt(index + 1))
  for (const petId of [...ids, ...ids]) expect(stock.nameOf(petId)).toBe(`Pet ${petId}`)
  while (stock.get().rows.length < ids.length) await Bun.sleep(1)
  expect(stock.nameOf(20n)).toBe('Name 20')
  expect(stock.find(20n)).toMatchObject({ quantity: 4, reserved: 1 })
  expect(searched).toHaveLength(ids.length)
  expect(mostAtOnce()).toBe(3)
})

test('a pet that the store does not have is asked for once', async () => {
  const { stock, pets, searched } = largeStore()
  expect(await pets.load(100n).catch(String)).toContain('no such pet')
  stock.nameOf(100n)
  expect(await pets.load(100n).catch(String)).toContain('no such pet')
  expect(searched).toEqual(['100'])
})

test('after a failure nothing is asked for a while', async () => {
  const { stock, pets, searched } = largeStore({ isDown: true })
  expect(await pets.load(1n).catch(String)).toContain('down')
  for (const petId of [1n, 2n, 3n]) stock.nameOf(petId)
  expect(await pets.load(3n).catch(String)).toContain('down')
  expect(searched).toEqual(['1'])
})

test('a store that is complete loads nothing', () => {
  const { stock, searched } = largeStore()
  fillStock(stock, [{ petId: 1n, quantity: 1, status: 'available' }])
  expect(stock.nameOf(2n)).toBe('Pet 2')
  expect(searched).toEqual([])
})
