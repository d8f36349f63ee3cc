import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { LedgerStore } from '../../src/core/limits/limit-store.ts'
import { LimitLedger } from '../../src/core/limits/rate-windows.ts'
import { ledgerStore } from '../../src/store/limits.ts'
import { Connection } from '../../src/store/sqlite/connection.ts'
import { migrate } from '../../src/store/sqlite/migrations.ts'
import { freshFile } from '../store/fresh-file.ts'
import { NOW } from '../store/limit-records.ts'

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

test('state that could not be saved stays pending', async () => {
  let isBroken = true
  const ledger = await LimitLedger.open(
    {
      ...store,
      saveLimits: (states) => (isBroken ? Promise.reject(new Error('broken')) : store.saveLimits(states)),
    },
    () => NOW,
  )
  ledger.admit('key_a', LIMITS)
  await expect(ledger.save()).rejects.toThrow('broken')
  ledger.admit('key_a', LIMITS)
  isBroken = false
  await ledger.save()
  await ledger.save()
  expect((await store.loadLimits()).get('key_a')?.day.used).toBe(2)
})

test('a key that is idle while the clock is set back waits no longer than announced', async () => {
  const hour = 3_600_000
  let now = NOW
  const ledger = await LimitLedger.open(store, () => now)
  const ofDay = { perMinute: 100, perDay: 1 }
  ledger.admit('key_idle', ofDay)
  now += 12 * hour
  ledger.admit('key_busy', LIMITS)
  now -= hour
  ledger.admit('key_busy', LIMITS)
  now += 12 * hour - 1
  expect(ledger.admit('key_idle', ofDay).refused).toBe('rate_limit_exceeded')
  now += 1
  expect(ledger.admit('key_idle', ofDay).refused).toBeUndefined()
})

test('work that waits for decisions runs at the end of the turn, because all are decided by then', async () => {
  const ledger = await LimitLedger.open(store, () => NOW)
  const done: string[] = []
  ledger.afterPendingChecks(() => done.push('deferred'))
  done.push('admitted')
  ledger.admit('key_a', LIMITS)
  await Promise.resolve()
  expect(done).toEqual(['admitted'])
  await new Promise((resume) => setImmediate(resume))
  expect(done).toEqual(['admitted', 'deferred'])
})
