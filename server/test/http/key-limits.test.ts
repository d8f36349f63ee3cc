import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { standingOf } from '../support/standing.ts'
import { START, TestService } from '../support/test-service.ts'

const SECONDS = START / 1_000

let service: TestService
beforeAll(async () => {
  service = await TestService.start()
})
afterAll(() => service.stop())

const limitsOf = async (key: string) => (await service.call('GET', '/limits', { key })).json

describe('GET /limits', () => {
  test('returns the plan, the key, its permissions and both windows', async () => {
    const { id, secret } = await service.createKey('free', {
      name: 'The till',
      permissions: ['stock', 'pets'],
    })
    expect(await limitsOf(secret)).toEqual({
      plan: 'free',
      key: { id, name: 'The till' },
      permissions: ['stock', 'pets'],
      minute: { limit: 60, remaining: 60, reset: SECONDS + 60 },
      day: { limit: 1_000, remaining: 1_000, reset: SECONDS + 86_400 },
    })
    await service.call('GET', '/inventory', { key: secret })
    expect(await limitsOf(secret)).toMatchObject({ minute: { remaining: 59 }, day: { remaining: 999 } })
  })

  test('agrees with the headers, whichever window is tighter', async () => {
    const loose = { limits: { perMinute: 100, perDay: 5 } }
    for (const [overrides, window] of [
      [{}, 'minute'],
      [loose, 'day'],
    ] as const) {
      const { secret } = await service.createKey('pro', overrides)
      const answer = await service.call('GET', '/limits', { key: secret })
      expect((answer.json as Record<string, unknown>)[window]).toEqual(standingOf(answer))
    }
  })

  test('does not count, and answers when the limit is exceeded and while the key is banned', async () => {
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 1, perDay: 9 } })
    const answers = async () => (await service.call('GET', '/inventory', { key: secret })).error.code
    for (let sent = 0; sent < 3; sent++) await limitsOf(secret)
    expect((await service.call('GET', '/inventory', { key: secret })).status).toBe(200)
    expect(await answers()).toBe('rate_limit_exceeded')
    const exceeded = await service.call('GET', '/limits', { key: secret })
    expect([exceeded.status, standingOf(exceeded).remaining]).toEqual([200, 0])
    expect(exceeded.json).toMatchObject({ plan: 'enterprise', minute: { limit: 1, remaining: 0 } })
    expect(exceeded.json).not.toHaveProperty('bannedUntil')
    service.now += 1_000
    expect(await answers()).toBe('key_banned')
    const banned = await service.call('GET', '/limits', { key: secret })
    expect(banned.json).toMatchObject({ bannedUntil: SECONDS + 301 })
    expect(standingOf(banned)).toEqual({ limit: 1, remaining: 0, reset: SECONDS + 301 })
  })
})
