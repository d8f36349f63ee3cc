import { expect, test } from 'bun:test'
import { PETS } from '../../server/test/support/test-service.ts'
import type { PetstoreClient } from '../src/index.ts'
import { failureOf } from './support/failure-of.ts'
import { startClient } from './support/live-service.ts'

const ODD = 9007199254740993n
const LOWEST = -9223372036854775808n
const BARCODE = '4006381333931'

const namesOf = async (client: PetstoreClient) =>
  (await Array.fromAsync(client.catalog.list())).map(({ name }) => name)

test('a pet is created with its entry, changed and removed, whatever its id', async () => {
  const { client } = await startClient()
  const record = { id: LOWEST, name: 'Rex', categoryId: 1n, barcode: BARCODE, lowStockAt: 2 }
  const pet = await client.pets.create({ ...record, quantity: 7 })
  expect(pet).toEqual({ ...record, status: 'available' })
  expect(await client.pets.get(LOWEST)).toEqual(pet)
  expect(await client.inventory.get(LOWEST)).toMatchObject({ petId: LOWEST, quantity: 7 })

  const changed = await client.pets.update(LOWEST, {
    name: 'Max',
    status: 'sold',
    barcode: null,
    lowStockAt: null,
  })
  expect(changed).toEqual({ id: LOWEST, name: 'Max', categoryId: 1n, status: 'sold' })
  expect(await client.pets.remove(LOWEST)).toBeUndefined()
  expect(await failureOf(client.pets.remove(LOWEST))).toMatchObject({ code: 'not_found', status: 404 })
  expect(await namesOf(client)).toEqual(PETS.map(({ name }) => name))
})

test('the history of pets has each edit once, newest first, with exact ids', async () => {
  const { client } = await startClient()
  await client.pets.create({ id: LOWEST, name: 'Rex', categoryId: 1n })
  await client.pets.update(LOWEST, { barcode: BARCODE })
  await client.pets.remove(LOWEST)
  const pet = { id: LOWEST, name: 'Rex', categoryId: 1n, status: 'available' } as const
  expect(await Array.fromAsync(client.pets.history({ petId: LOWEST, limit: 1 }))).toMatchObject([
    { petId: LOWEST, change: 'removed', name: 'Rex' },
    { change: 'changed', pet: { ...pet, barcode: BARCODE }, fields: ['barcode'] },
    { change: 'created', pet },
  ])
})

test('categories are created, listed over all pages, changed, and removed when they have no pets', async () => {
  const { client } = await startClient()
  const known = await Array.fromAsync(client.categories.list())
  const fish = await client.categories.create({ id: ODD, name: 'Fish', lowStockAt: 20 })
  expect(fish).toEqual({ id: ODD, name: 'Fish', lowStockAt: 20 })
  expect(await Array.fromAsync(client.categories.list())).toEqual([...known, fish])
  const page = await client.categories.list({ limit: known.length })
  expect(page.items).toEqual(known)
  expect((await client.categories.list({ limit: 1, cursor: page.next })).items).toEqual([fish])
  expect(await client.categories.update(ODD, { lowStockAt: null })).toEqual({ id: ODD, name: 'Fish' })

  const { id } = await client.pets.create({ name: 'Guppy', categoryId: ODD })
  expect(await failureOf(client.categories.remove(ODD))).toMatchObject({ code: 'in_use', status: 409 })
  await client.pets.remove(id)
  await client.categories.remove(ODD)
  expect(await Array.fromAsync(client.categories.list())).toEqual(known)
})

test('searchCsv joins the pages of a file', async () => {
  const { client } = await startClient()
  const text = await client.inventory.searchCsv({ status: 'available' })
  expect(text.split('\n').length).toBeGreaterThan(2)
  const { items } = await client.inventory.search({ status: 'available' })
  expect(text.match(/^-?\d+(?=,)/gm)).toEqual(expect.arrayContaining(items.map(({ petId }) => String(petId))))
  expect(await client.imports.file(text, { dryRun: true })).toMatchObject({ unchanged: items.length })
  const inParts: { readonly limit: number } = { limit: 1 }
  expect(await client.inventory.searchCsv({ status: 'available', ...inParts })).toBe(text)
})

test('events report the pet, its low stock and recovery, and its removal', async () => {
  const { client } = await startClient()
  const reported: unknown[] = []
  for await (const event of client.inventory.events()) {
    if (event.type === 'ready') {
      const draft = { id: LOWEST, name: 'Rex', categoryId: 1n, quantity: 3, lowStockAt: 2 }
      await client.pets.create(draft)
      await client.inventory.sell({ petId: LOWEST, quantity: 1 })
      await client.pets.update(LOWEST, { lowStockAt: 1 })
      await client.pets.remove(LOWEST)
    } else if (event.type === 'pet') reported.push([event.change, event.petId, event.name, event.lowStockAt])
    else if (event.type === 'low' || event.type === 'recovered') {
      reported.push([event.type, event.petId, event.available, event.lowStockAt])
    } else reported.push(event.type)
    if (event.type === 'removed') break
  }
  expect(reported).toEqual([
    ['created', LOWEST, 'Rex', 2],
    'change',
    ['low', LOWEST, 2, 2],
    ['changed', LOWEST, 'Rex', 1],
    ['recovered', LOWEST, 2, 1],
    'removed',
  ])
})
