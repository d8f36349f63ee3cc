import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { InventoryItem } from '../../src/core/stock/inventory.ts'
import { Connection } from '../../src/store/sqlite/connection.ts'
import { LateStock } from '../../src/store/sqlite/late-stock.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { freshFile } from './fresh-file.ts'
import { change, pet } from './plain-rows.ts'

const MOST_LATE = 4

const file = freshFile()

describe('stock that is settled late', () => {
  test('is settled while changes go on, so that only the latest ones are late', async () => {
    const store = openSqliteStore(file.path, { mostLate: MOST_LATE })
    await store.addPets(Array.from({ length: 10 }, (_, index) => pet(BigInt(index), 0)))
    for (let round = 1; round <= 50; round++) {
      await store.setQuantities([change(BigInt(round % 10), round)])
      expect(
        numberFrom('SELECT count(*) FROM history WHERE id > (SELECT up_to FROM settled)'),
      ).not.toBeGreaterThan(3 * MOST_LATE)
    }
    expect(numberFrom('SELECT up_to FROM settled')).toBeGreaterThan(50 - 3 * MOST_LATE)
    await store.close()
  })

  test('does not remember what a batch that failed would have changed', async () => {
    const store = openSqliteStore(file.path)
    await store.addPets([pet(1n, 0)])
    await store.setQuantities([change(1n, 2)])
    await expect(store.setQuantities([change(1n, 3), change(1n, -1)])).rejects.toThrow()
    await store.setQuantities([change(1n, 4)])
    expect((await store.listHistory(1n)).map(({ before, after }) => [before, after])).toEqual([
      [0, 2],
      [2, 4],
    ])
    await store.close()
  })

  test('that a process which ended has left is settled by the next one that serves from it', async () => {
    const first = openSqliteStore(file.path)
    await first.addPets([pet(1n, 0), pet(2n, 0)])
    await first.setQuantities([change(1n, 7), change(2n, 8)])
    await first.close()
    expect(numberFrom('SELECT count(*) FROM late_changes')).toBe(2)

    const second = openSqliteStore(file.path)
    const items: InventoryItem[] = []
    await second.loadStock((batch) => items.push(...batch))
    expect(items.map(({ quantity }) => quantity)).toEqual([7, 8])
    expect(numberFrom('SELECT count(*) FROM late_changes')).toBe(0)
    expect(numberFrom('SELECT sum(quantity) FROM settled_stock')).toBe(15)
    await second.close()
  })

  test('that cannot be settled, since another process holds the lock, can be read nevertheless', async () => {
    const first = openSqliteStore(file.path)
    await first.addPets([pet(1n, 0)])
    await first.setQuantities([change(1n, 7)])
    await first.close()
    const second = openSqliteStore(file.path)
    const other = new Database(file.path)
    other.run('BEGIN IMMEDIATE')
    const items: InventoryItem[] = []
    await second.loadStock((batch) => items.push(...batch))
    expect(items).toEqual([{ petId: 1n, quantity: 7, status: 'available' }])
    other.close()
    await second.close()
  })
})

describe('what is learned from a list that was read before', () => {
  const read = { petId: 1n, quantity: 0, status: 'available' as const }
  let store: Store
  let connection: Connection
  let late: LateStock

  beforeEach(async () => {
    store = openSqliteStore(file.path)
    await store.addPets([pet(1n, 0)])
    connection = Connection.open(file.path)
    late = new LateStock(connection)
  })

  afterEach(async () => {
    connection.close()
    await store.close()
  })

  const quantity = () => late.write(() => late.quantityAt(late.find(1n) ?? -1))

  test('does not take the place of what was changed since', async () => {
    const learn = late.learnFrom({ history: 0n, changes: 1n }, 1)
    await late.write(() => late.change(late.find(1n) ?? -1, 1n, 5, 1, 'key_a'))
    learn(read, null)
    expect(await quantity()).toBe(5)
  })

  test('is nothing once somebody else has changed it', async () => {
    const learn = late.learnFrom({ history: 0n, changes: 1n }, 1)
    await store.setQuantities([change(1n, 6)])
    expect(await late.write(() => 'looked around')).toBe('looked around')
    learn(read, null)
    expect(await quantity()).toBe(6)
  })

  test('tells the latest change of a pet only once nothing else is late', async () => {
    await store.setQuantities([change(1n, 6)])
    late.learnFrom({ history: 1n, changes: 1n }, 1)
    expect(late.latestChangeOf(1n)).toBeUndefined()
    late.settleLeftovers()
    expect(late.latestChangeOf(1n)).toBe(1)
  })
})

function numberFrom(sql: string): number {
  const database = new Database(file.path, { readonly: true })
  try {
    return Number(database.query<Record<string, number>, []>(sql).values()[0]?.[0])
  } finally {
    database.close()
  }
}
