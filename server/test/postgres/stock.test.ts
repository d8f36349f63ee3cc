import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { change, pet } from '../store/plain-rows.ts'
import { addPets } from '../support/add-pets.ts'
import { groupCommit } from '../support/apply-thresholds.ts'
import { createReadyDatabase, type PostgresDatabase } from '../support/postgres-databases.ts'
import { historyOf } from '../support/whole-store.ts'

setDefaultTimeout(120_000)

const open = (url: string): Promise<Store> => openPostgresStore(url, DEFAULT_POSTGRES_SETTINGS)

describe('stock on PostgreSQL', () => {
  let database: PostgresDatabase
  let store: Store
  let other: Store
  beforeEach(async () => {
    database = await createReadyDatabase()
    store = await open(database.url)
    await addPets(
      store,
      [1n, 2n, 3n].map((id) => pet(id, 0)),
    )
    other = await open(database.url)
  })
  afterEach(async () => {
    await store.close()
    await other.close()
    await database.drop()
  })
  const changesOf = async (petId: bigint) =>
    (await historyOf(store, petId)).map(({ before, after }) => [before, after])

  test('that an import has locked is refused with Retry-After within seconds, and other stock can change', async () => {
    const commits = groupCommit(store)
    const by = { keyId: 'key_a', at: 1 }
    await other.changeInOneTransaction(async (write) => {
      const pets = [{ id: 1n, name: 'Rex', quantity: 7 }]
      await write([{ type: 'upsert_pets', pets, canChangeStock: true, keyId: 'import', at: 5 }])
      const refusal = { code: 'service_unavailable', retryAfterSeconds: expect.any(Number) }
      await Promise.all([
        expect(commits.run(change(1n, 5))).rejects.toMatchObject(refusal),
        expect(
          commits.run({ type: 'create_category', category: { name: 'New' }, ...by }),
        ).rejects.toMatchObject(refusal),
        expect(commits.run(change(2n, 5))).resolves.toMatchObject({ type: 'done' }),
      ])
    })
    expect(await commits.run(change(1n, 5))).toMatchObject({ type: 'done' })
    expect(await changesOf(1n)).toEqual([
      [0, 7],
      [7, 5],
    ])
  })

  test('cannot be imported by two callers at once', async () => {
    const order: string[] = []
    const importing = (by: Store, name: string) =>
      by.changeInOneTransaction(async (write) => {
        order.push(`${name} begins`)
        await write([change(1n, 1)])
        order.push(`${name} ends`)
      })
    await Promise.all([importing(store, 'one'), importing(other, 'other')])
    expect([order[0]?.split(' ')[0], order[2]?.split(' ')[0]]).toEqual([
      order[1]?.split(' ')[0],
      order[3]?.split(' ')[0],
    ])
  })
})
