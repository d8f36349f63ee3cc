import { expect, test } from 'bun:test'
import { LimitLedger } from '../../src/core/limits/limit-ledger.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'

test('a key that goes on after its ban was lifted is banned again, and for good', async () => {
  const now = Date.UTC(2026, 10, 15, 12)
  const store = openSqliteStore(':memory:')
  const ledger = await LimitLedger.open(store, () => now)
  const ask = () => ledger.admit('key_a', { perMinute: 2, perDay: 100 }).refused
  expect([ask(), ask(), ask(), ask()]).toEqual([undefined, undefined, 'rate_limit_exceeded', 'key_banned'])
  await ledger.save()

  await store.liftBan('key_a', { at: now, actor: 'anna' })
  await ledger.heedLiftedBans()
  expect([ask(), ask()]).toEqual(['rate_limit_exceeded', 'key_banned'])
  await ledger.save()
  // The lifted one would still last, but it is not the one that the key has now.
  await ledger.heedLiftedBans()
  expect(ask()).toBe('key_banned')
  expect((await store.listBans(0)).map(({ number, liftedAt }) => [number, liftedAt])).toEqual([
    [1, now],
    [2, undefined],
  ])
  await store.close()
})
