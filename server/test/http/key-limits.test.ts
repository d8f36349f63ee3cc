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
  test('returns the plan, the key, its permissions and both windows, including this request', async () => {
    const { id, secret } = await service.createKey('free', {
      name: 'The till',
      permissions: ['stock', 'pets'],
    })
    expect(await limitsOf(secret)).toEqual({
      plan: 'free',
      key: { id, name: 'The till' },
      permissions: ['stock', 'pets'],
      minute: { limit: 60, remaining: 59, reset: SECONDS + 60 },
      day: { limit: 1_000, remaining: 999, reset: SECONDS + 86_400 },
    })
    await service.call('GET', '/inventory', { key: secret })
    expect(await limitsOf(secret)).toMatchObject({ minute: { remaining: 57 }, day: { remaining: 997 } })
  })

  test('shows a key without permissions as read-only', async () => {
    const { secret } = await service.createKey('free', { permissions: [] })
    expect(await limitsOf(secret)).toMatchObject({ permissions: [] })
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

  test('a minute later the minute window is new and the day window continues', async () => {
    const { secret } = await service.createKey('business')
    for (let sent = 0; sent < 3; sent++) await limitsOf(secret)
    service.now = START + 60_000
    expect(await limitsOf(secret)).toMatchObject({
      minute: { limit: 1_000, remaining: 999, reset: SECONDS + 120 },
      day: { limit: 100_000, remaining: 99_996, reset: SECONDS + 86_400 },
    })
    service.now = START
  })

  test('returns the remaining requests after a restart', async () => {
    const { secret } = await service.createKey('pro')
    await limitsOf(secret)
    await service.restart()
    expect(await limitsOf(secret)).toMatchObject({ minute: { remaining: 298 }, day: { remaining: 9_998 } })
  })

  test('the last allowed request reports none left; the next is rejected', async () => {
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 1, perDay: 9 } })
    expect(await limitsOf(secret)).toMatchObject({ plan: 'enterprise', minute: { limit: 1, remaining: 0 } })
    expect((await service.call('GET', '/limits', { key: secret })).status).toBe(429)
  })
})
