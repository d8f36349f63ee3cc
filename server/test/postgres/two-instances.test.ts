import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { PLAN_LIMITS } from '../../src/core/keys/api-key.ts'
import { openStore } from '../../src/store/open-store.ts'
import { exportedRows } from '../support/exported-rows.ts'
import { createDatabase, type TestDatabase } from '../support/postgres-databases.ts'
import { historyOf } from '../support/whole-store.ts'
import { Load } from './load.ts'
import { addKey, PET_IDS, startInstances, stockUp } from './shop.ts'

setDefaultTimeout(120_000)

let database: TestDatabase
let key: string
let instances: Awaited<ReturnType<typeof startInstances>>
let one: (typeof instances)[number]
let other: (typeof instances)[number]
beforeAll(async () => {
  database = await createDatabase()
  key = await stockUp(database.url)
  instances = await startInstances(database.url, 2)
  ;[one, other] = instances as [typeof one, typeof other]
})
afterAll(async () => {
  const codes = await Promise.all(instances.map((instance) => instance.stop()))
  await database.drop()
  expect(codes).toEqual([0, 0])
})

describe('two instances on one PostgreSQL', () => {
  test('5,000 updates and reads of the same pets on both, with adjustments and repeated requests: no stale read, no lost update', async () => {
    const load = new Load({ key, petIds: PET_IDS, addresses: instances.map(({ address }) => address) })
    let isOver = false
    const [statuses] = await Promise.all([
      load
        .sendPlain(32, (requests) => requests >= 5_000)
        .finally(() => {
          isOver = true
        }),
      load.sendKeyed(8, () => isOver && load.counts.made >= 100),
    ])
    await load.settle()
    expect(statuses).toEqual([200])
    expect(Math.min(...Object.values(load.counts))).toBeGreaterThan(0)
    expect(await load.violations(database.url)).toEqual([])
  })

  test('20 callers reverse one sale at once on both: one of them wins', async () => {
    const petId = PET_IDS[0] ?? 0
    const post = (instance: typeof one, path: string, body: object) =>
      instance.call(path, key, { method: 'POST', body: JSON.stringify(body) })
    const quantity = async () =>
      ((await (await one.call('/inventory', key)).json()) as { petId: number; quantity: number }[]).find(
        (item) => item.petId === petId,
      )?.quantity
    await one.call(`/inventory/${petId}`, key, { method: 'PATCH', body: '{"quantity": 10}' })
    const sale = { reason: 'sold', changes: [{ petId, delta: -3 }] }
    const { id } = (await (await post(one, '/inventory/adjustments', sale)).json()) as { id: number }
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        post(index % 2 === 0 ? one : other, `/inventory/adjustments/${id}/reverse`, {}),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)])
    const refusals = await Promise.all(
      answers.filter(({ status }) => status === 409).map((answer) => answer.json()),
    )
    expect(new Set(refusals.map((refusal) => (refusal as { code: string }).code))).toEqual(
      new Set(['already_reversed']),
    )
    expect(await quantity()).toBe(10)
  })

  const adjust = (instance: typeof one, idempotencyKey: string, petId: number, delta: number) =>
    fetch(`${instance.address}/v1/inventory/adjustments`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'Idempotency-Key': idempotencyKey,
      },
      body: JSON.stringify({ reason: 'received', changes: [{ petId, delta }] }),
    })

  test.each([
    ['an existing pet', PET_IDS[0] ?? 0, 200],
    ['an unknown pet', 987_654, 404],
  ])(
    'the same Idempotency-Key 100 times at once on both, for %s: decided once, 100 equal responses',
    async (_, petId, status) => {
      const store = await openStore(database.url, { tables: 'migrate' })
      const before = (await historyOf(store, BigInt(petId))).length
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          adjust(index % 2 === 0 ? one : other, `same-${petId}`, petId, 1),
        ),
      )
      const texts = await Promise.all(answers.map((answer) => answer.text()))
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([status]))
      expect(new Set(texts).size).toBe(1)
      expect(answers.filter(({ headers }) => headers.has('Idempotency-Replayed'))).toHaveLength(99)
      expect(await historyOf(store, BigInt(petId))).toHaveLength(before + (status === 200 ? 1 : 0))
      await store.close()
    },
  )

  test('one Idempotency-Key for different concurrent requests on both: one succeeds, the others are 422', async () => {
    const answers = await Promise.all(
      PET_IDS.map((petId, index) => adjust(index % 2 === 0 ? one : other, 'different', petId, 1)),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 422)).toHaveLength(PET_IDS.length - 1)
  })

  test('a file imported with one Idempotency-Key on both at once creates its pets once', async () => {
    const headers = {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'text/csv',
      'Idempotency-Key': 'file',
    }
    const body = `name,categoryId\n${'Imported once,1\n'.repeat(1_500)}`
    const answers = await Promise.all(
      [one, other, one, other].map(async (instance) => {
        for (;;) {
          const answer = await fetch(`${instance.address}/v1/imports`, { method: 'POST', headers, body })
          // The import of another caller may take longer than a request waits for it.
          if (answer.status !== 503) return answer
        }
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
    expect(answers.filter(({ headers }) => headers.has('Idempotency-Replayed'))).toHaveLength(3)
    const store = await openStore(database.url, { tables: 'migrate' })
    const pets = await exportedRows(store, 'pets')
    expect(pets.filter(({ name }) => name === 'Imported once')).toHaveLength(1_500)
    await store.close()
  })

  test('a Free key used on both at once gets exactly 60 requests in its window', async () => {
    const free = await addKey(database.url, PLAN_LIMITS.free)
    const sent = await Promise.all(
      Array.from({ length: 110 }, (_, index) => (index % 2 === 0 ? one : other).call('/inventory', free)),
    )
    const statuses = sent.map((response) => response.status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(60)
    expect(statuses.filter((status) => status === 429)).toHaveLength(50)
    const remaining = sent.flatMap((response) =>
      response.status === 200 ? [Number(response.headers.get('X-RateLimit-Remaining'))] : [],
    )
    expect(remaining.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, index) => index))
  })

  test('crossing batches do not deadlock', async () => {
    const stores = await Promise.all([
      openStore(database.url, { tables: 'migrate' }),
      openStore(database.url, { tables: 'migrate' }),
    ])
    const ids = PET_IDS.map(BigInt)
    const batch = (petIds: readonly bigint[], quantity: number) =>
      petIds.map((petId) => ({
        type: 'adjust' as const,
        changes: [{ petId, quantity }],
        keyId: 'key_a',
        at: 1,
      }))
    await Promise.all(
      Array.from({ length: 400 }, (_, index) =>
        stores[index % 2]?.changeStock(batch(index % 2 === 0 ? ids : ids.toReversed(), 1_000_000 + index)),
      ),
    )
    // Crossing keys, of adjustments with crossing pets.
    const keyed = (index: number) => ({
      type: 'adjust' as const,
      keyId: 'key_a',
      at: 1,
      changes: ids.map((petId) => ({ petId, delta: 1 })),
      idempotency: { key: `crossing-${index % 7}`, fingerprint: String(index), answer: () => 'made' },
    })
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => {
        const requests = [keyed(index), keyed(index + 3), keyed(index + 5)]
        return stores[index % 2]?.changeStock(index % 2 === 0 ? requests : requests.toReversed())
      }),
    )
    for (const store of stores) await store.close()
    const [row] = await database.run(
      'SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = current_database()',
    )
    expect(row).toEqual({ deadlocks: 0 })
  })
})

describe('an empty database', () => {
  test('on which four instances start at once is set up once, and all start', async () => {
    const empty = await createDatabase()
    const four = await startInstances(empty.url, 4)
    for (const { address } of four) expect((await fetch(`${address}/readyz`)).status).toBe(200)
    expect(await empty.run('SELECT count(*)::int AS count FROM migrations')).toEqual([{ count: 1 }])
    expect(await Promise.all(four.map((instance) => instance.stop()))).toEqual([0, 0, 0, 0])
    await empty.drop()
  })
})
