import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { LedgerStore } from '../../src/core/limits/limit-store.ts'
import { LimitLedger } from '../../src/core/limits/rate-windows.ts'
import { keyMethods } from '../../src/store/keys.ts'
import { ledgerStore, usageMethods } from '../../src/store/limits.ts'
import { Connection } from '../../src/store/sqlite/connection.ts'
import { migrate } from '../../src/store/sqlite/migrations.ts'
import { freshFile } from '../store/fresh-file.ts'
import { bannedState, NOW } from '../store/limit-records.ts'
import { LATER } from './limit-cases.ts'

const LIMITS = { perMinute: 2, perDay: 100 }

const file = freshFile()
let connection: Connection
let store: LedgerStore
beforeEach(() => {
  connection = Connection.open(file.path)
  migrate(connection.database, 'migrate')
  store = ledgerStore(connection)
})
afterEach(() => connection.close())

const liftBan = (keyId: string, at: number) => keyMethods(connection).liftBan(keyId, { at, actor: 'anna' })

test('a key that continues after its ban was lifted is banned again, and stays banned', async () => {
  const ledger = await LimitLedger.open(store, () => NOW)
  const ask = () => ledger.admit('key_a', LIMITS, LATER).refused
  expect([ask(), ask()]).toEqual([undefined, undefined])
  expect([ask(), ask(), ask()]).toEqual(['rate_limit_exceeded', 'rate_limit_exceeded', 'key_banned'])
  await ledger.save()

  await liftBan('key_a', NOW)
  await ledger.applyLiftedBans()
  expect([ask(), ask(), ask()]).toEqual(['rate_limit_exceeded', 'rate_limit_exceeded', 'key_banned'])
  await ledger.save()
  // The lifted ban has not expired, but it is not the key's current one.
  await ledger.applyLiftedBans()
  expect(ask()).toBe('key_banned')
  const bans = await usageMethods(connection).listBans(0)
  expect(bans.map(({ number, liftedAt }) => [number, liftedAt])).toEqual([
    [1, NOW],
    [2, undefined],
  ])
})

test('a lifted ban is reported until it would have ended', async () => {
  await store.saveLimits(new Map([['key_a', bannedState()]]))
  expect(await store.listLiftedBans(NOW + 1_000)).toEqual([])
  await liftBan('key_a', NOW + 1_000)
  expect(await store.listLiftedBans(NOW + 2_000)).toEqual([{ keyId: 'key_a', number: 1 }])
  expect(await store.listLiftedBans(NOW + 300_000)).toEqual([])
})

test('state that could not be saved stays pending', async () => {
  let isBroken = true
  const ledger = await LimitLedger.open(
    {
      ...store,
      saveLimits: (states) => (isBroken ? Promise.reject(new Error('broken')) : store.saveLimits(states)),
    },
    () => NOW,
  )
  ledger.admit('key_a', LIMITS, LATER)
  await expect(ledger.save()).rejects.toThrow('broken')
  ledger.admit('key_a', LIMITS, LATER)
  isBroken = false
  await ledger.save()
  await ledger.save()
  expect((await store.loadLimits()).get('key_a')?.day.used).toBe(2)
})

test('work that waits for decisions runs at the end of the turn, because all are decided by then', async () => {
  const ledger = await LimitLedger.open(store, () => NOW)
  const done: string[] = []
  ledger.afterPendingChecks(() => done.push('deferred'))
  done.push('admitted')
  ledger.admit('key_a', LIMITS, LATER)
  await Promise.resolve()
  expect(done).toEqual(['admitted'])
  await new Promise((resume) => setImmediate(resume))
  expect(done).toEqual(['admitted', 'deferred'])
})
