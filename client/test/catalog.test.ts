import { expect, test } from 'bun:test'
import { PETS } from '../../server/test/support/test-service.ts'
import { isPetstoreError, type PetstoreClient } from '../src/index.ts'
import { failureOf } from './support/failure-of.ts'
import { FaultyFetch } from './support/faulty-fetch.ts'
import { clientOf, liveService, stopServicesAfterEach } from './support/live-service.ts'
import { recordedSleeps } from './support/recorded-sleeps.ts'

stopServicesAfterEach()

const ODD = 9007199254740993n
const LOWEST = -9223372036854775808n
const BARCODE = '4006381333931'

const namesOf = async (client: PetstoreClient) =>
  (await Array.fromAsync(client.allPets())).map(({ name }) => name)

test('a pet is made with its entry, changed and removed, whatever its id', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const record = { id: LOWEST, name: 'Rex', categoryId: 1n, barcode: BARCODE, lowStockAt: 2 }
  const pet = await client.createPet({ ...record, quantity: 7 })
  expect(pet).toEqual({ ...record, status: 'available' })
  expect((await client.listPets({ limit: 1 })).items).toEqual([pet])
  expect(await client.getInventoryItem(LOWEST)).toMatchObject({ petId: LOWEST, quantity: 7 })

  const changed = await client.updatePet(LOWEST, {
    name: 'Max',
    status: 'sold',
    barcode: null,
    lowStockAt: null,
  })
  expect(changed).toEqual({ id: LOWEST, name: 'Max', categoryId: 1n, status: 'sold' })
  expect(await client.removePet(LOWEST)).toBeUndefined()
  expect(await failureOf(client.removePet(LOWEST))).toMatchObject({ code: 'not_found', status: 404 })
  expect(await namesOf(client)).toEqual(PETS.map(({ name }) => name))
})

test('one without an id gets one, as a bigint', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const first = await client.createPet({ name: 'First', categoryId: 1n })
  const second = await client.createPet({ name: 'Second', categoryId: 1n })
  expect([typeof first.id, second.id]).toEqual(['bigint', first.id + 1n])
})

test('a taken id or barcode is already_exists and an unknown category invalid_request; nothing is made', async () => {
  const service = await liveService()
  const client = clientOf(service)
  await client.createPet({ name: 'Rex', categoryId: 1n, barcode: BARCODE })
  const before = await namesOf(client)
  for (const [draft, code] of [
    [{ id: ODD }, 'already_exists'],
    [{ barcode: BARCODE }, 'already_exists'],
    [{ categoryId: 404n }, 'invalid_request'],
  ] as const) {
    const error = await failureOf(client.createPet({ name: 'Max', categoryId: 1n, ...draft }))
    expect(isPetstoreError(error, code)).toBe(true)
    expect(error).toMatchObject({ mayHaveBeenMade: false })
  }
  expect(await failureOf(client.updatePet(ODD, { barcode: BARCODE }))).toMatchObject({
    code: 'already_exists',
    status: 409,
  })
  expect(await namesOf(client)).toEqual(before)
})

test('categories are made, listed over all pages, changed, and removed once they have no pets', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const known = await Array.fromAsync(client.allCategories())
  const fish = await client.createCategory({ id: ODD, name: 'Fish', lowStockAt: 20 })
  expect(fish).toEqual({ id: ODD, name: 'Fish', lowStockAt: 20 })
  expect(await Array.fromAsync(client.allCategories())).toEqual([...known, fish])
  const page = await client.listCategories({ limit: known.length })
  expect(page.items).toEqual(known)
  expect((await client.listCategories({ limit: 1, cursor: page.next })).items).toEqual([fish])
  expect(await client.updateCategory(ODD, { lowStockAt: null })).toEqual({ id: ODD, name: 'Fish' })

  const { id } = await client.createPet({ name: 'Guppy', categoryId: ODD })
  expect(await failureOf(client.removeCategory(ODD))).toMatchObject({ code: 'in_use', status: 409 })
  await client.removePet(id)
  await client.removeCategory(ODD)
  expect(await Array.fromAsync(client.allCategories())).toEqual(known)
})

test('a pet with open orders is in_use until they are over', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const { id } = await client.createPet({ name: 'Rex', categoryId: 1n, quantity: 3 })
  const order = await client.createOrder({ petId: id, quantity: 1 })
  expect(await failureOf(client.removePet(id))).toMatchObject({ code: 'in_use', status: 409 })
  await client.cancelOrder(order.id)
  await client.removePet(id)
})

test('events tell of the pet, of what is low and recovers, and that it is gone', async () => {
  const service = await liveService()
  const client = clientOf(service)
  const told: unknown[] = []
  for await (const event of client.inventoryEvents()) {
    if (event.type === 'ready') {
      const draft = { id: LOWEST, name: 'Rex', categoryId: 1n, quantity: 3, lowStockAt: 2 }
      await client.createPet(draft)
      await client.adjustInventory({ petId: LOWEST, delta: -1 }, { reason: 'sold' })
      await client.updatePet(LOWEST, { lowStockAt: 1 })
      await client.removePet(LOWEST)
    } else if (event.type === 'pet') told.push([event.change, event.petId, event.name, event.lowStockAt])
    else if (event.type === 'low' || event.type === 'recovered') {
      told.push([event.type, event.petId, event.available, event.lowStockAt])
    } else told.push(event.type)
    if (event.type === 'removed') break
  }
  expect(told).toEqual([
    ['created', LOWEST, 'Rex', 2],
    'change',
    ['low', LOWEST, 2, 2],
    ['changed', LOWEST, 'Rex', 1],
    ['recovered', LOWEST, 2, 1],
    'removed',
  ])
})

test('a pet whose answer is lost is made once', async () => {
  const service = await liveService()
  const faulty = new FaultyFetch(['after', 'midway'])
  const client = clientOf(service, { fetch: faulty.fetch, ...recordedSleeps().options })
  await client.createPet({ name: 'Once', categoryId: 1n, barcode: BARCODE })
  expect((await namesOf(clientOf(service))).filter((name) => name === 'Once')).toEqual(['Once'])
  expect(faulty.calls).toBe(3)
})
