import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Connection } from '../../src/store/sqlite/connection.ts'
import { migrate } from '../../src/store/sqlite/migrations.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { changeSuite } from './change-suite.ts'
import { eventSuite } from './event-suite.ts'
import { importSuite } from './import-suite.ts'
import { keySuite } from './key-suite.ts'
import { limitSuite } from './limit-suite.ts'
import { pageSuite } from './page-suite.ts'
import { sqlSuite } from './sql-suite.ts'
import { stockSuite } from './stock-suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'petstore-sqlite-'))
const path = join(folder, 'inner', 'petstore.db')
const discard = async () => rmSync(folder, { recursive: true, force: true })

const underTest = {
  open: async () => openSqliteStore(path),
  connect: async () => Connection.open(path),
  discard,
}
sqlSuite('SQLite', underTest)
stockSuite('SQLite', underTest)
changeSuite('SQLite', underTest)
eventSuite('SQLite', underTest)
pageSuite('SQLite', underTest)
keySuite('SQLite', underTest)
limitSuite('SQLite', underTest)
importSuite('SQLite', underTest)

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

  test('that is an older copy of what a reader of events saw lets it list again', async () => {
    const store = openSqliteStore(path)
    expect(await store.latestEventCursor()).toBe('0.0')
    for (const cursor of ['1.0', '0.1']) expect(await store.stockEventsAfter(cursor, 10)).toBe('too_far')
    await store.close()
  })

  test('answers a ping as long as it can be read', async () => {
    const store = openSqliteStore(path)
    await store.ping()
    const other = new Database(path)
    other.run('ALTER TABLE history RENAME TO away')
    await expect(store.ping()).rejects.toMatchObject({ code: 'service_unavailable' })
    other.run('ALTER TABLE away RENAME TO history')
    await store.ping()
    other.close()
    await store.close()
    await expect(store.ping()).rejects.toMatchObject({ code: 'service_unavailable' })
  })

  test('whose history was numbered by SQLite keeps it, and goes on after its last number', async () => {
    mkdirSync(dirname(path), { recursive: true })
    const file = new Database(path)
    migrate(file, 2)
    file.run(`
      INSERT INTO pets VALUES (1, 'Biscuit', 1);
      INSERT INTO stock VALUES (1, 1, 'sold', NULL);
      INSERT INTO stock_changes VALUES (1, 0, 'entry', 1, 1, 'sold');
      INSERT INTO history VALUES (7, 1, 1, 2, 30, 'key_a', 'sold', NULL), (9, 1, 2, 3, 40, 'key_b', 'sold', 7)`)
    file.close()

    const store = openSqliteStore(path)
    const cursor = await store.latestEventCursor()
    await store.setQuantities([{ petId: 1n, quantity: 4, keyId: 'key_c', at: 50 }])
    const changes = [
      { petId: 1n, before: 1, after: 2, at: 30, keyId: 'key_a' },
      { petId: 1n, before: 2, after: 3, at: 40, keyId: 'key_b' },
      { petId: 1n, before: 3, after: 4, at: 50, keyId: 'key_c' },
    ]
    expect(await store.listHistory(1n)).toEqual(changes)
    expect(await store.listInventory()).toEqual([{ petId: 1n, quantity: 4, status: 'sold' }])
    expect([cursor, await store.latestEventCursor()]).toEqual(['9.1', '10.1'])
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
