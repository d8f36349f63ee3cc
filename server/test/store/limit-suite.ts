import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { LimitState } from '../../src/core/limits/limit-store.ts'
import { admit, newLimitState } from '../../src/core/limits/rate-windows.ts'
import { ledgerStore, saveStatements } from '../../src/store/limits.ts'
import type { Store } from '../../src/store/store.ts'
import { bannedState, NOW } from './limit-records.ts'
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
    const loadLimits = () => ledgerStore(database).loadLimits()
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
      expect(await loadLimits()).toEqual(
        new Map([
          ['key_used', used],
          ['key_banned', banned],
        ]),
      )
      bannedState(NOW + 300_000, banned)
      await save({ key_banned: banned })
      expect((await loadLimits()).get('key_banned')).toEqual(banned)
      expect((await loadLimits()).get('key_used')).toEqual(used)
    })

    test('reading the windows counts nothing', async () => {
      const keeper = await store.openLimits(() => now)
      const windows = await keeper.windowsOf('key_a', limits)
      expect([windows.minute.remaining, windows.day.remaining]).toEqual([2, 100])
      await keeper.admit('key_a', limits)
      const expected = {
        minute: { window: 'minute', limit: 2, remaining: 1, resetAt: NOW + 60_000 },
        day: { window: 'day', limit: 100, remaining: 99, resetAt: NOW + 86_400_000 },
      } as const
      expect(await keeper.windowsOf('key_a', limits)).toEqual(expected)
      expect(await keeper.windowsOf('key_a', limits)).toEqual(expected)
      now += 60_000
      expect((await keeper.windowsOf('key_a', limits)).minute.remaining).toBe(2)
    })

    test('counts and bans are visible to the next process that opens the limits', async () => {
      const keeper = await store.openLimits(() => now)
      for (let sent = 0; sent < 3; sent++) await keeper.admit('key_a', limits)
      now += 1_000
      for (let sent = 0; sent < 2; sent++) await keeper.admit('key_a', limits)
      await keeper.save()
      const next = await store.openLimits(() => now)
      expect((await next.admit('key_a', limits)).refused).toBe('key_banned')
      await next.save()
      now += 86_400_000
      expect((await next.admit('key_a', limits)).refused).toBeUndefined()
      await next.save()
    })

    test('the first rejection of a window counts for requests to other instances, too', async () => {
      const first = await store.openLimits(() => now)
      for (let sent = 0; sent < 10; sent++) await first.admit('key_a', limits)
      await first.save()
      const second = await store.openLimits(() => now)
      expect((await second.admit('key_a', limits)).refused).toBe('rate_limit_exceeded')
      await second.save()
      now += 1_000
      const third = await store.openLimits(() => now)
      expect((await third.admit('key_a', limits)).refused).toBe('rate_limit_exceeded')
      expect((await third.admit('key_a', limits)).refused).toBe('key_banned')
    })
  })
}
