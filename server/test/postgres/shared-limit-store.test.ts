import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import type { LimitState, RequestCount, SharedLimitStore } from '../../src/core/limits/limit-store.ts'
import { admit, newLimitState } from '../../src/core/limits/rate-windows.ts'
import { SharedLimits } from '../../src/core/limits/shared-limits.ts'
import { ledgerStore, saveStatements } from '../../src/store/limits.ts'
import { Connection } from '../../src/store/postgres/connection.ts'
import { sharedLimitStore } from '../../src/store/postgres/limits.ts'
import { migrate } from '../../src/store/postgres/migrations.ts'
import { DEFAULT_POSTGRES_SETTINGS } from '../../src/store/postgres/store.ts'
import { storeClock } from '../../src/store/postgres/store-clock.ts'
import { CASE_TIME, LIMIT_CASES } from '../core/limit-cases.ts'
import { bannedState, NOW } from '../store/limit-records.ts'
import { createDatabase, type PostgresDatabase } from '../support/postgres-databases.ts'

setDefaultTimeout(120_000)

let database: PostgresDatabase
let connection: Connection
/** The connection of another instance. */
let otherConnection: Connection
let now = NOW
const clock = storeClock(() => now)
let store: SharedLimitStore
let other: SharedLimitStore
beforeAll(async () => {
  database = await createDatabase()
  connection = new Connection(database.url, DEFAULT_POSTGRES_SETTINGS)
  otherConnection = new Connection(database.url, DEFAULT_POSTGRES_SETTINGS)
  await migrate(connection, 'migrate')
  store = sharedLimitStore(connection, clock)
  other = sharedLimitStore(otherConnection, clock)
})
afterEach(async () => {
  now = NOW
  await database.run('TRUNCATE limit_windows')
})
afterAll(async () => {
  await connection.close()
  await otherConnection.close()
  await database.drop()
})

const save = (states: Readonly<Record<string, LimitState>>) =>
  connection.commit(saveStatements(new Map(Object.entries(states))))
const loadLimits = () => ledgerStore(connection).loadLimits()
const MANY = { perMinute: 1_000, perDay: 1_000 }

function usedOnce() {
  const used = newLimitState()
  admit(used, MANY, NOW)
  return used
}

describe('limits that several instances share', () => {
  test('are read and changed atomically', async () => {
    const count = (at: SharedLimitStore) =>
      at.changeLimits(['key_b', 'key_a'], (states) => {
        const changed = ['key_a', 'key_b'].map((keyId) => {
          const state = structuredClone(states.get(keyId) ?? newLimitState())
          admit(state, MANY, NOW)
          return [keyId, state] as const
        })
        return new Map(changed)
      })
    await Promise.all(Array.from({ length: 20 }, (_, index) => count(index % 2 === 0 ? store : other)))
    const states = await loadLimits()
    expect([states.get('key_a')?.minute.used, states.get('key_b')?.day.used]).toEqual([20, 20])
  })

  test('are read without a lock, and without a row for a key that was never used', async () => {
    await save({ key_a: usedOnce() })
    const held = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const locking = otherConnection.readThenWrite(
      'unflushed',
      async (sql) => {
        await sql`SELECT FROM limit_windows FOR UPDATE`
        locked.resolve()
        await held.promise
      },
      () => undefined,
    )
    await locked.promise
    try {
      const { state } = await store.readState('key_a')
      expect(state).toEqual(usedOnce())
    } finally {
      held.resolve()
      await locking
    }
    expect(await store.readState('key_b')).toEqual({ state: newLimitState(), now: NOW })
    expect([...(await loadLimits()).keys()]).toEqual(['key_a'])
  })

  test('use the clock of the database, unless tests set one', async () => {
    const before = Date.now()
    const read = await sharedLimitStore(connection, storeClock()).readState('key_a')
    expect(read.now).toBeWithin(before - 1_000, Date.now() + 1_000)
    const state = newLimitState()
    admit(state, MANY, before)
    await save({ key_a: state })
    const counted = await sharedLimitStore(connection, storeClock()).countRequests([
      { keyId: 'key_a', requests: 1, limits: MANY },
    ])
    expect(counted.get('key_a')?.at).toBeWithin(before, Date.now() + 1_000)
  })
})

describe('the one statement that counts', () => {
  test.each(LIMIT_CASES)(
    '$name: it counts plain requests, and leaves the rest alone',
    async ({ before, limits, told, isPlain }) => {
      now = CASE_TIME
      const saveCase = async () => before !== undefined && save({ key_a: before })
      // With a second key, because the rows of several keys are locked first.
      await save({ key_b: usedOnce() })
      const asked = { keyId: 'key_a', requests: told.length, limits }
      const beside = { keyId: 'key_b', requests: 1, limits: MANY }
      for (const counts of [[asked], [beside, asked]]) {
        await saveCase()
        const counted = (await store.countRequests(counts)).get('key_a')
        expect(counted !== undefined).toBe(isPlain)
        const state = structuredClone(before)
        if (state !== undefined && isPlain) {
          for (const _ of told) admit(state, limits, CASE_TIME)
          expect(counted).toEqual({
            minute: { startedAt: state.minute.startedAt, used: state.minute.used },
            day: { startedAt: state.day.startedAt, used: state.day.used },
            at: CASE_TIME,
          })
        }
        expect((await loadLimits()).get('key_a')).toEqual(state as never)
      }
      expect((await loadLimits()).get('key_b')?.minute.used).toBe(2)
    },
  )

  test.each(['together', 'one by one'])(
    'requests of keys, %s, are counted if all of them have room',
    async (how) => {
      const count = async (asked: readonly RequestCount[]) => {
        if (how === 'together') return store.countRequests(asked)
        const counted = await Promise.all(asked.map((one) => store.countRequests([one])))
        return new Map(counted.flatMap((found) => [...found]))
      }
      const used = usedOnce()
      const banned = bannedState(now)
      const over = bannedState(now - 61_000)
      delete over.ban
      await save({ key_used: used, key_banned: banned, key_over: over })
      const ask = (keyId: string, requests: number, perDay = 100) => ({
        keyId,
        requests,
        limits: { perMinute: 10, perDay },
      })
      const counted = await count([ask('key_used', 9), ask('key_banned', 1), ask('key_over', 1)])
      expect([...counted.keys()]).toEqual(['key_used'])
      expect(counted.get('key_used')).toMatchObject({
        minute: { startedAt: used.minute.startedAt, used: 10 },
        day: { startedAt: used.day.startedAt, used: 10 },
      })
      expect((await store.countRequests([ask('key_used', 1)])).size).toBe(0)
      expect((await store.countRequests([ask('key_new', 1)])).size).toBe(0)

      await save({ key_used: used })
      expect((await store.countRequests([ask('key_used', 2, 2)])).size).toBe(0)
      const states = await loadLimits()
      expect(states.get('key_used')).toEqual(used)
      expect(states.get('key_banned')).toEqual(banned)
    },
  )

  test.each([1, 2])('requests of %d keys that two instances count add up', async (keys) => {
    await save({ key_a: usedOnce(), key_b: usedOnce() })
    const counts = ['key_b', 'key_a'].slice(2 - keys).map((keyId) => ({
      keyId,
      requests: 2,
      limits: MANY,
    }))
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? store : other).countRequests(counts)),
    )
    const states = await loadLimits()
    expect(states.get('key_a')?.minute.used).toBe(41)
    expect(states.get('key_b')?.day.used).toBe(keys === 2 ? 41 : 1)
  })

  // The locks follow the order of the keys, even if PostgreSQL finds the rows in another order.
  test.each(['on', 'off'])(
    'keys in any order do not deadlock with changes of the same keys (nested loops %s)',
    async (nestedLoops) => {
      const { pathname } = new URL(database.url)
      for (const [join, state] of [
        ['nestloop', nestedLoops],
        ['mergejoin', nestedLoops],
      ]) {
        await database.run(`ALTER DATABASE ${pathname.slice(1)} SET enable_${join} = ${state}`)
      }
      const connections = [1, 2].map(() => new Connection(database.url, DEFAULT_POSTGRES_SETTINGS))
      const stores = connections.map((one) => sharedLimitStore(one, clock))
      const keyIds = Array.from({ length: 8 }, (_, index) => `key_${index}`)
      const backwards = keyIds.toReversed()
      await save(Object.fromEntries(backwards.map((keyId) => [keyId, usedOnce()])))
      await Promise.all(
        Array.from({ length: 200 }, async (_, turn) => {
          const inTurn = turn % 4 < 2 ? keyIds : backwards
          const counts = inTurn.map((keyId) => ({ keyId, requests: 1, limits: MANY }))
          const store = stores[turn % 2]
          return turn % 5 === 0 ? store?.changeLimits(inTurn, () => new Map()) : store?.countRequests(counts)
        }),
      )
      for (const one of connections) await one.close()
      const [row] = await database.run(
        'SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = current_database()',
      )
      expect(row).toEqual({ deadlocks: 0 })
      expect([...(await loadLimits()).values()].map(({ day }) => day.used)).toEqual(Array(8).fill(161))
    },
  )
})

test('a locked row of one key delays that key only', async () => {
  const limits = new SharedLimits(store)
  const admitted: string[] = []
  const ask = (keyId: string) => limits.admit(keyId, MANY).then(() => admitted.push(keyId))
  await Promise.all([ask('key_a'), ask('key_b')])
  const locker = database.connect()
  await locker.unsafe("BEGIN; SELECT 1 FROM limit_windows WHERE key_id = 'key_a' FOR UPDATE")
  const counts = ['key_a', 'key_b'].map((keyId) => ({ keyId, requests: 1, limits: MANY }))
  for (const some of [counts, counts.slice(0, 1)]) expect((await store.countRequests(some)).size).toBe(0)
  admitted.length = 0
  const locked = ask('key_a')
  for (let round = 0; round < 10; round++) await ask('key_b')
  expect(admitted).toEqual(Array(10).fill('key_b'))
  await locker.unsafe('COMMIT')
  await locker.close()
  await locked
})
