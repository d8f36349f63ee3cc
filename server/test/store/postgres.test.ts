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
import { addPets } from '../support/add-pets.ts'
import { createOrder } from '../support/orders.ts'
import { createReadyDatabase, type PostgresDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { catalogSuite } from './catalog-suite.ts'
import { changeSuite } from './change-suite.ts'
import { contentsSuite } from './contents-suite.ts'
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

setDefaultTimeout(120_000)

/** The current time of the suites. */
const SUITE_NOW = 1_790_000_000_000
let database: PostgresDatabase | undefined

async function open(clock: Clock = () => SUITE_NOW): Promise<Store> {
  database ??= await createReadyDatabase()
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
catalogSuite('PostgreSQL', underTest)
lowStockSuite('PostgreSQL', underTest)
changeSuite('PostgreSQL', underTest)
keySuite('PostgreSQL', underTest)
limitSuite('PostgreSQL', underTest)
importSuite('PostgreSQL', underTest)
eventSuite('PostgreSQL', underTest)
factSuite('PostgreSQL', underTest)
pageSuite('PostgreSQL', underTest)
searchSuite('PostgreSQL', underTest)
reportSuite('PostgreSQL', underTest)

const folder = mkdtempSync(join(tmpdir(), 'petstore-copy-'))
const sqlite = {
  open: async () => openSqliteStore(join(folder, 'petstore.db'), { clock: () => SUITE_NOW }),
  connect: async () => SqliteConnection.open(join(folder, 'petstore.db')),
  discard: async () => rmSync(folder, { recursive: true, force: true }),
}
contentsSuite('SQLite to PostgreSQL', sqlite, underTest)
contentsSuite('PostgreSQL to SQLite', underTest, sqlite)

describe('PostgreSQL database', () => {
  test('does not let the log be edited, nor pruned past its followers', async () => {
    const store = await open()
    await addPets(store, [{ id: 1n, name: 'Biscuit', categoryId: 1n, status: 'sold', quantity: 1 }])
    await store.changeStock([change(1n, 2, { at: 3 })])
    for (const sql of ['UPDATE log SET after = 9', 'TRUNCATE log']) {
      await expect(database?.run(sql) ?? Promise.resolve()).rejects.toThrow('append-only')
    }
    await store.close()
    await discard()
  })

  test('rejects cursors of another server, and those from before a lost connection', async () => {
    const store = await open()
    const cursor = await store.loadStock(() => {})
    const [snapshot, server, prunings, losses] = cursor.split('@')
    expect(await store.stockChangesSince(cursor)).toMatchObject({ updated: [] })
    expect(await store.stockChangesSince([snapshot, `${server}0`, prunings, losses].join('@'))).toBe('reload')
    await database?.run(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
    await until(async () => (await store.stockChangesSince(cursor).catch(() => undefined)) === 'reload')
    await store.close()
    await discard()
  })

  test('restored from a dump is a different database for its followers', async () => {
    const store = await open()
    await addPets(store, [{ id: 1n, name: 'Biscuit', categoryId: 1n, status: 'sold', quantity: 1 }])
    const cursor = await store.latestEventCursor()
    // As in a dump: the rows are the same, but the table and the transaction ids are new.
    await database?.run(`
      ALTER TABLE log RENAME TO dumped;
      CREATE TABLE log (LIKE dumped INCLUDING ALL);
      INSERT INTO log SELECT id, kind, pet_id, before, after, status, at, key_id, '1000000000' FROM dumped`)
    expect(await store.eventsAfter(cursor, 10)).toBe('relist_needed')
    const newCursor = await store.latestEventCursor()
    await store.changeStock([change(1n, 2, { at: 3 })])
    expect(await store.eventsAfter(newCursor, 10)).toMatchObject({ events: [{ kind: 'change', after: 2 }] })
    await store.close()
    await discard()
  })

  test('restored on a server with lower transaction ids can be pruned, without a relist', async () => {
    const store = await open()
    await addPets(store, [pet(1n, 1)])
    await database?.run(`
      INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id, xid)
        SELECT nextval('log_ids'), 'change', 1, 0, 1, 'available', 1, 'key_a', '900000000' FROM generate_series(1, 50);
      UPDATE log_state SET pruned_xid = '800000000';
      UPDATE log_numbering SET server = '', origin = 'another server'`)
    const cursor = await store.latestEventCursor()
    await store.changeStock([change(1n, 2), change(1n, 3)])
    expect(await store.pruneHistory({ keep: 2 }, 1_000)).toBe(52)
    await store.changeStock([change(1n, 4)])
    const expected = [2, 3, 4].map((after) => ({ kind: 'change', after }))
    expect(await store.eventsAfter(cursor, 10)).toMatchObject({ events: expected })
    // This removes a row of this server, which has a place already.
    const end = await store.latestEventCursor()
    expect(await store.pruneHistory({ keep: 2 }, 1_000)).toBe(1)
    expect(await store.eventsAfter(end, 10)).toMatchObject({ events: [] })
    await store.close()
    await discard()
  })

  test('a pet created by another session while a commit waits for its locks is not overwritten', async () => {
    const [store, other] = [await open(), await open()]
    await addPets(store, [pet(1n, 1)])
    const by = { keyId: 'key_a', at: 1 }
    const make = (quantity: number) => ({
      type: 'create_pet' as const,
      ...by,
      pet: { ...pet(7n, quantity) },
    })
    const sql = database?.connect()
    if (sql === undefined) throw new Error('there is no database yet')
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const holding = sql.begin(async (tx) => {
      await tx`SELECT 1 FROM stock WHERE pet_id = 1 FOR UPDATE`
      locked.resolve()
      await held.promise
    })
    await locked.promise
    const waiting = store.changeStock([change(1n, 2), make(9)])
    await until(async () => {
      const [row] = (await database?.run('SELECT count(*) AS n FROM pg_locks WHERE NOT granted')) ?? []
      return Number(row?.n) > 0
    })
    await other.changeStock([make(5)])
    expect(await other.changeStock([createOrder([7n, 3])])).toMatchObject([{ order: {} }])
    held.resolve()
    await holding
    expect(await waiting).toMatchObject([
      { type: 'done', items: [{ petId: 1n, quantity: 2, status: 'available' }] },
      { type: 'pet_exists', petId: 7n },
    ])
    expect(await store.findAvailability(7n)).toEqual({ petId: 7n, quantity: 5, reserved: 3 })
    await sql.close()
    await store.close()
    await other.close()
    await discard()
  })

  test('commits with the same barcodes in different orders do not deadlock', async () => {
    const [store, other] = [await open(), await open()]
    await addPets(store, [pet(1n, 1)])
    const { id: _, ...draft } = pet(0n, 1)
    const make = (barcode: string) => ({
      type: 'create_pet' as const,
      keyId: 'key_a',
      at: 1,
      pet: { ...draft, barcode },
    })
    const sql = database?.connect()
    if (sql === undefined) throw new Error('there is no database yet')
    const waits = async (commits: number) => {
      const [row] = (await database?.run('SELECT count(*) AS n FROM pg_locks WHERE NOT granted')) ?? []
      return Number(row?.n) === commits
    }
    const inserted = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const holding = sql.begin(async (tx) => {
      await tx`INSERT INTO pets (id, name, words, category_id, barcode) VALUES (-1, 'x', 'x', 1, 'between')`
      inserted.resolve()
      await held.promise
      throw new Error('it comes to nothing')
    })
    const failed = holding.catch(() => {})
    await inserted.promise
    const first = store.changeStock([make('a'), make('between'), make('b')])
    await until(() => waits(1))
    const second = other.changeStock([make('b'), make('a')])
    await until(() => waits(2))
    held.resolve()
    await failed
    expect(await first).toMatchObject([{ pet: {} }, { pet: {} }, { pet: {} }])
    expect(await second).toMatchObject([
      { type: 'barcode_taken', barcode: 'b' },
      { type: 'barcode_taken', barcode: 'a' },
    ])
    await sql.close()
    await store.close()
    await other.close()
    await discard()
  })
})
