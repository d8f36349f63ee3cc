import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StockedPet } from '../../src/core/catalog/pet.ts'
import { restoreSqlite } from '../../src/store/sqlite/backup.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { historyOf, stockOf } from '../support/whole-store.ts'

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

describe('A backup of SQLite', () => {
  test('contains everything, in one file that only its owner can read', async () => {
    await addPets(store, [pet(1n), pet(2n)])
    await store.changeStock([{ type: 'set_quantity', petId: 1n, quantity: 6, keyId: 'key_a', at: 1 }])
    const copy = join(folder, 'copy.db')
    await store.backupTo(copy)
    expect(statSync(copy).mode & 0o777).toBe(0o600)
    expect([existsSync(`${copy}-wal`), existsSync(`${copy}-shm`)]).toEqual([false, false])
    const path = join(folder, 'restored.db')
    restoreSqlite(copy, path)
    const restored = openSqliteStore(path)
    expect(await stockOf(restored)).toEqual(await stockOf(store))
    expect(await historyOf(restored, 1n)).toEqual(await historyOf(store, 1n))
    await restored.close()
  })

  test('does not overwrite an existing file', async () => {
    const copy = join(folder, 'copy.db')
    writeFileSync(copy, 'mine')
    await expect(store.backupTo(copy)).rejects.toThrow('EEXIST')
    expect(await Bun.file(copy).text()).toBe('mine')
  })
})
