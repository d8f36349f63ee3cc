import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { KeyRing } from '../../src/core/keys/key-ring.ts'
import { EventHub } from '../../src/core/stock/event-hub.ts'
import type { EventStore } from '../../src/core/stock/stock-store.ts'
import { EventStreams } from '../../src/http/event-streams.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('a check of the keys starts only after the previous check has ended', async () => {
  let now = 0
  const lookups: PromiseWithResolvers<undefined>[] = []
  const keyRing = await KeyRing.open(
    {
      listSecretHashes: async () => ({ hashes: [], position: 0n }),
      findKey: () => {
        const lookup = Promise.withResolvers<undefined>()
        lookups.push(lookup)
        return lookup.promise
      },
    },
    () => now,
  )
  const store = { latestEventCursor: async () => '0' } as unknown as EventStore
  const hub = new EventHub(store, () => {})
  const streams = new EventStreams({ hub, keyRing, clock: () => now, heartbeatMs: 3_600_000 })
  const request = { keyId: 'key_a', plan: 'pro', after: undefined, filter: {} } as const
  for (const secretHash of ['first', 'second']) await streams.open({ ...request, secretHash })

  const passSeconds = async (seconds: number) => {
    for (let passed = 0; passed < seconds * 10; passed++) {
      now += 100
      jest.advanceTimersByTime(100)
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    }
  }
  await passSeconds(5)
  expect(lookups).toHaveLength(1)
  lookups[0]?.reject(new Error('the database is unavailable'))
  await passSeconds(5)
  expect(lookups).toHaveLength(2)
  for (const { resolve } of lookups) resolve(undefined)
  streams.close()
})

test('a key of the plan Enterprise may have 200 open streams', async () => {
  const keyRing = await KeyRing.open(
    { listSecretHashes: async () => ({ hashes: [], position: 0n }), findKey: async () => undefined },
    () => 0,
  )
  const hub = new EventHub({ latestEventCursor: async () => '0' } as unknown as EventStore, () => {})
  const streams = new EventStreams({ hub, keyRing, clock: () => 0, heartbeatMs: 3_600_000 })
  const request = {
    keyId: 'key_a',
    plan: 'enterprise',
    after: undefined,
    filter: {},
    secretHash: 'h',
  } as const
  const statuses = new Map<number, number>()
  for (let opened = 0; opened < 201; opened++) {
    const { status } = await streams.open(request)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  expect(Object.fromEntries(statuses)).toEqual({ 200: 200, 429: 1 })
  streams.close()
})
