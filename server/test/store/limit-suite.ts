import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { admit, freshState, type LimitState } from '../../src/core/limits/rate-windows.ts'
import { dayOf, type LimitRecord, type RequestCount } from '../../src/core/limits/usage.ts'
import type { Store } from '../../src/store/store.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const NOW = 1_790_000_000_000
const limits = { perMinute: 2, perDay: 100 }

const record = (keyId: string, state: LimitState, counts: Partial<LimitRecord> = {}): LimitRecord => ({
  keyId,
  state,
  day: '2026-11-15',
  accepted: 0,
  rejected: 0,
  ...counts,
})

function bannedState(at = NOW, state = freshState()): LimitState {
  for (let sent = 0; sent < 4; sent++) admit(state, limits, at)
  return state
}

/** By the store's own clock. */
async function timeOf(store: Store): Promise<number> {
  let time = 0
  await store.changeLimits([], (_, now) => {
    time = now
    return []
  })
  return time
}

/** What every adapter of the port promises of windows, bans and usage. */
export function limitSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: limits`, () => {
    let store: Store
    beforeEach(async () => {
      store = await underTest.open()
    })
    afterEach(async () => {
      await store.close()
      await underTest.discard()
    })

    test('windows and the latest ban of each key are remembered', async () => {
      const used = freshState()
      admit(used, limits, NOW)
      const banned = bannedState()
      await store.saveLimits([record('key_used', used), record('key_banned', banned)])
      expect(await store.loadLimits()).toEqual(
        new Map([
          ['key_used', used],
          ['key_banned', banned],
        ]),
      )
      bannedState(NOW + 300_000, banned)
      await store.saveLimits([record('key_banned', banned)])
      expect((await store.loadLimits()).get('key_banned')).toEqual(banned)
      expect((await store.loadLimits()).get('key_used')).toEqual(used)
    })

    test('limits can be changed from what they are, with nobody in between', async () => {
      const other = await underTest.open()
      const count = (at: Store) =>
        at.changeLimits(['key_b', 'key_a'], (states) =>
          ['key_a', 'key_b'].map((keyId) => {
            const state = structuredClone(states.get(keyId) ?? freshState())
            admit(state, { perMinute: 1_000, perDay: 1_000 }, NOW)
            return record(keyId, state, { accepted: 1 })
          }),
        )
      await Promise.all(Array.from({ length: 20 }, (_, index) => count(index % 2 === 0 ? store : other)))
      await other.close()
      const states = await store.loadLimits()
      expect([states.get('key_a')?.minute.used, states.get('key_b')?.day.used]).toEqual([20, 20])
      expect((await store.listUsage('2026-11-15')).map(({ accepted }) => accepted)).toEqual([20, 20])
    })

    test('limits that are changed tell of a ban, until it is lifted', async () => {
      await store.saveLimits([record('key_a', bannedState())])
      const seen: unknown[] = []
      const look = () =>
        store.changeLimits(['key_a'], (states) => {
          seen.push(states.get('key_a')?.ban)
          return []
        })
      await look()
      await store.liftBan('key_a', { at: NOW + 1_000, actor: 'anna' })
      await look()
      expect(seen).toEqual([{ number: 1, beganAt: NOW, endsAt: NOW + 300_000 }, undefined])
    })

    test.each(['together', 'one by one'])(
      'requests of keys, %s, are counted at once where there is room for all of them',
      async (how) => {
        const count = async (asked: readonly RequestCount[]) => {
          if (how === 'together') return store.countRequests(asked)
          const counted = await Promise.all(asked.map((one) => store.countRequests([one])))
          return new Map(counted.flatMap((found) => [...found]))
        }
        const now = await timeOf(store)
        const used = freshState()
        admit(used, limits, now)
        const banned = bannedState(now)
        const over = bannedState(now - 61_000)
        delete over.ban
        await store.saveLimits([
          record('key_used', used),
          record('key_banned', banned),
          record('key_over', over),
        ])
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

        await store.saveLimits([record('key_used', used)])
        expect((await store.countRequests([ask('key_used', 2, 2)])).size).toBe(0)
        const states = await store.loadLimits()
        expect(states.get('key_used')).toEqual(used)
        expect(states.get('key_banned')).toEqual(banned)
        expect((await store.listUsage(dayOf(now))).filter(({ accepted }) => accepted > 0)).toEqual([
          { keyId: 'key_used', day: dayOf(now), accepted: 9, rejected: 0 },
        ])
      },
    )

    test.each([1, 2])(
      'requests of keys, %d together, that are counted at once from two sides add up',
      async (keys) => {
        const used = freshState()
        admit(used, limits, await timeOf(store))
        await store.saveLimits([record('key_a', used), record('key_b', used)])
        const other = await underTest.open()
        const counts = ['key_b', 'key_a'].slice(2 - keys).map((keyId) => ({
          keyId,
          requests: 2,
          limits: { perMinute: 1_000, perDay: 1_000 },
        }))
        await Promise.all(
          Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? store : other).countRequests(counts)),
        )
        await other.close()
        const states = await store.loadLimits()
        expect(states.get('key_a')?.minute.used).toBe(41)
        expect(states.get('key_b')?.day.used).toBe(keys === 2 ? 41 : 1)
      },
    )

    test('usage adds up by day', async () => {
      const state = freshState()
      await store.saveLimits([record('key_a', state, { accepted: 3, rejected: 1 })])
      await store.saveLimits([
        record('key_a', state, { accepted: 2, rejected: 5 }),
        record('key_b', state, { accepted: 1 }),
      ])
      await store.saveLimits([record('key_a', state, { accepted: 9, day: '2026-11-16' })])
      expect(await store.listUsage('2026-11-15')).toEqual([
        { keyId: 'key_a', day: '2026-11-15', accepted: 5, rejected: 6 },
        { keyId: 'key_b', day: '2026-11-15', accepted: 1, rejected: 0 },
        { keyId: 'key_a', day: '2026-11-16', accepted: 9, rejected: 0 },
      ])
      expect(await store.listUsage('2026-11-17')).toEqual([])
    })

    test('a lifted ban is told until it would have ended, and stays lifted', async () => {
      const banned = bannedState()
      const act = { at: NOW + 1_000, actor: 'anna' }
      await store.saveLimits([record('key_a', banned)])
      expect(await store.listLiftedBans(NOW + 1_000)).toEqual([])
      expect(await store.liftBan('key_a', act)).toBe(true)
      expect(await store.liftBan('key_a', act)).toBe(false)
      expect(await store.liftBan('key_b', act)).toBe(false)
      expect(await store.listLiftedBans(NOW + 2_000)).toEqual([{ keyId: 'key_a', number: 1 }])
      expect(await store.listLiftedBans(NOW + 300_000)).toEqual([])

      await store.saveLimits([record('key_a', banned)])
      expect((await store.loadLimits()).get('key_a')?.ban).toBeUndefined()
      expect(await store.listBans(NOW)).toEqual([
        { keyId: 'key_a', number: 1, beganAt: NOW, endsAt: NOW + 300_000, liftedAt: NOW + 1_000 },
      ])
      expect(await store.listBans(NOW + 1)).toEqual([])
      expect((await store.listKeyActs()).map(({ action }) => action)).toEqual(['unban'])
    })
  })
}
