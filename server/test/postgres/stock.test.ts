import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import type { ApplyOptions } from '../../src/core/transfer/import.ts'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { change, pet } from '../store/plain-rows.ts'
import { createReadyDatabase, type PostgresDatabase } from '../support/postgres-databases.ts'
import { removePet } from '../support/remove-pet.ts'
import { until } from '../support/until.ts'
import { historyOf } from '../support/whole-store.ts'

setDefaultTimeout(120_000)

const WAITING = `SELECT count(*) FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`
const open = (url: string): Promise<Store> => openPostgresStore(url, DEFAULT_POSTGRES_SETTINGS)

describe('stock on PostgreSQL', () => {
  let database: PostgresDatabase
  let store: Store
  let other: Store
  beforeEach(async () => {
    database = await createReadyDatabase()
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
  const changesOf = async (petId: bigint) =>
    (await historyOf(store, petId)).map(({ before, after }) => [before, after])

  test('is unchanged after a batch that failed in the database', async () => {
    await store.changeStock([change(1n, 2)])
    const unstorable = { ...change(2n, 9), keyId: 'key\0' }
    await expect(store.changeStock([change(1n, 3), unstorable])).rejects.toThrow()
    await store.changeStock([change(1n, 4), change(2n, 5)])
    expect(await changesOf(1n)).toEqual([
      [0, 2],
      [2, 4],
    ])
    expect(await changesOf(2n)).toEqual([[0, 5]])
  })

  test('changed by another instance is what the next change finds', async () => {
    await store.changeStock([change(1n, 1)])
    await other.changeStock([change(1n, 2), change(2n, 2)])
    await removePet(other, 3n)
    const outcomes = await store.changeStock([
      { ...change(1n, 3), onlyIf: [{ quantity: 1, status: 'available' }] },
      { ...change(2n, 3), onlyIf: [{ quantity: 2, status: 'available' }] },
      change(3n, 3),
    ])
    expect(outcomes).toMatchObject([
      { type: 'refused', failures: [{ code: 'precondition_failed' }] },
      { type: 'done', items: [{ petId: 2n, quantity: 3 }] },
      { type: 'refused', failures: [{ code: 'not_found' }] },
    ])
  })

  test('is returned even if a change changes nothing', async () => {
    await store.changeStock([change(1n, 1)])
    await other.changeStock([change(1n, 5)])
    expect(await store.changeStock([change(1n, 1)])).toMatchObject([{ items: [{ quantity: 1 }] }])
    expect(await changesOf(1n)).toEqual([
      [0, 1],
      [1, 5],
      [5, 1],
    ])
    await removePet(other, 1n)
    expect(await store.changeStock([change(1n, 1)])).toMatchObject([{ failures: [{ code: 'not_found' }] }])
  })

  const importPets = async (pets: readonly StockedPet[], options: Partial<ApplyOptions> = {}) => {
    const staged = await other.stagePets()
    await staged.add(pets.map((value, index) => ({ line: index + 2, value })))
    await staged.finishStaging(0)
    await staged.apply({ at: 5, keyId: 'import', ...options })
    await staged.discard()
  }
  const newPets = (count: number) => Array.from({ length: count }, (_, index) => pet(BigInt(index + 10), 7))

  test('with too many changed pets is reloaded', async () => {
    await store.changeStock([change(1n, 1)])
    await importPets(newPets(1_500))
    expect(await store.changeStock([change(1_000n, 8)])).toMatchObject([
      { item: { petId: 1_000n, quantity: 8 } },
    ])
    expect(await changesOf(1_000n)).toEqual([[7, 8]])
  })

  test('can be changed while an import writes new pets', async () => {
    await store.changeStock([change(1n, 1)])
    const written: number[] = []
    const changes: Promise<unknown>[] = []
    const onProgress = (done: number) => {
      changes.push(store.changeStock([change(1n, done)]).then(() => written.push(done)))
    }
    await importPets(newPets(45_000), { onProgress })
    expect(written.length).toBeGreaterThan(0)
    await Promise.all(changes)
  })

  test('cannot be changed while an import writes existing pets', async () => {
    await store.changeStock([change(1n, 1)])
    const somebody = database.connect()
    await somebody.unsafe('BEGIN; SELECT 1 FROM pets WHERE id = 1 FOR UPDATE')
    const importing = importPets([{ ...pet(1n, 7), name: 'Rex' }])
    await until(async () => (await number(WAITING)) === 1)
    const changing = store.changeStock([change(1n, 5)])
    const isWaiting = until(async () => (await number(WAITING)) === 2)
    expect(await Promise.race([changing, isWaiting])).toBeUndefined()
    await somebody.unsafe('COMMIT')
    await somebody.close()
    await Promise.all([importing, changing])
    expect(await changesOf(1n)).toEqual([
      [0, 1],
      [1, 7],
      [7, 5],
    ])
  })

  const stageAdjustment = async () => {
    const staged = await other.stageAdjustment()
    await staged.add([
      { line: 2, value: { petId: 1n, delta: 5 } },
      { line: 3, value: { petId: 999n, delta: -3 } },
    ])
    return staged
  }
  const stageOrders = async () => {
    const staged = await other.stageOrders()
    await staged.add([
      { line: 2, value: { id: 1n, petId: 1n, quantity: 1, complete: false } },
      { line: 3, value: { id: 2n, petId: 999n, quantity: 3, complete: false } },
    ])
    return staged
  }
  test.each([
    ['an adjustment', stageAdjustment],
    ['an import of orders', stageOrders],
  ])('of a new pet is created only after %s that names the pet', async (_, stage) => {
    await store.changeStock([change(1n, 1)])
    const staged = await stage()
    await staged.finishStaging(0)
    const somebody = database.connect()
    await somebody.unsafe('BEGIN; SELECT 1 FROM stock WHERE pet_id = 1 FOR UPDATE')
    const importing = staged.apply({ at: 5, keyId: 'import', maxExamples: 9 })
    importing.catch(() => {})
    await until(async () => (await number(WAITING)) === 1)
    const creating = store.changeStock([{ type: 'create_pet', pet: pet(999n, 10), keyId: 'key_a', at: 1 }])
    const isWaiting = until(async () => (await number(WAITING)) === 2)
    expect(await Promise.race([creating, isWaiting])).toBeUndefined()
    await somebody.unsafe('COMMIT')
    await somebody.close()
    await expect(importing).rejects.toMatchObject({ refused: { count: 1, first: [{ line: 3 }] } })
    await staged.discard()
    expect(await creating).toMatchObject([{ type: 'done' }])
    expect(await number('SELECT quantity - reserved FROM stock WHERE pet_id = 999')).toBe(10)
  })
})
