import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { SQL } from 'bun'
import type { Order } from '../../src/core/orders/order.ts'
import type { Command, SubmittedCommand } from '../../src/core/stock/command.ts'
import { PetsLockedError } from '../../src/core/stock/stock-store.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { LowStockModel } from '../support/low-stock-model.ts'
import {
  addOrders,
  createOrder,
  createOrderWith,
  linesOf,
  orderCommand,
  orderIn,
  patchOrder,
  type Units,
} from '../support/orders.ts'
import { contradictions, eventsAfter } from '../support/oversell-check.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { until } from '../support/until.ts'
import { PET_IDS, startInstances, stockUp } from './shop.ts'

setDefaultTimeout(120_000)

let database: TestDatabase
let key: string
let instances: Awaited<ReturnType<typeof startInstances>>
let stores: [Store, Store]
beforeAll(async () => {
  database = await createDatabase()
  key = await stockUp(database.url)
  instances = await startInstances(database.url, 2)
  const open = () => openStore(database.url, { tables: 'migrate' })
  stores = [await open(), await open()]
})
afterAll(async () => {
  for (const store of stores) await store.close()
  await Promise.all(instances.map((instance) => instance.stop()))
  await database.drop()
})

const BY = { keyId: 'key_a', at: 1 }
const REMOVED_PET = { id: 60n, name: 'Rex', categoryId: 1n, status: 'available', quantity: 1 } as const
const set = (petId: bigint, quantity: number) =>
  stores[0].changeStock([{ type: 'adjust', ...BY, changes: [{ petId, quantity }] }])

function order(index: number, body: object): Promise<Response> {
  return fetch(`${instances[index % 2]?.address}/v1/store/orders`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
}

describe('orders on two instances on one PostgreSQL', () => {
  test('200 callers order one of a hundred units at once: 100 succeed, 100 are refused', async () => {
    await set(1n, 100)
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => order(index, { petId: 1, quantity: 1 })),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(100)
    expect(statuses.filter((status) => status === 409)).toHaveLength(100)
    expect(await stores[0].findAvailability(1n)).toEqual({ petId: 1n, quantity: 100, reserved: 100 })
  })

  test("a hold of a second on one instance expires on the other by the database's clock", async () => {
    await set(2n, 1)
    const hold = (await (await order(0, { petId: 2, quantity: 1, holdSeconds: 1 })).json()) as Record<
      string,
      string
    >
    let answer: Response
    do answer = await order(1, { petId: 2, quantity: 1 })
    while (answer.status === 409)
    const made = (await answer.json()) as Record<string, string>
    expect(answer.status).toBe(201)
    // Neither later nor earlier is possible.
    expect(Date.parse(made.createdAt ?? '')).toBeGreaterThanOrEqual(Date.parse(hold.expiresAt ?? ''))
    const shown = await instances[1]?.call(`/store/orders/${hold.id}`, key)
    expect(await shown?.json()).toMatchObject({ state: 'expired' })
  })

  test('an order whose hold ends while its completion waits for a lock is not completed', async () => {
    await set(3n, 2)
    await set(4n, 1)
    const [created] = await stores[0].changeStock([createOrderWith({ holdSeconds: 1 }, [3n, 1], [4n, 1])])
    const hold = orderIn(created)
    const sql = new SQL(database.url, { max: 1 })
    const lock = await sql.reserve()
    await lock`BEGIN`
    await lock`SELECT FROM stock WHERE pet_id = 4 FOR UPDATE`
    const completion = stores[1].changeStock([orderCommand('complete_order', hold)])
    await until(async () => (await stores[0].findOrder(hold.id))?.state === 'expired')
    await lock`ROLLBACK`
    expect(await completion).toMatchObject([{ type: 'order_closed', order: { state: 'expired' } }])
    expect(await stores[0].findAvailability(3n)).toEqual({ petId: 3n, quantity: 2, reserved: 0 })
    lock.release()
    await sql.close()
  })

  test('a hold that ends while another order waits for its pet reserves nothing from it', async () => {
    await set(3n, 1)
    const [created] = await stores[0].changeStock([createOrderWith({ holdSeconds: 1 }, [3n, 1])])
    const hold = orderIn(created)
    const sql = new SQL(database.url, { max: 1 })
    const lock = await sql.reserve()
    await lock`BEGIN`
    await lock`SELECT FROM stock WHERE pet_id = 3 FOR UPDATE`
    const wanted = stores[1].changeStock([createOrder([3n, 1])])
    await until(async () => (await stores[0].findOrder(hold.id))?.state === 'expired')
    await lock`ROLLBACK`
    const [outcome] = await wanted
    expect(outcome).toMatchObject({ type: 'done', order: { state: 'open' } })
    await stores[0].changeStock([orderCommand('cancel_order', orderIn(outcome))])
    lock.release()
    await sql.close()
  })

  test('two changes of an order whose pets were removed do not undo each other', async () => {
    await stores[0].changeStock([{ type: 'create_pet', ...BY, pet: REMOVED_PET }])
    const person = { customer: 'Anna Smith', note: 'at noon' }
    const [created] = await stores[0].changeStock([createOrderWith(person, [REMOVED_PET.id, 1])])
    const order = orderIn(created)
    await stores[0].changeStock([orderCommand('cancel_order', order)])
    await stores[0].changeStock([{ type: 'remove_pet', ...BY, petId: REMOVED_PET.id }])
    const sql = new SQL(database.url, { max: 1 })
    const lock = await sql.reserve()
    await lock`BEGIN`
    await lock`SELECT FROM orders WHERE id = ${order.id} FOR UPDATE`
    const erasures = [
      stores[0].changeStock([patchOrder(order, { customer: null })]),
      stores[1].changeStock([patchOrder(order, { note: null })]),
    ]
    await until(async () => {
      const [row] = await database.run(
        "SELECT count(*) AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      )
      return Number(row?.waiting) === erasures.length
    })
    await lock`ROLLBACK`
    await Promise.all(erasures)
    const erased = await stores[0].findOrder(order.id)
    expect([erased?.customer, erased?.note]).toEqual([undefined, undefined])
    lock.release()
    await sql.close()
  })

  test('an order whose new pet is locked by another process delays nobody else in its commit', async () => {
    for (const petId of [3n, 4n, 5n]) await set(petId, 9)
    const [created] = await stores[0].changeStock([createOrder([3n, 1])])
    const order = orderIn(created)
    const [changed] = await stores[1].changeStock([
      orderCommand('change_order', order, { lines: linesOf([[4n, 1]]) }),
    ])
    const sql = new SQL(database.url, { max: 1 })
    const lock = await sql.reserve()
    await lock`BEGIN`
    await lock`SELECT FROM stock WHERE pet_id = 4 FOR UPDATE`
    const stale = patchOrder(order, { note: 'at noon' })
    const commit = stores[0].changeStock([stale, createOrder([5n, 1])], { lockWait: 'brief' })
    const error = await commit.catch((reason: unknown) => reason)
    expect(error instanceof PetsLockedError && error.petIds).toEqual(new Set([3n]))
    await lock`ROLLBACK`
    await stores[0].changeStock([orderCommand('cancel_order', orderIn(changed))])
    lock.release()
    await sql.close()
  })

  test('baskets with crossing keys, pets and orders do not deadlock, nothing is sold twice or torn, and each crossing of a threshold is logged once', async () => {
    const pets = PET_IDS.slice(2).map(BigInt)
    for (const petId of pets) await set(petId, 30)
    const cursor = await stores[0].latestEventCursor()
    for (const petId of pets) {
      await stores[0].changeStock([{ type: 'update_pet', ...BY, petId, patch: { lowStockAt: 25 } }])
    }
    const open: Order[] = []
    const keyed = (command: Command, index: number): SubmittedCommand => ({
      ...command,
      idempotency: { key: `crossing-${index % 40}`, fingerprint: 'f', answer: () => 'made' },
    })
    /** Some of the pets, in another sequence for each index. */
    const unitsAt = (index: number): Units[] =>
      pets
        .map((_, at) => [pets[(index * 3 + at * 5) % pets.length] ?? 1n, 1] as const)
        .slice(0, 1 + (index % 4))
    async function commit(index: number): Promise<void> {
      const hold = index % 3 === 0 ? { holdSeconds: 1 } : {}
      const commands: SubmittedCommand[] = [
        createOrderWith(hold, ...unitsAt(index)),
        createOrderWith(hold, ...unitsAt(index + 1)),
        keyed({ type: 'adjust', ...BY, changes: pets.map((petId) => ({ petId, delta: 1 })) }, index),
      ]
      for (const [at, order] of open.splice(0, 3).entries()) {
        if (at === 0) commands.push(orderCommand('cancel_order', order))
        else if (at === 1) commands.push(orderCommand('complete_order', order))
        else commands.push(orderCommand('change_order', order, { lines: linesOf(unitsAt(index + 2)) }))
      }
      const sent = index % 2 === 0 ? commands : commands.toReversed()
      for (const outcome of (await stores[index % 2]?.changeStock(sent)) ?? []) {
        if ('order' in outcome && outcome.order.state === 'open') open.push(outcome.order)
      }
    }
    await Promise.all(
      Array.from({ length: 16 }, async (_, caller) => {
        for (let turn = 0; turn < 20; turn++) await commit(caller + turn * 16)
      }),
    )
    const events = await eventsAfter(stores[0], cursor)
    const sales = events.filter(({ kind }) => kind === 'change' || kind === 'order')
    expect(contradictions(sales, new Map(pets.map((petId) => [petId, 30])))).toEqual([])
    expect(sales.length).toBeGreaterThan(500)
    const lowStock = new LowStockModel(() => null)
    lowStock.play(events)
    expect(lowStock.finish()).toEqual([])
    expect(lowStock.crossings).toBeGreaterThan(0)
    expect(await stores[0].findDamage()).toEqual([])
    const [row] = await database.run(
      'SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = current_database()',
    )
    expect(row).toEqual({ deadlocks: 0 })
  })

  test('an id that an import has taken meanwhile is skipped', async () => {
    const petId = 3n
    await set(petId, 100)
    const [first] = await stores[0].changeStock([createOrder([petId, 1])])
    const last = orderIn(first).id
    await addOrders(stores[1], [{ id: last + 1n, petId, quantity: 1, complete: true }])
    // As if the import had come right after the id was taken.
    await database.run(`SELECT setval('order_ids', ${last})`)
    expect(await stores[0].changeStock([createOrder([petId, 1])])).toMatchObject([
      { order: { id: last + 2n } },
    ])
  })
})
