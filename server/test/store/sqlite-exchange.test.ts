import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import type { AdjustmentChange } from '../../src/core/stock/command.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'

const ACT = { at: 9, keyId: 'petstore-import' }
const pet = (id: bigint, changes: Partial<StockedPet> = {}): StockedPet => ({
  id,
  name: `Pet ${id}`,
  categoryId: 1n,
  status: 'available',
  quantity: 5,
  ...changes,
})

let folder: string
let path: string
let store: Store
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'petstore-exchange-'))
  path = join(folder, 'petstore.db')
  store = openSqliteStore(path)
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

async function exported(): Promise<StockedPet[]> {
  const pets: StockedPet[] = []
  for await (const batch of store.exportPets()) {
    pets.push(...batch.map(({ category: _category, ...pet }) => pet))
  }
  return pets
}

/** Starts to import `pets` while another process holds the lock and runs `sql`; then finishes. */
async function importAround(pets: readonly StockedPet[], sql: readonly string[]) {
  const staged = await store.stagePets()
  await staged.add(pets.map((value, index) => ({ line: index + 2, value })))
  await staged.finishStaging(0)
  const other = new Database(path)
  other.run('PRAGMA foreign_keys = ON')
  other.run('BEGIN IMMEDIATE')
  for (const statement of sql) other.run(statement)
  const applying = staged.apply(ACT)
  await Bun.sleep(20)
  other.run('COMMIT')
  other.close()
  const counts = await applying
  await staged.discard()
  return counts
}

describe('An import into SQLite', () => {
  beforeEach(() => store.addPets([pet(1n), pet(2n), pet(3n)]))

  test('that has already compared compares the pets changed before it got the lock again', async () => {
    const wanted = [pet(1n), pet(2n, { quantity: 7 }), pet(3n)]
    const counts = await importAround(wanted, [
      "INSERT INTO log (id, kind, pet_id, before, after, at, key_id) VALUES (10, 'change', 1, 5, 1, 8, 'key_a'), (11, 'change', 2, 5, 7, 8, 'key_a')",
      'UPDATE stock SET quantity = after FROM log WHERE log.id >= 10 AND log.pet_id = stock.pet_id',
      'DELETE FROM pets WHERE id = 3',
      "INSERT INTO log (id, kind, pet_id, at, key_id) VALUES (12, 'removed', 3, 8, 'key_a')",
    ])
    expect(counts).toEqual({ added: 1, changed: 1, unchanged: 1 })
    expect(await exported()).toEqual(wanted)
    expect((await historyOf(store, 1n)).map(({ before, after }) => [before, after])).toEqual([
      [5, 1],
      [1, 5],
    ])
    expect(await historyOf(store, 2n)).toHaveLength(1)
  })

  test('that has already compared compares everything if the log records a bulk change', async () => {
    const counts = await importAround(
      [pet(1n), pet(2n), pet(3n)],
      [
        "UPDATE pets SET name = 'Another' WHERE id = 2",
        "INSERT INTO log (id, kind, at, key_id) VALUES (10, 'relist', 8, 'key_a')",
      ],
    )
    expect(counts).toEqual({ added: 0, changed: 1, unchanged: 2 })
    expect(await exported()).toEqual([pet(1n), pet(2n), pet(3n)])
  })

  test('logs a new name, for another import that is comparing', async () => {
    const cursor = await store.loadStock(() => {})
    await importAround([pet(2n, { name: 'Another' })], [])
    expect(await store.stockChangesSince(cursor)).toMatchObject({
      updated: [{ petId: 2n, quantity: 5, status: 'available' }],
    })
  })

  test('repairs a pet without a stock row', async () => {
    const other = new Database(path)
    other.run('DELETE FROM stock WHERE pet_id = 2')
    other.close()
    expect(await importAround([pet(1n), pet(2n)], [])).toEqual({ added: 1, changed: 0, unchanged: 1 })
    expect(await exported()).toEqual([pet(1n), pet(2n), pet(3n)])
    expect(await store.findDamage()).toEqual([])
  })

  test('leaves no large write-ahead log behind', async () => {
    await importAround(
      Array.from({ length: 30_000 }, (_, index) => pet(BigInt(index))),
      [],
    )
    expect(statSync(`${path}-wal`).size).toBe(0)
  })
})

describe('An adjustment that SQLite has already decided is decided again if others got the lock first', () => {
  /** Another program changes the four pets while the adjustment waits for its lock. */
  async function adjustAround(rows: readonly { line: number; value: AdjustmentChange }[]) {
    await store.addPets([pet(1n), pet(2n), pet(3n), pet(4n)])
    const staged = await store.stageAdjustment()
    await staged.add(rows)
    await staged.finishStaging(0)
    const other = new Database(path)
    other.run('PRAGMA foreign_keys = ON')
    other.run('BEGIN IMMEDIATE')
    other.run(
      "INSERT INTO log (id, kind, pet_id, before, after, at, key_id) VALUES (10, 'change', 1, 5, 1, 8, 'key_a'), (11, 'change', 2, 5, 7, 8, 'key_a'), (12, 'change', 3, 5, 4, 8, 'key_a'), (13, 'removed', 4, NULL, NULL, 8, 'key_a')",
    )
    other.run(
      'UPDATE stock SET quantity = after FROM log WHERE log.id BETWEEN 10 AND 12 AND log.pet_id = stock.pet_id',
    )
    other.run('DELETE FROM pets WHERE id = 4')
    const adjusting = staged.apply({ ...ACT, reason: 'counted', maxExamples: 9 })
    adjusting.catch(() => {})
    await Bun.sleep(20)
    other.run('COMMIT')
    other.close()
    return adjusting.finally(() => staged.discard())
  }

  test('and counts from the new quantities', async () => {
    const counts = await adjustAround([
      { line: 2, value: { petId: 1n, delta: 1 } },
      { line: 3, value: { petId: 2n, quantity: 5 } },
    ])
    expect(counts).toEqual({ added: 0, changed: 2, unchanged: 0 })
    expect(await historyOf(store, 1n)).toMatchObject([
      { before: 5, after: 1 },
      { before: 1, after: 2 },
    ])
    expect((await stockOf(store)).map(({ quantity }) => quantity)).toEqual([2, 5, 4])
  })

  test('and refused if it no longer fits', async () => {
    const adjusting = adjustAround([
      { line: 4, value: { petId: 3n, delta: -5 } },
      { line: 5, value: { petId: 4n, delta: 1 } },
    ])
    const first = [
      { line: 4, reason: 'the quantity of petId 3 is 4, so 5 cannot be taken away' },
      { line: 5, reason: 'there is no pet 4' },
    ]
    await expect(adjusting).rejects.toMatchObject({ refused: { count: 2, first } })
    expect((await stockOf(store)).map(({ quantity }) => quantity)).toEqual([1, 7, 4])
  })
})
