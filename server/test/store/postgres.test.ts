import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src/core/values/clock.ts'
import { Connection } from '../../src/store/postgres/connection.ts'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import { Connection as SqliteConnection } from '../../src/store/sqlite/connection.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { changeSuite } from './change-suite.ts'
import { contentsSuite } from './contents-suite.ts'
import { eventSuite } from './event-suite.ts'
import { importSuite } from './import-suite.ts'
import { keySuite } from './key-suite.ts'
import { limitSuite } from './limit-suite.ts'
import { orderSuite } from './order-suite.ts'
import { pageSuite } from './page-suite.ts'
import { sqlSuite } from './sql-suite.ts'
import { stockSuite } from './stock-suite.ts'

setDefaultTimeout(20_000)

/** The time that the suites live in. */
const SUITE_NOW = 1_790_000_000_000
let database: TestDatabase | undefined

async function open(clock: Clock = () => SUITE_NOW): Promise<Store> {
  database ??= await createDatabase()
  return openPostgresStore(database.url, { ...DEFAULT_POSTGRES_SETTINGS, clock })
}

async function connect(): Promise<Connection> {
  if (database === undefined) throw new Error('there is no database yet')
  return new Connection(database.url, DEFAULT_POSTGRES_SETTINGS)
}

async function discard(): Promise<void> {
  const { drop } = database ?? { drop: async () => {} }
  database = undefined
  await drop()
}
afterAll(discard)

const underTest = { open, connect, discard }
sqlSuite('PostgreSQL', underTest)
stockSuite('PostgreSQL', underTest)
orderSuite('PostgreSQL', underTest)
changeSuite('PostgreSQL', underTest)
keySuite('PostgreSQL', underTest)
limitSuite('PostgreSQL', underTest)
importSuite('PostgreSQL', underTest)
eventSuite('PostgreSQL', underTest)
pageSuite('PostgreSQL', underTest)

const folder = mkdtempSync(join(tmpdir(), 'petstore-copy-'))
const sqlite = {
  open: async () => openSqliteStore(join(folder, 'petstore.db'), { clock: () => SUITE_NOW }),
  connect: async () => SqliteConnection.open(join(folder, 'petstore.db')),
  discard: async () => rmSync(folder, { recursive: true, force: true }),
}
contentsSuite('SQLite to PostgreSQL', sqlite, underTest)
contentsSuite('PostgreSQL to SQLite', underTest, sqlite)

describe('PostgreSQL database', () => {
  test('does not let the log be edited, nor emptied past those who follow it', async () => {
    const store = await open()
    await store.addPets([{ id: 1n, name: 'Biscuit', categoryId: 1n, status: 'sold', quantity: 1 }])
    await store.changeStock([{ petId: 1n, quantity: 2, keyId: 'key_a', at: 3 }])
    for (const sql of ['UPDATE log SET after = 9', 'TRUNCATE log']) {
      await expect(database?.run(sql) ?? Promise.resolve()).rejects.toThrow('append-only')
    }
    await store.close()
    await discard()
  })

  test('knows no cursor of another server, nor one from before a connection was lost', async () => {
    const store = await open()
    const cursor = await store.loadStock(() => {})
    const [snapshot, server, prunings, losses] = cursor.split('@')
    expect(await store.stockChangesSince(cursor)).toMatchObject({ set: [] })
    expect(await store.stockChangesSince([snapshot, `${server}0`, prunings, losses].join('@'))).toBe(
      'too_many',
    )
    await database?.run(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    await until(async () => (await store.stockChangesSince(cursor).catch(() => undefined)) === 'too_many')
    await store.close()
    await discard()
  })

  test('that was restored from a dump is another one for those who follow it', async () => {
    const store = await open()
    await store.addPets([{ id: 1n, name: 'Biscuit', categoryId: 1n, status: 'sold', quantity: 1 }])
    const cursor = await store.latestEventCursor()
    // As in a dump: the rows are the same, the table is another one, and numbers of transactions are those of elsewhere.
    await database?.run(`
      ALTER TABLE log RENAME TO dumped;
      CREATE TABLE log (LIKE dumped INCLUDING ALL);
      INSERT INTO log SELECT id, kind, pet_id, before, after, status, at, key_id, previous, '1000000000' FROM dumped`)
    expect(await store.stockEventsAfter(cursor, 10)).toBe('too_far')
    const anew = await store.latestEventCursor()
    await store.changeStock([{ petId: 1n, quantity: 2, keyId: 'key_a', at: 3 }])
    expect(await store.stockEventsAfter(anew, 10)).toMatchObject({ events: [{ kind: 'change', after: 2 }] })
    await store.close()
    await discard()
  })

  test('answers a ping as long as it can be read', async () => {
    const store = await open()
    await store.ping()
    await database?.run('ALTER TABLE log RENAME TO away')
    await expect(store.ping()).rejects.toMatchObject({ code: 'service_unavailable' })
    await database?.run('ALTER TABLE away RENAME TO log')
    await store.ping()
    await store.close()
    await expect(store.ping()).rejects.toMatchObject({ code: 'service_unavailable' })
    await discard()
  })

  test('of a newer version is refused, and left as it is', async () => {
    const first = await open()
    await database?.run('INSERT INTO migrations (number) VALUES (999)')
    await expect(open()).rejects.toThrow('newer version')
    expect(await database?.run('SELECT max(number) AS number FROM migrations')).toEqual([{ number: 999 }])
    await first.close()
    await discard()
  })
})
