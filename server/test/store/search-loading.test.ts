import { expect, test } from 'bun:test'
import { searchOf } from '../../src/core/catalog/search.ts'
import { PetSearch } from '../../src/store/search.ts'
import { DIALECT } from '../../src/store/sqlite/dialect.ts'
import { ReadConnection } from '../../src/store/sqlite/read-connection.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { addPets } from '../support/add-pets.ts'
import { freshFile } from './fresh-file.ts'
import { ALL } from './search-model.ts'

const file = freshFile()

test('a search gets 503 if the index takes too long to load, and a result once it is loaded', async () => {
  const store = openSqliteStore(file.path)
  await addPets(store, [{ id: 1n, name: 'Rex', categoryId: 1n, status: 'available', quantity: 3 }])
  const connection = new ReadConnection(file.path)
  const gate = Promise.withResolvers<void>()
  let loads = 0
  const search = new PetSearch(
    {
      dialect: DIALECT,
      clock: { nowSql: (given) => given },
      snapshot: async () => {
        const snapshot = await connection.snapshot()
        return {
          ...snapshot,
          batches: async function* <Row>(text: string) {
            loads++
            await gate.promise
            yield* snapshot.batches<Row>(text)
          },
        }
      },
    },
    { loadTimeoutMs: 1 },
  )
  const findRex = () =>
    search.search({
      search: searchOf({ ...ALL, q: 'rex' }),
      after: undefined,
      limit: 9,
      now: 1,
      budgetMs: Number.POSITIVE_INFINITY,
    })
  const refused = { code: 'service_unavailable', message: expect.stringContaining('index is still loading') }
  await expect(findRex()).rejects.toMatchObject(refused)
  await search.follow()
  await search.startPreparing()
  await expect(findRex()).rejects.toMatchObject(refused)
  // None of them has started another load.
  expect(loads).toBe(1)
  gate.resolve()
  await search.whenLoaded()
  expect(await findRex()).toMatchObject([{ petId: 1n, quantity: 3 }])
  connection.close()
  await store.close()
})
