import { afterAll, beforeAll, expect, test } from 'bun:test'
import { TestService } from '../support/test-service.ts'

const categoryChanged = Promise.withResolvers<void>()
const resume = Promise.withResolvers<void>()

let service: TestService
beforeAll(async () => {
  service = await TestService.start({
    pets: [1n, 2n, 3n].map((id) => ({
      id,
      name: `Pet ${id}`,
      categoryId: 1n,
      status: 'available',
      quantity: 5,
    })),
    wrapStore: (store) => ({
      ...store,
      petsWithOldThreshold: async (categoryId) => {
        categoryChanged.resolve()
        await resume.promise
        return store.petsWithOldThreshold(categoryId)
      },
    }),
  })
})
afterAll(() => service.stop())

const patch = (path: string, body: object) => service.send('PATCH', path, body)
const lowPets = async () => {
  const search = { order: { by: 'petId', isDescending: false }, isLow: true } as const
  const found = await service.store.searchPets(search, { limit: 9, after: undefined })
  return found.map(({ petId }) => petId)
}

test('pets can change before they have the new threshold of their category, and have it when the response is sent', async () => {
  const changed = patch('/categories/1', { lowStockAt: 5 })
  // The response comes first if the commit of the category also writes the pets.
  expect(await Promise.race([categoryChanged.promise, changed])).toBeUndefined()
  expect((await patch('/inventory/1', { quantity: 4 })).status).toBe(200)
  expect((await patch('/inventory/2', { quantity: 6 })).status).toBe(200)
  expect(await lowPets()).toEqual([])
  expect(await service.store.findDamage()).toEqual([])
  resume.resolve()
  expect((await changed).status).toBe(200)
  expect(await lowPets()).toEqual([1n, 3n])
  expect(await service.store.findDamage()).toEqual([])
})
