import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { LimitState } from '../../src/core/limits/limit-store.ts'
import { admit, newLimitState } from '../../src/core/limits/rate-windows.ts'
import { saveStatements } from '../../src/store/limits.ts'
import type { Store } from '../../src/store/store.ts'
import { CASE_TIME, LATER, LIMIT_CASES } from '../core/limit-cases.ts'
import { auditOf } from '../support/operator.ts'
import { bannedState, NOW, saveCase } from './limit-records.ts'
import type { StoreUnderTest } from './store-under-test.ts'

const limits = { perMinute: 2, perDay: 100 }

/** The guarantees of every adapter for windows and bans. */
export function limitSuite(name: string, underTest: StoreUnderTest): void {
  describe(`${name}: limits`, () => {
    let store: Store
    let database: Awaited<ReturnType<StoreUnderTest['connect']>>
    let now = NOW
    const save = (states: Readonly<Record<string, LimitState>>) =>
      database.commit(saveStatements(new Map(Object.entries(states))), 'unflushed')
    beforeEach(async () => {
      now = NOW
      store = await underTest.open(() => now)
      database = await underTest.connect()
    })
    afterEach(async () => {
      await database.close()
      await store.close()
      await underTest.discard()
    })

    test('windows and the latest ban of each key are stored', async () => {
      const used = newLimitState()
      admit(used, limits, NOW)
      const banned = bannedState()
      await save({ key_used: used, key_banned: banned })
      expect(await store.loadLimits()).toEqual(
        new Map([
          ['key_used', used],
          ['key_banned', banned],
        ]),
      )
      bannedState(NOW + 300_000, banned)
      await save({ key_banned: banned })
      expect((await store.loadLimits()).get('key_banned')).toEqual(banned)
      expect((await store.loadLimits()).get('key_used')).toEqual(used)
    })

    test.each(LIMIT_CASES)('requests get the decision of the rule: $name', async (given) => {
      now = CASE_TIME
      await saveCase(database, 'key_a', given)
      const keeper = await store.openLimits(() => now, 0)
      const told = await Promise.all(given.told.map(() => keeper.admit('key_a', given.limits, LATER)))
      const state: LimitState = structuredClone(given.before ?? newLimitState())
      expect(told).toEqual(given.told.map(() => admit(state, given.limits, now)))
      await keeper.save()
      expect((await store.loadLimits()).get('key_a')).toEqual(state)
    })

    test('reading the windows counts nothing', async () => {
      const keeper = await store.openLimits(() => now, 0)
      const windows = await keeper.windowsOf('key_a', limits)
      expect([windows.minute.remaining, windows.day.remaining]).toEqual([2, 100])
      await keeper.admit('key_a', limits, LATER)
      const expected = {
        minute: { window: 'minute', limit: 2, remaining: 1, resetAt: NOW + 60_000 },
        day: { window: 'day', limit: 100, remaining: 99, resetAt: NOW + 86_400_000 },
      } as const
      expect(await keeper.windowsOf('key_a', limits)).toEqual(expected)
      expect(await keeper.windowsOf('key_a', limits)).toEqual(expected)
      now += 60_000
      expect((await keeper.windowsOf('key_a', limits)).minute.remaining).toBe(2)
    })

    test('counts are visible to the next process that opens the limits', async () => {
      const keeper = await store.openLimits(() => now, 0)
      for (let sent = 0; sent < 4; sent++) await keeper.admit('key_a', limits, LATER)
      await keeper.save()
      const next = await store.openLimits(() => now, 0)
      expect((await next.admit('key_a', limits, LATER)).refused).toBe('key_banned')
      await next.save()
      now += 86_400_000
      expect((await next.admit('key_a', limits, LATER)).refused).toBeUndefined()
      await next.save()
    })

    test('a ban that an operator lifts has ended', async () => {
      const keeper = await store.openLimits(() => now, 0)
      const ask = async () => (await keeper.admit('key_a', limits, LATER)).refused
      expect([await ask(), await ask()]).toEqual([undefined, undefined])
      expect([await ask(), await ask()]).toEqual(['rate_limit_exceeded', 'rate_limit_exceeded'])
      expect([await ask(), await ask()]).toEqual(['key_banned', 'key_banned'])
      await keeper.save()
      expect(await store.liftBan('key_a', { at: now, actor: 'anna' })).toBe(true)
      await keeper.applyLiftedBans()
      expect(await ask()).toBe('rate_limit_exceeded')
      now += 60_000
      expect(await ask()).toBeUndefined()
    })

    test('a burst of any size bans nobody, and a key that continues is banned', async () => {
      const keeper = await store.openLimits(() => now)
      const sent = { receivedAt: performance.now() }
      const burst = await Promise.all(Array.from({ length: 50 }, () => keeper.admit('key_a', limits, sent)))
      const refusals = Map.groupBy(burst, ({ refused }) => refused ?? 'accepted')
      expect([refusals.get('accepted')?.length, refusals.get('rate_limit_exceeded')?.length]).toEqual([2, 48])

      // A client that waits for each response knows of a 429 once its own connection has carried one.
      const connection = {}
      const ask = async () =>
        (await keeper.admit('key_a', limits, { receivedAt: performance.now(), connection })).refused
      expect(await ask()).toBe('rate_limit_exceeded')
      await Bun.sleep(1)
      expect(await ask()).toBe('rate_limit_exceeded')
      await Bun.sleep(1)
      expect(await ask()).toBe('key_banned')
    })

    test('requests that reach another instance after the duration of a burst count', async () => {
      const first = await store.openLimits(() => now)
      const sent = { receivedAt: performance.now() }
      for (let count = 0; count < 10; count++) await first.admit('key_a', limits, sent)
      await first.save()
      const second = await store.openLimits(() => now)
      expect((await second.admit('key_a', limits, sent)).refused).toBe('rate_limit_exceeded')
      await second.save()
      now += 1_000
      const third = await store.openLimits(() => now)
      expect((await third.admit('key_a', limits, LATER)).refused).toBe('rate_limit_exceeded')
      expect((await third.admit('key_a', limits, LATER)).refused).toBe('key_banned')
    })

    test('a lifted ban stays lifted, and is lifted once', async () => {
      const banned = bannedState()
      const act = { at: NOW + 1_000, actor: 'anna' }
      await save({ key_a: banned })
      expect(await store.liftBan('key_a', act)).toBe(true)
      expect(await store.liftBan('key_a', act)).toBe(false)
      expect(await store.liftBan('key_b', act)).toBe(false)

      await save({ key_a: banned })
      expect((await store.loadLimits()).get('key_a')?.ban).toBeUndefined()
      expect(await store.listBans(NOW)).toEqual([
        { keyId: 'key_a', number: 1, beganAt: NOW, endsAt: NOW + 300_000, liftedAt: NOW + 1_000 },
      ])
      expect(await store.listBans(NOW + 1)).toEqual([])
      expect((await auditOf(store, 'key_a')).map(({ action }) => action)).toEqual(['unban'])
    })

    test('an expired ban cannot be lifted', async () => {
      await save({ key_a: bannedState() })
      now = NOW + 300_000
      expect(await store.liftBan('key_a', { at: now, actor: 'anna' })).toBe(false)
      expect(await auditOf(store, 'key_a')).toEqual([])
    })
  })
}
