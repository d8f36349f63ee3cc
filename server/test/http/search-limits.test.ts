import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { CatalogStore } from '../../src/core/catalog/catalog-store.ts'
import { PetSearch } from '../../src/store/search.ts'
import { DIALECT } from '../../src/store/sqlite/dialect.ts'
import { ReadConnection } from '../../src/store/sqlite/read-connection.ts'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(120_000)

const PATH = '/inventory/search?q=biscuit'
/** What a search does before it reaches the store; each test replaces it. */
let searchPets: (original: CatalogStore['searchPets']) => CatalogStore['searchPets'] = (original) => original
let service: TestService

beforeAll(async () => {
  service = await TestService.start({
    onPostgres: false,
    wrapStore: (store) => ({
      ...store,
      searchPets: (search, window) => searchPets(store.searchPets)(search, window),
    }),
  })
})
afterAll(() => service.stop())

test('the second search of a key waits for its first, and a search of another key does not', async () => {
  const other = await service.createKey('enterprise')
  const gate = Promise.withResolvers<void>()
  let isFirst = true
  let begun = 0
  searchPets = (original) => async (search, window) => {
    begun++
    const isHeld = isFirst
    isFirst = false
    if (isHeld) await gate.promise
    return original(search, window)
  }
  const answered: string[] = []
  const send = async (name: string, key: string) => {
    const { status } = await service.call('GET', PATH, { key })
    answered.push(`${name} ${status}`)
  }
  const first = send('first', service.key)
  await until(() => begun === 1)
  const second = send('second', service.key)
  // The searches of the other key are sent later and answered earlier.
  for (const name of ['third', 'fourth', 'fifth']) await send(name, other.secret)
  expect([begun, answered]).toEqual([4, ['third 200', 'fourth 200', 'fifth 200']])
  gate.resolve()
  await Promise.all([first, second])
  expect([begun, answered.slice(3)]).toEqual([5, ['first 200', 'second 200']])
})

test('a search that exceeds its time budget gets 400 with advice', async () => {
  const connection = new ReadConnection(service.databasePath)
  const index = new PetSearch({
    dialect: DIALECT,
    clock: { nowSql: (given) => given },
    snapshot: () => connection.snapshot(),
  })
  searchPets = () => (search, window) => index.search({ search, ...window, now: service.now, budgetMs: 0 })
  const { status, error } = await service.call('GET', `${PATH}&sort=-available`)
  connection.close()
  expect([status, error.code]).toEqual([400, 'invalid_request'])
  expect(error.message).toContain('narrow it with more or longer words in q')
})

test('a search while the index is loaded gets 503 with Retry-After', async () => {
  const connection = new ReadConnection(service.databasePath)
  const gate = Promise.withResolvers<void>()
  const index = new PetSearch(
    {
      dialect: DIALECT,
      clock: { nowSql: (given) => given },
      snapshot: async () => {
        const snapshot = await connection.snapshot()
        return {
          ...snapshot,
          batches: async function* <Row>(text: string) {
            await gate.promise
            yield* snapshot.batches<Row>(text)
          },
        }
      },
    },
    { loadTimeoutMs: 1 },
  )
  searchPets = () => (search, window) =>
    index.search({ search, ...window, now: service.now, budgetMs: 60_000 })
  const refused = await service.call('GET', PATH)
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '1'])
  expect(refused.error.message).toContain('the search index is still loading')
  gate.resolve()
  await index.whenLoaded()
  expect((await service.call('GET', PATH)).status).toBe(200)
  connection.close()
})
