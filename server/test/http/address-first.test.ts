import { beforeEach, describe, expect, test } from 'bun:test'
import { createSecret, toStoredSecret } from '../../src/core/keys/api-key.ts'
import { operatorOf } from '../support/operator.ts'
import { standingOf } from '../support/standing.ts'
import { START, TestService } from '../support/test-service.ts'

const PER_MINUTE = 3
const MINUTE = 60_000
/** After this time a key is looked up again. */
const TRUSTED_FOR_MS = 250

let service: TestService
let lookUps: number
let refreshes: number
beforeEach(async () => {
  lookUps = 0
  refreshes = 0
  service = await TestService.start({
    anonymousPerMinute: PER_MINUTE,
    wrapStore: (store) => ({
      ...store,
      findKey: (hash) => {
        lookUps++
        return store.findKey(hash)
      },
      listSecretHashes: (after) => {
        refreshes++
        return store.listSecretHashes(after)
      },
    }),
  })
})

const list = (key: string | null) => service.call('GET', '/inventory', { key })

async function useUpAddress(): Promise<void> {
  for (let sent = 0; sent < PER_MINUTE; sent++) expect((await list(null)).status).toBe(401)
}

describe('from an address that has used up its anonymous requests', () => {
  test('an unknown key is rejected without a lookup', async () => {
    for (let sent = 0; sent < PER_MINUTE; sent++) {
      expect((await list(createSecret('production'))).status).toBe(401)
    }
    expect(lookUps).toBe(PER_MINUTE)
    for (let sent = 0; sent < 10; sent++) {
      const answer = await list(createSecret('production'))
      expect([answer.status, answer.error.code]).toEqual([429, 'rate_limit_exceeded'])
      expect(answer.headers.get('Retry-After')).toBe('60')
      expect(standingOf(answer)).toEqual({ limit: PER_MINUTE, remaining: 0, reset: START / 1_000 + 60 })
    }
    expect(lookUps).toBe(PER_MINUTE)
    service.now += MINUTE
    expect((await list(createSecret('production'))).status).toBe(401)
    expect(lookUps).toBe(PER_MINUTE + 1)
  })

  test('a known key is admitted, even if it must be looked up again', async () => {
    expect((await list(service.key)).status).toBe(200)
    await useUpAddress()
    for (let asked = 2; asked < 10; asked++) {
      service.now += TRUSTED_FOR_MS
      expect((await list(service.key)).status).toBe(200)
      expect(lookUps).toBe(asked)
    }
    expect((await list(null)).status).toBe(429)
  })

  test('an unseen valid key is admitted, even if it was created a moment ago or before a restart', async () => {
    const old = await service.createKey('pro')
    await useUpAddress()
    expect((await list(old.secret)).status).toBe(200)
    // The second and third round show that a later refresh queries the store again.
    for (let round = 0; round < 3; round++) {
      const { secret } = await service.createKey('pro')
      const answer = await list(secret)
      expect([answer.status, standingOf(answer).remaining]).toEqual([200, 299])
      expect((await list(createSecret('production'))).status).toBe(429)
    }
    await service.restart()
    await useUpAddress()
    refreshes = 0
    const answer = await list(old.secret)
    expect([answer.status, standingOf(answer).remaining, refreshes]).toEqual([200, 298, 0])
  })

  test('a rotated key is let in with its new secret at once', async () => {
    const { id } = await service.createKey('pro')
    await useUpAddress()
    const secret = createSecret('production')
    const act = { at: service.now, actor: 'test' }
    await operatorOf(service.store).rotateKey(id, toStoredSecret(secret, service.now), service.now, act)
    expect((await list(secret)).status).toBe(200)
  })

  test('all guesses share one query for new keys, which runs at most 20 times a second', async () => {
    await useUpAddress()
    refreshes = 0
    const together = Array.from({ length: 100 }, () => list(createSecret('production')))
    for (const { status } of await Promise.all(together)) expect(status).toBe(429)
    expect(refreshes).toBeLessThan(100)
    refreshes = 0
    const began = performance.now()
    for (let round = 0; round < 10; round++) expect((await list(createSecret('production'))).status).toBe(429)
    // Each of the ten was sent after the previous refresh had ended.
    expect(refreshes).toBeGreaterThanOrEqual(10)
    // A timer may fire up to a millisecond early.
    expect(refreshes).toBeLessThanOrEqual(Math.ceil((performance.now() - began) / 50) + 1)
    expect(lookUps).toBe(0)
  })

  test('a removed secret is looked up once more, then no longer', async () => {
    const { id, secret } = await service.createKey('pro')
    expect((await list(secret)).status).toBe(200)
    await useUpAddress()
    const act = { at: service.now, actor: 'test' }
    const next = toStoredSecret(createSecret('production'), service.now)
    await operatorOf(service.store).rotateKey(id, next, service.now, act)
    service.now += TRUSTED_FOR_MS
    for (let sent = 0; sent < 5; sent++) expect((await list(secret)).status).toBe(429)
    expect(lookUps).toBe(2)
  })
})
