import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { MAX_EVENTS_BEHIND } from '../../src/core/stock/event-hub.ts'
import type { StockEvent } from '../../src/core/stock/stock-event.ts'
import { openStore } from '../../src/store/open-store.ts'
import { DEFAULT_POSTGRES_SETTINGS, openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Store } from '../../src/store/store.ts'
import { change } from '../store/plain-rows.ts'
import { addWebhook } from '../support/add-webhook.ts'
import { createReadyDatabase, type PostgresDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { stockUp } from './shop.ts'

setDefaultTimeout(120_000)

const PORTION = 20_000
const ROWS = 3 * PORTION + 10

/** Changes of the five pets in turn, as an import records them in one transaction. */
const insertChanges = (count: number, keyId: string) => `
  INSERT INTO log (id, kind, pet_id, before, after, status, at, key_id)
  SELECT nextval('log_ids'), 'change', 1 + number % 5, number - 1, number, 'available', 1, '${keyId}'
  FROM generate_series(1, ${count}) AS number`

const INSERT_CATEGORY_CHANGE = `
  INSERT INTO log (id, kind, at, key_id, detail)
  VALUES (nextval('log_ids'), 'category', 1, 'import', '{"change": "created", "id": "7", "name": "Birds"}')`

let database: PostgresDatabase
let store: Store
let start: string
beforeEach(async () => {
  database = await createReadyDatabase()
  await stockUp(database.url)
  store = await openStore(database.url, { tables: 'require_current_tables' })
  // A webhook must get every event.
  const { progress } = await addWebhook(store, { id: 1n, url: 'http://127.0.0.1:9/' })
  start = progress.cursor
})
afterEach(async () => {
  await store.close()
  await database.drop()
})

const countPlaces = async () => Number((await database.run('SELECT count(*) AS n FROM log_places'))[0]?.n)

async function eventsFrom(cursor: string, count: number): Promise<StockEvent[]> {
  const events: StockEvent[] = []
  while (events.length < count) {
    const found = await store.eventsAfter(cursor, 1_000)
    if (typeof found === 'string') throw new Error(found)
    events.push(...found.events)
    cursor = found.cursor
  }
  return events
}

describe('more log rows than one round numbers', () => {
  test('are numbered in portions, each of which is committed', async () => {
    await database.run(insertChanges(ROWS, 'import'))
    const counts = [await countPlaces()]
    let end = ''
    // The first call counts the rows, the last finds nothing to do.
    for (let call = 0; call < 6; call++) {
      end = await store.latestEventCursor()
      counts.push(await countPlaces())
    }
    const steps = counts.slice(1).map((count, index) => count - (counts[index] ?? 0))
    expect(steps).toEqual([0, PORTION, PORTION, PORTION, 10, 0])
    const events = await eventsFrom(start, ROWS)
    expect(events.map((event) => event.kind === 'change' && event.after)).toEqual(
      Array.from({ length: ROWS }, (_, index) => index + 1),
    )
    expect(events.at(-1)?.cursor).toBe(end)
  })

  test('come before rows that are committed meanwhile, whatever their ids', async () => {
    const open = database.connect()
    await open.unsafe('BEGIN')
    await open.unsafe(insertChanges(3, 'lower'))
    await database.run(insertChanges(ROWS, 'import'))
    const reserved = await store.latestEventCursor()
    await open.unsafe('COMMIT')
    await open.close()
    await store.changeStock([change(1n, 9, { keyId: 'later' })])
    // Nothing is skipped after the portions, and nothing is returned before they are numbered.
    expect(await store.eventsAfter(reserved, 10)).toEqual({ events: [], cursor: reserved })
    const events = await eventsFrom(start, ROWS + 4)
    const keys = events.map((event) => event.kind === 'change' && event.keyId)
    expect(keys.slice(0, ROWS)).toEqual(Array.from({ length: ROWS }, () => 'import'))
    expect(keys.slice(ROWS)).toEqual(['lower', 'lower', 'lower', 'later'])
    expect(await eventsFrom(reserved, 4)).toEqual(events.slice(ROWS))
  })

  test('are numbered although counting them exceeds the statement timeout', async () => {
    const hasty = await openPostgresStore(database.url, {
      ...DEFAULT_POSTGRES_SETTINGS,
      statementTimeoutSeconds: 1,
    })
    await database.run(insertChanges(ROWS, 'import'))
    const other = database.connect()
    await other.unsafe('BEGIN')
    await other.unsafe('LOCK TABLE log_numbering IN ACCESS EXCLUSIVE MODE')
    const end = hasty.latestEventCursor()
    // The first attempt has timed out, and the next one has no timeout.
    const patient =
      "SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT number_log%' AND wait_event_type = 'Lock'"
    await until(async () => (await database.run(patient)).length > 0)
    await other.unsafe('ROLLBACK')
    await other.close()
    await end
    await hasty.close()
    expect(await eventsFrom(start, ROWS)).toHaveLength(ROWS)
  })

  test('that are removed meanwhile lead to a relist', async () => {
    await database.run(insertChanges(ROWS, 'import'))
    const reserved = await store.latestEventCursor()
    await database.run("DELETE FROM log WHERE key_id = 'import'")
    expect(await store.eventsAfter(start, 10)).toBe('relist_needed')
    expect(await store.eventsAfter(reserved, 10)).toMatchObject({ events: [{ kind: 'relist' }] })
  })

  test('are all numbered, and so is a change of a category between them', async () => {
    await database.run(insertChanges(PORTION, 'import'))
    await database.run(INSERT_CATEGORY_CHANGE)
    await database.run(insertChanges(PORTION + 10, 'import'))
    const placesBefore = await countPlaces()
    // The first call counts the rows, the others number them.
    for (let call = 0; call < 4; call++) await store.latestEventCursor()
    expect((await countPlaces()) - placesBefore).toBe(2 * PORTION + 11)
    const kinds = (await eventsFrom(start, 2 * PORTION + 11)).map(({ kind }) => kind)
    expect(kinds.indexOf('category')).toBe(PORTION)
    expect(kinds.filter((kind) => kind === 'change')).toHaveLength(2 * PORTION + 10)
  })

  test('lead to a relist without webhooks, also if a category has changed as well', async () => {
    await database.run('DELETE FROM webhooks')
    await database.run(INSERT_CATEGORY_CHANGE)
    await database.run(insertChanges(Number(MAX_EVENTS_BEHIND) + 10, 'import'))
    expect(await store.eventsAfter(start, 10)).toMatchObject({ events: [{ kind: 'relist' }] })
  })
})
