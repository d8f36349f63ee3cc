import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type InventoryEvent, PetstoreClient, type SearchRow } from '@petstore/client'
import { TestService } from '../../../../server/test/support/test-service.ts'
import { Categories } from '../../../src/staff-page/data/catalog/categories.ts'
import { byName, categoryName } from '../../../src/staff-page/data/catalog/category-list.ts'
import { type PetList, petListSource } from '../../../src/staff-page/data/catalog/pet-list.ts'
import { LiveChanges } from '../../../src/staff-page/data/history/live-changes.ts'
import { LiveList } from '../../../src/staff-page/data/live-list.ts'
import { StockModel } from '../../../src/staff-page/data/stock/stock-model.ts'
import { lowStockSource } from '../../../src/staff-page/low-stock/low-stock-source.ts'
import {
  draftOf,
  newDraft,
  newPetOf,
  problemsOf,
  rebaseDraft,
  updateOf,
} from '../../../src/staff-page/pet-form/pet-draft.ts'

const ROW: SearchRow = {
  petId: 1n,
  name: 'Biscuit',
  categoryId: 1n,
  status: 'available',
  quantity: 4,
  reserved: 1,
  available: 3,
  barcode: '42',
  lowStockAt: 3,
  ownLowStockAt: 3,
}

describe('the draft of a pet', () => {
  test('sends what was changed, and nothing else', () => {
    const before = draftOf(ROW)
    const updateWith = (changes: Partial<typeof before>): object =>
      updateOf(before, { ...before, ...changes })
    expect(updateWith({ name: ' Biscuit ' })).toEqual({})
    expect(updateWith({ name: 'Rex', categoryId: '2', status: 'sold' })).toEqual({
      name: 'Rex',
      categoryId: 2n,
      status: 'sold',
    })
    expect(updateWith({ barcode: ' ', lowStockAt: '' })).toEqual({
      barcode: null,
      lowStockAt: null,
    })
    expect(updateWith({ lowStockAt: '0' })).toEqual({ lowStockAt: 0 })
  })

  test('of a new one leaves out what is empty, and says what is missing', () => {
    const draft = { ...newDraft(1n), name: ' Rex ' }
    expect<object>(newPetOf(draft)).toEqual({ name: 'Rex', categoryId: 1n, status: 'available', quantity: 0 })
    expect(problemsOf(draft, true)).toEqual({})
    const wrong = { ...newDraft(undefined), barcode: 'a b', lowStockAt: '-1', quantity: '' }
    expect(new Set(Object.keys(problemsOf(wrong, true)))).toEqual(
      new Set(['barcode', 'categoryId', 'lowStockAt', 'name', 'quantity']),
    )
    expect(problemsOf({ ...draftOf(ROW), quantity: '' }, false)).toEqual({})
  })

  test('follows what somebody else changes, but for what the user has changed too', () => {
    const before = draftOf(ROW)
    const mine = { ...before, name: 'Rex' }
    const theirs = { ...before, name: 'Max', barcode: '43' }
    expect(rebaseDraft(mine, before, theirs)).toEqual({
      draft: { ...mine, barcode: '43' },
      conflicts: ['name'],
    })
    expect(rebaseDraft(mine, before, { ...before, name: 'Rex' }).conflicts).toEqual([])
  })
})

describe('on a live service', () => {
  let service: TestService
  let client: PetstoreClient
  const events = new LiveChanges<InventoryEvent>()
  const ending = new AbortController()
  beforeAll(async () => {
    service = await TestService.start({ realTime: true })
    client = new PetstoreClient({ baseUrl: `${service.address}/v1`, apiKey: service.key })
    void (async () => {
      for await (const event of client.inventory.events({ signal: ending.signal })) {
        events.publish({ type: 'change', change: event })
      }
    })().catch(() => {})
  })
  afterAll(async () => {
    ending.abort()
    await service.stop()
  })

  const until = (list: PetList, holds: (rows: readonly SearchRow[]) => boolean) =>
    new Promise<readonly SearchRow[]>((resolve) => {
      const look = () => {
        if (!holds(list.get().rows)) return
        unsubscribe()
        resolve(list.get().rows)
      }
      const unsubscribe = list.subscribe(look)
      look()
    })

  test('categories have their names once the stock has its own, and anew when an unknown one is told of', async () => {
    const stock = new StockModel()
    const categories = new Categories({ client, stock, events, signal: ending.signal })
    categories.start()
    expect(categoryName(categories.get(), 1n)).toBe('')
    const known = new Promise<void>((resolve) => {
      const leave = categories.subscribe(() => {
        leave()
        resolve()
      })
    })
    stock.endLoading()
    await known
    expect(categoryName(categories.get(), 1n)).toBe('Category 1')
    const { id } = await client.categories.create({ name: 'Ants' })
    const named = new Promise<void>((resolve) => {
      categories.subscribe(() => {
        if (categories.get().byId.has(id)) resolve()
      })
    })
    await client.pets.create({ name: 'Anton', categoryId: id })
    await named
    expect(categoryName(categories.get(), id)).toBe('Ants')
    expect(byName(categories.get())[0]?.name).toBe('Ants')
    categories.drop(id)
    expect(categoryName(categories.get(), id)).toBe(`Category ${id}`)
  })

  test('what becomes low comes with the time, and what recovers goes', async () => {
    const source = lowStockSource({ client, events }, undefined)
    const list = new LiveList(petListSource(source))
    list.follow()
    const made = await client.pets.create({ name: 'Rex', categoryId: 1n, quantity: 9, lowStockAt: 3 })
    const isThere = (rows: readonly SearchRow[]) => rows.some(({ petId }) => petId === made.id)
    expect(isThere(list.get().rows)).toBe(false)
    const before = Date.now()
    await client.inventory.set(made.id, { quantity: 3 })
    const rows = await until(list, isThere)
    const { lowSince, lowStockAt } = rows.find(({ petId }) => petId === made.id) ?? {}
    expect(lowStockAt).toBe(3)
    expect(Date.parse(lowSince ?? '')).toBeGreaterThanOrEqual(before)
    await client.inventory.set(made.id, { quantity: 4 })
    await until(list, (now) => !isThere(now))
    await client.pets.update(made.id, { lowStockAt: 4 })
    await until(list, isThere)
    await client.pets.remove(made.id)
    await until(list, (now) => !isThere(now))
    list.stop()
  })
})
