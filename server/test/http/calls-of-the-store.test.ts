import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createSecret, type Limits, PERMISSIONS, type Permission } from '../../src/core/keys/api-key.ts'
import type { Store } from '../../src/store/store.ts'
import { TestService } from '../support/test-service.ts'

/** The calls of the store that requests may make. */
type Question =
  | 'findKey'
  | 'admit'
  | 'stockChangesSince'
  | 'loadStock'
  | 'changeStock'
  | 'findOrder'
  | 'findAvailability'

/** The same store, recording its calls. */
class WatchedStore {
  readonly asked: Question[] = []

  wrap(store: Store): Store {
    return {
      ...store,
      findKey: this.#watched('findKey', store.findKey),
      openLimits: async (clock) => {
        const keeper = await store.openLimits(clock)
        return {
          admit: this.#watched('admit', async (keyId: string, limits: Limits) => keeper.admit(keyId, limits)),
          windowsOf: (keyId, limits) => keeper.windowsOf(keyId, limits),
          afterPendingChecks: (work) => keeper.afterPendingChecks(work),
          save: () => keeper.save(),
        }
      },
      stockChangesSince: this.#watched('stockChangesSince', store.stockChangesSince),
      loadStock: this.#watched('loadStock', store.loadStock),
      changeStock: this.#watched('changeStock', store.changeStock),
      findOrder: this.#watched('findOrder', store.findOrder),
      findAvailability: this.#watched('findAvailability', store.findAvailability),
    }
  }

  #watched<Arguments extends unknown[], Result>(
    question: Question,
    ask: (...given: Arguments) => Promise<Result>,
  ): (...given: Arguments) => Promise<Result> {
    return async (...given) => {
      this.asked.push(question)
      return ask(...given)
    }
  }
}

const watched = new WatchedStore()
let service: TestService
beforeAll(async () => {
  // For limits that are counted in the store.
  service = await TestService.start({ onPostgres: true, wrapStore: (store) => watched.wrap(store) })
})
afterAll(() => service.stop())

/** A used key, so that it is in memory and its windows are running. */
async function usedKey(perMinute: number, permissions: readonly Permission[] = PERMISSIONS): Promise<string> {
  const limits = { perMinute, perDay: 1_000 }
  const { secret } = await service.createKey('enterprise', { limits, permissions })
  expect((await service.call('GET', '/inventory', { key: secret })).status).toBe(200)
  return secret
}

/** The statuses of these requests of a key, and the calls that they made. */
async function callsOf(key: string, requests: readonly (readonly [method: string, path: string])[]) {
  watched.asked.length = 0
  const answers = await Promise.all(requests.map(([method, path]) => service.call(method, path, { key })))
  return { statuses: new Set(answers.map(({ status }) => status)), asked: new Set(watched.asked) }
}

describe('a refused request makes no call other than its limits', () => {
  const REQUESTS = [
    ['GET', '/inventory'],
    ['GET', '/inventory/1'],
    ['GET', '/inventory/1/availability'],
    ['GET', '/store/orders/1'],
    ['PATCH', '/store/orders/1'],
    ['DELETE', '/store/orders/1'],
  ] as const

  test('above its limit, and banned', async () => {
    const key = await usedKey(1)
    const refused = { statuses: new Set([429]), asked: new Set<Question>(['admit']) }
    for (let round = 0; round < 3; round++) {
      expect(await callsOf(key, REQUESTS)).toEqual(refused)
      service.now += 1_000
      // The key is in memory only for a moment.
      await service.call('GET', '/inventory', { key })
    }
    expect((await service.call('GET', '/inventory', { key })).error.code).toBe('key_banned')
  })

  test('without the permission', async () => {
    const key = await usedKey(100, [])
    const changes = REQUESTS.filter(([method]) => method !== 'GET')
    expect(await callsOf(key, changes)).toEqual({ statuses: new Set([403]), asked: new Set(['admit']) })
  })
})

describe('an admitted request', () => {
  test('that updates makes no calls other than its limits and its commit', async () => {
    const key = await usedKey(100)
    watched.asked.length = 0
    expect((await service.setQuantity(1n, '{"quantity": 5}', { key })).status).toBe(200)
    expect(watched.asked).toEqual(['admit', 'changeStock'])
  })
})

describe('a request without a valid key makes no call other than the key lookup', () => {
  test.each([
    ['no key', null, []],
    ['a mistyped key', 'pst_live_mistyped', []],
    ['an unknown key', createSecret('production'), ['findKey']],
  ])('%s', async (_, key, questions) => {
    watched.asked.length = 0
    expect((await service.call('GET', '/inventory', { key })).status).toBe(401)
    expect(watched.asked).toEqual(questions as Question[])
  })
})
