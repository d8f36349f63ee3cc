import { expect, setDefaultTimeout, test } from 'bun:test'
import { Connection } from '../../src/store/postgres/connection.ts'
import { migrate } from '../../src/store/postgres/migrations.ts'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import { change } from '../store/plain-rows.ts'
import { createDatabase } from '../support/postgres-databases.ts'

setDefaultTimeout(30_000)

test('a database from before there was one log goes on with its stock, its history and its numbers', async () => {
  const database = await createDatabase()
  const connection = new Connection(database.url, DEFAULT_POSTGRES_SETTINGS)
  await migrate(connection, 'make', 3)
  await connection.close()
  await database.run(`
    INSERT INTO pets VALUES (1, 'Biscuit', 7), (2, 'Rex', 7);
    INSERT INTO stock VALUES (1, 10, 'available'), (2, 20, 'sold');
    INSERT INTO stock_changes (kind, pet_id, quantity, status) VALUES ('entry', 1, 10, 'available'), ('entry', 2, 20, 'sold')`)
  await database.run(`
    SELECT * FROM set_quantities('{1,1,2}', '{11,12,21}', '{key_a,key_a,key_b}', '{5,6,7}', '{NULL,NULL,NULL}')`)
  const [numbered] = await database.run('SELECT number_events(10)::text AS last')

  const store = await openPostgresStore(database.url, DEFAULT_POSTGRES_SETTINGS)
  expect((await store.listInventory()).map(({ quantity }) => quantity)).toEqual([12, 21])
  expect(await store.stockEventsAfter(String(numbered?.last), 10)).toBe('too_far')
  const cursor = await store.latestEventCursor()
  await store.setQuantities([change(1n, 13)])
  expect((await store.listHistory(1n)).map(({ before, after }) => [before, after])).toEqual([
    [10, 11],
    [11, 12],
    [12, 13],
  ])
  const events = await store.stockEventsAfter(cursor, 10)
  expect(events).toMatchObject({ events: [{ kind: 'change', petId: 1n, before: 12, after: 13 }] })
  expect(await store.findDamage()).toEqual([])
  await store.close()
  await database.drop()
})
