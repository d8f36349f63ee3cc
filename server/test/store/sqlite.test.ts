import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Clock } from '../../src/core/values/clock.ts'
import { restoreSqlite } from '../../src/store/sqlite/backup.ts'
import { Connection } from '../../src/store/sqlite/connection.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { addPets } from '../support/add-pets.ts'
import { until } from '../support/until.ts'
import { catalogSuite } from './catalog-suite.ts'
import { changeSuite } from './change-suite.ts'
import { eventSuite } from './event-suite.ts'
import { factSuite } from './fact-suite.ts'
import { importSuite } from './import-suite.ts'
import { keySuite } from './key-suite.ts'
import { limitSuite } from './limit-suite.ts'
import { lowStockSuite } from './low-stock-suite.ts'
import { orderSuite } from './order-suite.ts'
import { pageSuite } from './page-suite.ts'
import { change, pet } from './plain-rows.ts'
import { reportSuite } from './report-suite.ts'
import { searchSuite } from './search-suite.ts'
import { sqlSuite } from './sql-suite.ts'
import { stockSuite } from './stock-suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'petstore-sqlite-'))
const path = join(folder, 'inner', 'petstore.db')
const discard = async () => rmSync(folder, { recursive: true, force: true })

const underTest = {
  open: async (clock?: Clock) => openSqliteStore(path, clock === undefined ? {} : { clock }),
  connect: async () => Connection.open(path),
  discard,
}
sqlSuite('SQLite', underTest)
stockSuite('SQLite', underTest)
orderSuite('SQLite', underTest)
catalogSuite('SQLite', underTest)
lowStockSuite('SQLite', underTest)
changeSuite('SQLite', underTest)
eventSuite('SQLite', underTest)
factSuite('SQLite', underTest)
pageSuite('SQLite', underTest)
searchSuite('SQLite', underTest)
reportSuite('SQLite', underTest)
keySuite('SQLite', underTest)
limitSuite('SQLite', underTest)
importSuite('SQLite', underTest)

describe('SQLite file', () => {
  afterEach(discard)

  test('reloads the stock after a cursor ahead of the log', async () => {
    const store = openSqliteStore(path)
    const cursor = await store.loadStock(() => {})
    expect(await store.stockChangesSince(cursor)).toEqual({ updated: [], removed: [], cursor })
    const [position = '', identity = ''] = cursor.split('.')
    expect(await store.stockChangesSince(`${BigInt(position) + 1n}.${identity}`)).toBe('reload')
    await store.close()
  })

  test('does not let the log be edited', async () => {
    const store = openSqliteStore(path)
    await addPets(store, [{ id: 1n, name: 'Biscuit', categoryId: 1n, status: 'sold', quantity: 1 }])
    await store.changeStock([change(1n, 2, { at: 3 })])
    const other = new Database(path)
    expect(() => other.run('UPDATE log SET after = 9')).toThrow('append-only')
    other.close()
    await store.close()
  })

  test('that is an older copy than an event reader has seen makes it list again', async () => {
    const store = openSqliteStore(path)
    const [position, identity] = (await store.latestEventCursor()).split('.')
    expect(await store.eventsAfter(`${Number(position) + 1}.${identity}`, 10)).toBe('relist_needed')
    await store.close()
  })

  test('restored from a backup is a different database: followers of the original list again', async () => {
    const store = openSqliteStore(path)
    await addPets(store, [pet(1n, 0)])
    const cursor = await store.latestEventCursor()
    const copy = join(dirname(path), 'backup.db')
    await store.backupTo(copy)
    const again = join(dirname(path), 'restored.db')
    restoreSqlite(copy, again)
    const restored = openSqliteStore(again)
    await restored.changeStock([change(1n, 1)])
    expect(await store.eventsAfter(cursor, 10)).toMatchObject({ events: [] })
    expect(await restored.eventsAfter(cursor, 10)).toBe('relist_needed')
    await restored.close()
    await store.close()
  })

  test('never reuses a log id, even after all rows were removed and it was reopened', async () => {
    const first = openSqliteStore(path)
    await addPets(first, [pet(1n, 0)])
    await first.changeStock([change(1n, 1), change(1n, 2)])
    const cursor = await first.latestEventCursor()
    await first.close()
    const file = new Database(path)
    file.run('DELETE FROM log')
    file.close()

    const store = openSqliteStore(path)
    expect(await store.latestEventCursor()).toBe(cursor)
    await store.changeStock([change(1n, 3)])
    expect(await store.eventsAfter(cursor, 10)).toMatchObject({ events: [{ before: 2, after: 3 }] })
    expect(await store.findDamage()).toEqual([])
    await store.close()
  })

  test('does not grow by the checks of a balancer', async () => {
    const store = openSqliteStore(path, { exclusive: true, maxLogBytes: 20_000 })
    let sizeBefore = 0
    // Each check writes a page. When the write-ahead log was copied, SQLite starts again at its beginning.
    await until(async () => {
      const { size } = statSync(`${path}-wal`)
      const hasStartedAgain = size === sizeBefore
      sizeBefore = size
      await store.ping()
      return hasStartedAgain
    })
    await store.close()
  })

  test('that a newer program has migrated keeps its version when an older service checks that it is ready', async () => {
    const store = openSqliteStore(path)
    const newer = new Database(path)
    newer.run('PRAGMA user_version = 999')
    await store.ping()
    expect(newer.query('PRAGMA user_version').get()).toEqual({ user_version: 999 })
    newer.close()
    await store.close()
  })
})
