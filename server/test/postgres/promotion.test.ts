import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { serve } from '../cli/running-petstore.ts'
import { change } from '../store/plain-rows.ts'
import { EventReader } from '../support/event-reader.ts'
import { createOrder } from '../support/orders.ts'
import { PostgresServer } from '../support/postgres-server.ts'
import { until } from '../support/until.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'
import { stockUp } from './shop.ts'

setDefaultTimeout(120_000)

const BY = { keyId: 'key_a', at: 1 }

let primary: PostgresServer
let standby: PostgresServer
beforeEach(async () => {
  primary = await PostgresServer.start()
  standby = await primary.startStandby()
})
afterEach(async () => {
  await primary.end()
  await standby.end()
})

describe('after the promotion of a standby that has everything', () => {
  test('a paused webhook gets its whole backlog, a stream continues, and nobody has to list again', async () => {
    const key = await stockUp(primary.url())
    await primary.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
    await primary.run('SELECT pg_reload_conf()')
    await until(
      async () => (await primary.run("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")).length > 0,
    )
    const receiver = new WebhookReceiver()
    const service = await serve([], {
      cwd: '/',
      env: {
        DATABASE_URL: `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`,
        WEBHOOK_PRIVATE_ADDRESSES: 'on',
        LOG_REQUESTS: 'none',
        METRICS_PORT: '0',
      },
    })
    const send = async (method: string, path: string, body: object) => {
      const response = await service.call(path, key, { method, body: JSON.stringify(body) })
      const answer = await response.json()
      return { status: response.status, answer }
    }
    const { answer: webhook } = await send('POST', '/webhooks', {
      url: receiver.url,
      kinds: ['stock.changed'],
    })
    await send('PATCH', `/webhooks/${webhook.id}`, { paused: true })
    const stream = await EventReader.open(`${service.address}/v1/inventory/events`, key)
    for (let quantity = 1; quantity <= 100; quantity++) {
      expect((await send('PATCH', '/inventory/1', { quantity })).status).toBe(200)
    }
    primary.kill()
    await standby.promote()
    await until(async () => (await send('PATCH', '/inventory/1', { quantity: 101 })).status === 200)
    const { behind } = await (await service.call(`/webhooks/${webhook.id}`, key)).json()
    expect(behind).toMatchObject({ events: 101, since: expect.any(String) })
    await send('PATCH', `/webhooks/${webhook.id}`, { paused: false })
    const expected = Array.from({ length: 101 }, (_, index) => index + 1)
    await until(() => new Set(receiver.all.map(({ id }) => id)).size >= expected.length)
    expect(receiver.all.map(({ type }) => type)).not.toContain('relist')
    const delivered = new Map(receiver.all.map(({ id, data }) => [id, data.after]))
    expect([...delivered.values()]).toEqual(expected)
    await stream.until(() => stream.events.length >= 102)
    expect(stream.events.map(({ name }) => name)).toEqual(['ready', ...expected.map(() => 'change')])
    expect(stream.events.slice(1).map(({ data }) => JSON.parse(data).after)).toEqual(expected)
    stream.close()
    expect(await service.stop()).toBe(0)
    await receiver.stop()
  })
})

describe('after the promotion of a standby that lacks the last changes', () => {
  async function make(store: Store): Promise<void> {
    await store.changeStock([createOrder([1n, 1])])
    await store.changeStock([
      { type: 'create_category', ...BY, category: { name: `Birds ${crypto.randomUUID()}` } },
    ])
    await store.changeStock([
      {
        type: 'create_pet',
        ...BY,
        pet: { name: 'Kiwi', categoryId: 1n, status: 'available', quantity: 1 },
      },
    ])
  }
  const idsIn = async (server: PostgresServer) => {
    const [row] = await server.run(
      `SELECT (SELECT max(id) FROM orders)::int AS "order", (SELECT max(id) FROM pets)::int AS pet,
        (SELECT max(id) FROM categories)::int AS category`,
    )
    return row as { order: number; pet: number; category: number }
  }

  test('no id is assigned twice, events keep their cursors, and a cursor of a lost event is recognised', async () => {
    await stockUp(primary.url())
    const first = await openStore(primary.url(), { tables: 'require_current_tables' })
    const start = await first.latestEventCursor()
    await first.changeStock([change(1n, 1_000, BY)])
    await make(first)
    const before = await first.eventsAfter(start, 4)
    const kept = await first.latestEventCursor()
    await first.changeStock([change(2n, 1, BY)])
    await primary.stopReplication()
    // More than a sequence logs ahead.
    for (let round = 0; round < 40; round++) await make(first)
    const given = await idsIn(primary)
    const lost = await first.latestEventCursor()
    primary.kill()
    await first.close()
    await standby.promote()

    const second = await openStore(standby.url(), { tables: 'require_current_tables' })
    await make(second)
    const ids = await idsIn(standby)
    expect(ids.order).toBeGreaterThan(given.order)
    expect(ids.pet).toBeGreaterThan(given.pet)
    expect(ids.category).toBeGreaterThan(given.category)

    // Receivers recognise an event by its cursor.
    expect(await second.eventsAfter(start, 4)).toEqual(before)
    const goneOn = await second.eventsAfter(kept, 10)
    expect(goneOn).toMatchObject({
      events: [
        { kind: 'change', petId: 2n, after: 1 },
        { kind: 'order' },
        { kind: 'category', categoryId: BigInt(ids.category) },
        { kind: 'pet', petId: BigInt(ids.pet) },
      ],
    })
    expect(await second.eventsAfter(lost, 10)).toBe('relist_needed')
    // Also once another event has its position.
    for (let quantity = 1; quantity <= 100; quantity++) {
      await second.changeStock([{ type: 'adjust', ...BY, changes: [{ petId: 1n, quantity }] }])
    }
    expect(await second.eventsAfter(lost, 10)).toBe('relist_needed')
    await second.close()
  })
})
