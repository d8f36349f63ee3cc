import { expect, test } from 'bun:test'
import type { SharedLimitStore } from '../../src/core/limits/limit-store.ts'
import { SharedLimits } from '../../src/core/limits/shared-limits.ts'
import { someTurns } from '../support/turns.ts'

const LIMITS = { perMinute: 1_000, perDay: 1_000 }

const readState = () => Promise.reject(new Error('nothing is read'))

/** A store whose batches end when the test says so. */
function slowStore() {
  const rounds: { requests: number; end: () => Promise<void> }[] = []
  let used = 0
  const countRequests: SharedLimitStore['countRequests'] = async (counts) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const requests = counts.reduce((sum, count) => sum + count.requests, 0)
    rounds.push({
      requests,
      end: async () => {
        resolve()
        await someTurns()
      },
    })
    await promise
    used += requests
    const window = { startedAt: 0, used }
    return new Map(counts.map(({ keyId }) => [keyId, { minute: window, day: window, at: 1 }]))
  }
  const changeLimits = () => Promise.reject(new Error('all have room'))
  return { rounds, limits: new SharedLimits({ countRequests, changeLimits, readState }) }
}

test('requests that arrive during a batch go into the next one together', async () => {
  const { rounds, limits } = slowStore()
  const ask = () => limits.admit('key_a', LIMITS)
  const first = ask()
  await someTurns()
  const others = [ask(), ask(), ask()]
  await someTurns()
  expect(rounds.map(({ requests }) => requests)).toEqual([1])
  await rounds[0]?.end()
  expect(await first).toMatchObject({ remaining: 999 })
  expect(rounds.map(({ requests }) => requests)).toEqual([1, 3])
  await rounds[1]?.end()
  expect((await Promise.all(others)).map(({ remaining }) => remaining)).toEqual([998, 997, 996])
})

test('work after the batch waits for the current one, not for the next', async () => {
  const { rounds, limits } = slowStore()
  const done: string[] = []
  limits.afterPendingChecks(() => done.push('at once'))
  await someTurns()
  expect(done).toEqual(['at once'])
  const first = limits.admit('key_a', LIMITS).then(() => done.push('first'))
  await someTurns()
  limits.afterPendingChecks(() => done.push('after the first'))
  const second = limits.admit('key_a', LIMITS).then(() => done.push('second'))
  await someTurns()
  expect(done).toEqual(['at once'])
  await rounds[0]?.end()
  await first
  expect(done).toEqual(['at once', 'first', 'after the first'])
  await rounds[1]?.end()
  await second
})

test('a key that another process has locked delays no other key, and its later requests wait for the same lock', async () => {
  const calls: string[] = []
  const lock = Promise.withResolvers<void>()
  const limits = new SharedLimits({
    readState,
    // Every key needs a closer check.
    countRequests: async () => new Map(),
    changeLimits: async (keyIds, change, lockWait) => {
      calls.push([lockWait, ...keyIds].join(' '))
      if (keyIds.includes('locked')) {
        if (lockWait === 'brief') return 'locked'
        await lock.promise
      }
      change(new Map(), 1_000)
      return 'saved'
    },
  })
  const admitted: string[] = []
  const ask = (keyId: string) => limits.admit(keyId, LIMITS).then(() => admitted.push(keyId))
  const all = [ask('locked'), ask('free')]
  await someTurns()
  expect(calls).toEqual(['brief locked free', 'full locked', 'full free'])
  expect(admitted).toEqual(['free'])
  all.push(ask('locked'), ask('free'))
  await someTurns()
  expect(calls.slice(3)).toEqual(['brief free'])
  expect(admitted).toEqual(['free', 'free'])
  lock.resolve()
  await someTurns()
  expect(calls.slice(4)).toEqual(['brief locked', 'full locked'])
  await Promise.all(all)
})

test('a failure of a locked key fails the requests that have waited for it, and the next is tried again', async () => {
  const locks: PromiseWithResolvers<void>[] = []
  const limits = new SharedLimits({
    readState,
    countRequests: async () => new Map(),
    changeLimits: async (_, change, lockWait) => {
      if (lockWait === 'brief') return 'locked'
      const lock = Promise.withResolvers<void>()
      locks.push(lock)
      await lock.promise
      change(new Map(), 1_000)
      return 'saved'
    },
  })
  const messageOf = (error: Error) => error.message
  const first = limits.admit('locked', LIMITS).catch(messageOf)
  await someTurns()
  const second = limits.admit('locked', LIMITS)
  locks[0]?.reject(new Error('stays locked'))
  expect(await first).toBe('stays locked')
  await someTurns()
  locks[1]?.resolve()
  expect(await second).toMatchObject({ limit: LIMITS.perMinute })
})
