import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { LimitKeeper } from '../../src/core/limits/limit-store.ts'
import { ERASURE, type Order } from '../../src/core/orders/order.ts'
import { GroupCommit } from '../../src/core/stock/group-commit.ts'
import { DAY } from '../../src/core/values/clock.ts'
import { backgroundJobs } from '../../src/service/jobs.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { addPets } from '../support/add-pets.ts'
import { createReadyDatabase } from '../support/postgres-databases.ts'
import { freshFile } from './fresh-file.ts'
import { pet } from './plain-rows.ts'

const START = 1_790_000_000_000
const NAME = 'Zebediah Quux'
const BY = { keyId: 'key_a', at: START }

const limits: Pick<LimitKeeper, 'afterPendingChecks' | 'save'> = {
  afterPendingChecks: (work) => void setImmediate(work),
  save: async () => {},
}

async function addOrder(store: Store): Promise<Order> {
  const order = { lines: [{ petId: 1n, quantity: 1 }], customer: NAME, note: `For ${NAME}` }
  const idempotency = { key: crypto.randomUUID(), fingerprint: '', answer: () => 'remembered' }
  const [result] = await store.changeStock([{ type: 'create_order', order, ...BY, idempotency }])
  if (result.type !== 'decided' || result.outcome.type !== 'done') throw new Error(Bun.inspect(result))
  return result.outcome.order
}

const erase = (store: Store, { id }: Order) =>
  store.changeStock([{ type: 'change_order', orderId: id, petIds: [1n], patch: ERASURE, ...BY }])

/** The tables in which the name stands. */
async function tablesWithName(store: Store): Promise<string[]> {
  const tables = new Set<string>()
  for await (const { table, rows } of store.readContents()) {
    if (Bun.inspect(rows).toLowerCase().includes('zebediah')) tables.add(table)
  }
  return [...tables]
}

const file = freshFile()
const DATABASES = [
  ['SQLite', async () => ({ url: `sqlite:${file.path}`, drop: async () => {} })],
  ['PostgreSQL', createReadyDatabase],
] as const

describe.each(DATABASES)('personal data on %s', (_, createDatabase) => {
  let store: Store
  let database: { readonly url: string; drop(): Promise<void> }
  beforeEach(async () => {
    database = await createDatabase()
    store = await openStore(database.url, { tables: 'migrate' })
    await addPets(store, [pet(1n, 10)])
  })
  afterEach(async () => {
    await store.close()
    await database.drop()
  })

  test('is in the row of its order and in no other table, and after an erasure in none', async () => {
    const order = await addOrder(store)
    await store.changeStock([{ type: 'complete_order', orderId: order.id, petIds: [1n], ...BY }])
    expect(await tablesWithName(store)).toEqual(['orders'])
    const [outcome] = await erase(store, order)
    expect(outcome).toMatchObject({ type: 'done', order: { state: 'complete' } })
    expect(await store.findOrder(order.id)).not.toHaveProperty('customer')
    expect(await tablesWithName(store)).toEqual([])
  })

  test('is erased by the retention job once its order has been closed for so long, and not earlier', async () => {
    const orders = [await addOrder(store), await addOrder(store)]
    const [closed, open] = orders.map(({ id }) => id)
    if (closed === undefined || open === undefined) throw new Error('two orders are needed')
    await store.changeStock([{ type: 'cancel_order', orderId: closed, petIds: [1n], ...BY }])
    const { closedAt = 0 } = (await store.findOrder(closed)) ?? {}
    let now = closedAt + 30 * DAY
    const commits = new GroupCommit({ store, limits, observers: [] })
    const jobs = backgroundJobs({ store, limits, commits, clock: () => now, retentionDays: 30 })
    const runJob = () =>
      jobs.find(({ name }) => name === 'erase-customers')?.run(new AbortController().signal)
    const customers = async () =>
      Promise.all([closed, open].map(async (id) => (await store.findOrder(id))?.customer))

    await runJob()
    expect(await customers()).toEqual([NAME, NAME])
    now += 1
    await runJob()
    expect(await customers()).toEqual([undefined, NAME])
  })
})

describe('the files of SQLite', () => {
  const filesWithName = () => {
    const folder = dirname(file.path)
    return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes('Zebediah'))
  }

  test('keep nothing after an erasure, also if a long read delays the end of the write-ahead log', async () => {
    const store = await openStore(`sqlite:${file.path}`, { tables: 'migrate', exclusive: true })
    try {
      await addPets(store, [pet(1n, 10)])
      const order = await addOrder(store)
      expect(filesWithName()).not.toEqual([])
      await store.readSnapshot(async ({ pets }) => {
        await pets[Symbol.asyncIterator]().next()
        await erase(store, order)
        await store.finishErasures()
        expect(filesWithName()).not.toEqual([])
      })
      await store.finishErasures()
      expect(filesWithName()).toEqual([])
    } finally {
      await store.close()
    }
  })
})
