import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createSecret, type Limits } from '../../src/core/keys/api-key.ts'
import type { Arrival } from '../../src/core/limits/limit-store.ts'
import type { Store } from '../../src/store/store.ts'
import { TestService } from '../support/test-service.ts'
import { until } from '../support/until.ts'

interface Faults {
  readonly failing: readonly Question[]
  /** The store responds to nothing before this resolves. */
  readonly gate: Promise<void>
}

const NO_FAULTS: Faults = { failing: [], gate: Promise.resolve() }

/** The calls of the store that requests may make. */
const QUESTIONS = [...(['findKey', 'admit', 'stockChangesSince', 'loadStock', 'changeStock'] as const)]
type Question = (typeof QUESTIONS)[number]

/** The same store, recording its calls and responding when the test allows it. */
class WatchedStore {
  readonly asked: Question[] = []
  faults: Faults = NO_FAULTS

  wrap(store: Store): Store {
    return {
      ...store,
      findKey: this.#watched('findKey', store.findKey),
      openLimits: async (clock) => {
        const keeper = await store.openLimits(clock)
        return {
          admit: this.#watched('admit', async (keyId: string, limits: Limits, arrival: Arrival) =>
            keeper.admit(keyId, limits, arrival),
          ),
          windowsOf: (keyId, limits) => keeper.windowsOf(keyId, limits),
          afterPendingChecks: (work) => keeper.afterPendingChecks(work),
          save: () => keeper.save(),
          applyLiftedBans: () => keeper.applyLiftedBans(),
        }
      },
      stockChangesSince: this.#watched('stockChangesSince', store.stockChangesSince),
      loadStock: this.#watched('loadStock', store.loadStock),
      changeStock: this.#watched('changeStock', store.changeStock),
    }
  }

  #watched<Arguments extends unknown[], Result>(
    question: Question,
    ask: (...given: Arguments) => Promise<Result>,
  ): (...given: Arguments) => Promise<Result> {
    return async (...given) => {
      this.asked.push(question)
      if (this.faults.failing.includes(question)) throw new TypeError(`${question} fails`)
      await this.faults.gate
      return ask(...given)
    }
  }
}

const watched = new WatchedStore()
const unhandled: unknown[] = []
const noteUnhandled = (error: unknown) => void unhandled.push(error)
let service: TestService
beforeAll(async () => {
  process.on('unhandledRejection', noteUnhandled)
  // For limits counted in the store: a read need not wait for them.
  service = await TestService.start({ onPostgres: true, wrapStore: (store) => watched.wrap(store) })
})
afterAll(async () => {
  await service.stop()
  process.off('unhandledRejection', noteUnhandled)
})
afterEach(() => {
  watched.faults = NO_FAULTS
})

/** A used key, so that it is in memory and its windows are running. */
async function usedKey(perMinute: number): Promise<string> {
  const { secret } = await service.createKey('enterprise', { limits: { perMinute, perDay: 1_000 } })
  expect((await service.call('GET', '/inventory', { key: secret })).status).toBe(200)
  return secret
}

describe('a read asks for changes while its limits are counted', () => {
  test.each(['/inventory', '/inventory/1'])('GET %s takes one round trip, not two', async (path) => {
    const key = await usedKey(100)
    watched.asked.length = 0
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    watched.faults = { ...NO_FAULTS, gate }
    const answer = service.call('GET', path, { key })
    const both = new Set<Question>(['admit', 'stockChangesSince'])
    // Both calls are made before either gets a response.
    await until(() => both.isSubsetOf(new Set(watched.asked)))
    open()
    expect([(await answer).status, new Set(watched.asked)]).toEqual([200, both])
  })

  test('it still sees every change acknowledged before it', async () => {
    const key = await usedKey(100)
    for (const quantity of [71, 72, 73]) {
      await service.setQuantity(2n, JSON.stringify({ quantity }))
      expect((await service.call('GET', '/inventory/2', { key })).item.quantity).toBe(quantity)
    }
  })

  test('an invalid petId is 400, but 429 above the limit', async () => {
    const key = await usedKey(2)
    expect((await service.call('GET', '/inventory/abc', { key })).status).toBe(400)
    expect((await service.call('GET', '/inventory/abc', { key })).status).toBe(429)
  })

  test('an update makes no calls other than its limits and its commit', async () => {
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

  test('an expired key', async () => {
    const { secret } = await service.createKey('pro', { expiresAt: service.now })
    watched.asked.length = 0
    expect((await service.call('GET', '/inventory', { key: secret })).status).toBe(401)
    expect(watched.asked).toEqual(['findKey'])
  })
})

describe('a failed unused call affects nobody else', () => {
  test.each([
    ['is rejected', [], 429],
    ['fails while its limits are counted', ['admit'], 500],
  ] as const)('if the request %s', async (_, failing, status) => {
    const key = await usedKey(status === 429 ? 1 : 100)
    watched.asked.length = 0
    watched.faults = { ...NO_FAULTS, failing: [...failing, 'stockChangesSince'] }
    for (const path of ['/inventory', '/inventory/1', '/inventory/abc']) {
      expect((await service.call('GET', path, { key })).status).toBe(status)
    }
    expect(watched.asked).toContain('stockChangesSince')
    // An unhandled rejection is reported at the end of a turn.
    await Bun.sleep(10)
    expect(unhandled).toEqual([])
    watched.faults = NO_FAULTS
    expect((await service.call('GET', '/inventory')).status).toBe(200)
  })

  test('if the request is admitted, the failure is its own', async () => {
    const key = await usedKey(100)
    watched.faults = { ...NO_FAULTS, failing: ['stockChangesSince'] }
    expect((await service.call('GET', '/inventory', { key })).status).toBe(500)
    expect(unhandled).toEqual([])
  })
})
