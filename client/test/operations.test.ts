import { expect, test } from 'bun:test'
import { PETS, TestService } from '../../server/test/support/test-service.ts'
import { etagOf } from '../src/request.ts'
import { clientOf, startClient } from './support/live-service.ts'

const ODD = 9007199254740993n
const LAST = 9223372036854775807n

test('ids are exact in every operation, in and out', async () => {
  const { client } = await startClient()
  const ids = PETS.map(({ id }) => id)

  expect((await client.inventory.list()).items.map(({ petId }) => petId)).toEqual(ids)
  expect((await client.catalog.list()).items.map(({ petId }) => petId)).toEqual(ids)
  expect((await client.pets.get(ODD)).id).toBe(ODD)
  const last = await client.inventory.get(LAST)
  expect(last).toEqual({ petId: LAST, quantity: 8, status: 'available' })
  expect(etagOf(last)).toBe('"8-available"')
  expect(await client.inventory.set(ODD, { quantity: 3 })).toMatchObject({ petId: ODD, quantity: 3 })
  const received = client.inventory.receive({ petId: LAST, quantity: 2 })
  expect(await received).toMatchObject({ items: [{ petId: LAST, quantity: 10, status: 'available' }] })
  expect((await client.inventory.history(LAST)).items[0]).toMatchObject({ before: 8, after: 10 })
  expect((await client.inventory.changes()).items.slice(0, 2).map(({ petId }) => petId)).toEqual([LAST, ODD])
  expect((await client.catalog.list()).items.map(({ petId }) => petId)).toEqual(ids)
  expect((await Array.fromAsync(client.orders.list()))[1]).toMatchObject({
    id: ODD,
    lines: [{ petId: LAST, quantity: 1 }],
  })
  // A number would have been rounded to this id.
  await expect(client.inventory.get(ODD - 1n)).rejects.toMatchObject({ code: 'not_found' })
})

test('limits.get returns the plan, the name, the permissions and the windows of the key', async () => {
  const service = await TestService.start()
  const { id, secret } = await service.createKey('pro', {
    name: 'The till',
    permissions: ['stock', 'orders'],
  })
  const client = clientOf(service, { apiKey: secret })
  const { minute, ...rest } = await client.limits.get()
  expect(rest).toMatchObject({
    plan: 'pro',
    key: { id, name: 'The till' },
    permissions: ['stock', 'orders'],
    day: { limit: 10_000, remaining: 10_000 },
  })
  expect(client.limits.latest).toEqual(minute)
})

test('etagOf and ifMatch change or remove any record only in the state that it names', async () => {
  const { client } = await startClient()
  const category = await client.categories.create({ name: 'Birds' })
  const renamed = await client.categories.update(
    category.id,
    { name: 'Parrots' },
    { ifMatch: etagOf(category) },
  )
  const pet = await client.pets.get(1n)
  await client.pets.update(1n, { name: 'Max' }, { ifMatch: etagOf(pet) })
  const order = await client.orders.create({ petId: 1n, quantity: 1 })
  await client.orders.update(order.id, { note: 'Call first' })
  const stale = [
    () => client.categories.remove(category.id, { ifMatch: etagOf(category) }),
    () => client.pets.update(1n, { name: 'Rex' }, { ifMatch: etagOf(pet) }),
    () => client.orders.complete(order.id, { ifMatch: etagOf(order) }),
    () => client.orders.cancel(order.id, { ifMatch: etagOf(order) }),
  ]
  for (const call of stale) await expect(call()).rejects.toMatchObject({ code: 'precondition_failed' })
  await client.categories.remove(category.id, { ifMatch: etagOf(renamed) })
  const page = await client.catalog.list()
  expect(etagOf(page.items[0] ?? {})).toBeUndefined()
})

test('events are read in pages with exact ids, from the position of an availability', async () => {
  const { client } = await startClient()
  const { items, lastEventId } = await client.inventory.availabilities({ petIds: [LAST, ODD, 404n] })
  expect(items).toEqual([
    { petId: ODD, quantity: 7, reserved: 0, available: 7 },
    { petId: LAST, quantity: 8, reserved: 1, available: 7 },
  ])
  await client.inventory.set(ODD, { quantity: 6 })
  const order = await client.orders.create({ petId: LAST, quantity: 2 })
  const first = await client.inventory.readEvents({ after: lastEventId, limit: 1 })
  expect(first.items).toMatchObject([{ kind: 'change', change: { petId: ODD, after: 6 } }])
  expect([first.next, first.lastEventId]).toEqual([first.items[0]?.id, first.items[0]?.id])
  const rest = await client.inventory.readEvents({ after: first.next, kinds: ['order'] })
  expect(rest.items).toMatchObject([
    { kind: 'order', order: { orderId: order.id, lines: [{ petId: LAST }] } },
  ])
  expect(rest.next).toBeUndefined()
  const all = await Array.fromAsync(client.inventory.readEvents({ after: lastEventId, limit: 1 }))
  expect(all.map(({ kind }) => kind)).toEqual(['change', 'order'])
  await expect(client.inventory.availabilities({ petIds: [2 ** 53] }).then()).rejects.toThrow(TypeError)
})

test('a report of movements has exact ids', async () => {
  const { client } = await startClient()
  await client.inventory.receive({ petId: LAST, quantity: 5 })
  await client.inventory.sell({ petId: LAST, quantity: 2 })
  const { rows, total, by } = await client.reports.movements({ by: 'pet' })
  expect(rows.at(-1)).toMatchObject({ petId: LAST, name: 'Last one', received: 5, sold: 2 })
  expect([by, total.received, total.sold]).toEqual(['pet', 5, 2])
})

test('await returns one page, and for await the items of all pages', async () => {
  const pets = Array.from({ length: 250 }, (_, index) => ({
    id: BigInt(index + 1),
    name: `Pet ${index}`,
    categoryId: 1n,
    status: 'available' as const,
    quantity: 0,
  }))
  const service = await TestService.start({ pets })
  let requests = 0
  const client = clientOf(service, { onResponse: () => requests++ })

  const first = await client.catalog.list({ limit: 100 })
  const second = await client.catalog.list({ limit: 100, cursor: first.next })
  const third = await client.catalog.list({ limit: 100, cursor: second.next })
  expect([first, second, third].map(({ items }) => items.length)).toEqual([100, 100, 50])
  expect(third.next).toBeUndefined()

  requests = 0
  const names: string[] = []
  for await (const { name } of client.catalog.list()) names.push(name)
  expect(names).toEqual(pets.map(({ name }) => name))
  expect(requests).toBe(1)

  const found: bigint[] = []
  for await (const { petId } of client.inventory.search({ q: 'pet', sort: '-petId' })) found.push(petId)
  expect(found).toEqual(pets.map(({ id }) => id).reverse())
  for (let quantity = 2; quantity <= 31; quantity++) await client.inventory.set(1n, { quantity })
  const changes: number[] = []
  for await (const { after } of client.inventory.history(1n)) changes.push(after)
  // The last one is the creation of the pet.
  expect(changes).toEqual([...Array.from({ length: 30 }, (_, index) => 31 - index), 0])
  const recent: number[] = []
  for await (const { after } of client.inventory.changes()) recent.push(after)
  expect(recent.slice(0, changes.length - 1)).toEqual(changes.slice(0, -1))
  expect(await client.inventory.history(1n, { limit: 1 })).toMatchObject({
    items: [{ before: 30, after: 31, keyName: 'enterprise key' }],
    next: expect.any(String),
  })
})

test('an iteration that ends early requests no more pages', async () => {
  const service = await TestService.start()
  let requests = 0
  const client = clientOf(service, { onResponse: () => requests++ })
  for await (const _ of client.catalog.list()) break
  expect(requests).toBe(1)
})
