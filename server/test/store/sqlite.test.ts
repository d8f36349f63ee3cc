import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { keySuite } from './key-suite.ts'
import { limitSuite } from './limit-suite.ts'
import { stockSuite } from './stock-suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'petstore-sqlite-'))
const path = join(folder, 'inner', 'petstore.db')
const discard = async () => rmSync(folder, { recursive: true, force: true })

const underTest = { open: async () => openSqliteStore(path), discard }
stockSuite('SQLite', underTest)
keySuite('SQLite', underTest)
limitSuite('SQLite', underTest)

describe('SQLite file', () => {
  afterEach(discard)

  test('is written ahead and can be read by its owner alone', async () => {
    const store = openSqliteStore(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600)
    const other = new Database(path)
    expect(other.query('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
    other.close()
    await store.close()
  })

  test('does not let the history be edited or erased', async () => {
    const store = openSqliteStore(path)
    await store.addPets([{ id: 1n, name: 'Biscuit', categoryId: 1n, status: 'sold', quantity: 1 }])
    await store.setQuantities([{ petId: 1n, quantity: 2, keyId: 'key_a', at: 3 }])
    const other = new Database(path)
    expect(() => other.run('UPDATE history SET after = 9')).toThrow('append-only')
    expect(() => other.run('DELETE FROM history')).toThrow('append-only')
    other.close()
    await store.close()
  })

  test('of a newer version is refused, and left as it is', () => {
    const first = openSqliteStore(path)
    const other = new Database(path)
    other.run('PRAGMA user_version = 999')
    expect(() => openSqliteStore(path)).toThrow('newer version')
    expect(other.query('PRAGMA user_version').get()).toEqual({ user_version: 999 })
    other.close()
    return first.close()
  })
})
