import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { Store } from '../../src/core/store.ts'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import { lateStockSuite } from '../store/late-stock-suite.ts'
import { change, pet } from '../store/plain-rows.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'

setDefaultTimeout(60_000)

const MOST_LATE = 4
let latest: TestDatabase | undefined
const open = (url: string | undefined, mostLate = MOST_LATE): Promise<Store> =>
  openPostgresStore(url ?? '', { ...DEFAULT_POSTGRES_SETTINGS, mostLate })

const postgres = {
  create: async () => {
    await latest?.drop()
    latest = await createDatabase()
  },
  open: () => open(latest?.url),
}
afterAll(() => latest?.drop())
lateStockSuite('PostgreSQL', postgres, { runs: 8, steps: 40 })

describe('stock on PostgreSQL', () => {
  let database: TestDatabase
  let store: Store
  let other: Store
  beforeEach(async () => {
    database = await createDatabase()
    store = await open(database.url)
    await store.addPets([1n, 2n, 3n].map((id) => pet(id, 0)))
    other = await open(database.url)
  })
  afterEach(async () => {
    await store.close()
    await other.close()
    await database.drop()
  })
  const number = async (sql: string) => Number((await database.run(`SELECT (${sql}) AS found`))[0]?.found)
  const historyOf = async (petId: bigint) =>
    (await store.listHistory(petId)).map(({ before, after }) => [before, after])

  test('is settled while changes go on, so that few are late', async () => {
    let quantity = 0
    const changeAll = () => store.setQuantities([1n, 2n, 3n].map((petId) => change(petId, ++quantity)))
    for (let round = 0; round < 20; round++) await changeAll()
    await until(async () => {
      await changeAll()
      return (await number('SELECT position - up_to FROM log_head, settled')) <= MOST_LATE
    })
    expect(await number('SELECT sum(quantity) FROM stock')).toBe(3 * quantity - 3)
    expect(await number('SELECT min(quantity) FROM settled_stock')).toBeGreaterThan(quantity - 2 * MOST_LATE)
  })

  test('does not remember what a batch that failed in the database would have changed', async () => {
    await store.setQuantities([change(1n, 2)])
    const unstorable = { ...change(2n, 9), keyId: 'key\0' }
    await expect(store.setQuantities([change(1n, 3), unstorable])).rejects.toThrow()
    await store.setQuantities([change(1n, 4), change(2n, 5)])
    expect(await historyOf(1n)).toEqual([
      [0, 2],
      [2, 4],
    ])
    expect(await historyOf(2n)).toEqual([[0, 5]])
  })

  test('that another instance changed is known before the next change is made', async () => {
    await store.setQuantities([change(1n, 1)])
    await other.setQuantities([change(1n, 2), change(2n, 2)])
    await other.removePet(3n)
    const outcomes = await store.setQuantities([
      { ...change(1n, 3), onlyIf: [{ quantity: 1, status: 'available' }] },
      { ...change(2n, 3), onlyIf: [{ quantity: 2, status: 'available' }] },
      change(3n, 3),
    ])
    expect(outcomes).toEqual([
      { conflict: { petId: 1n, quantity: 2, status: 'available' } },
      { petId: 2n, quantity: 3, status: 'available' },
      'unknown_pet',
    ])
  })

  test('is answered as it is, also where a change changes nothing', async () => {
    await store.setQuantities([change(1n, 1)])
    await other.setQuantities([change(1n, 5)])
    expect(await store.setQuantities([change(1n, 1)])).toMatchObject([{ quantity: 1 }])
    expect(await historyOf(1n)).toEqual([
      [0, 1],
      [1, 5],
      [5, 1],
    ])
    await other.removePet(1n)
    expect(await store.setQuantities([change(1n, 1)])).toEqual(['unknown_pet'])
  })

  test('of more pets than are told one by one is read again', async () => {
    await store.setQuantities([change(1n, 1)])
    const staged = await other.stagePets()
    const rows = Array.from({ length: 1_500 }, (_, index) => pet(BigInt(index + 10), 7))
    await staged.add(rows.map((value, index) => ({ line: index + 2, value })))
    await staged.seal(0)
    await staged.apply({ at: 5, keyId: 'import' })
    await staged.discard()
    expect(await store.setQuantities([change(1_000n, 8)])).toMatchObject([{ petId: 1_000n, quantity: 8 }])
    expect(await historyOf(1_000n)).toEqual([[7, 8]])
  })

  test('can be changed while an import writes pets that are new', async () => {
    await store.setQuantities([change(1n, 1)])
    const staged = await other.stagePets()
    const rows = Array.from({ length: 45_000 }, (_, index) => pet(BigInt(index + 10), 7))
    await staged.add(rows.map((value, index) => ({ line: index + 2, value })))
    await staged.seal(0)
    const written: number[] = []
    await staged.apply({
      at: 5,
      keyId: 'import',
      onProgress: (done) => {
        void store.setQuantities([change(1n, done)]).then(() => written.push(done))
      },
    })
    expect(written.length).toBeGreaterThan(0)
    await staged.discard()
  })
})
