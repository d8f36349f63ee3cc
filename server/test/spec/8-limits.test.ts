import { beforeEach, describe, expect, test } from 'bun:test'
import { PLAN_LIMITS } from '../../src/core/keys/api-key.ts'
import { RawConnection } from '../support/raw-connection.ts'
import { standingOf } from '../support/standing.ts'
import { type Answer, START, TestService } from '../support/test-service.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 86_400_000

let service: TestService
beforeEach(async () => {
  service = await TestService.start()
})

const list = (key: string): Promise<Answer> => service.call('GET', '/inventory', { key })

/** Sends `count` requests one after the other and returns the last response. */
async function send(key: string, count: number): Promise<Answer> {
  let last = await list(key)
  for (let sent = 1; sent < count; sent++) last = await list(key)
  return last
}

describe('section 8: rate limits by plan', () => {
  test('Free, Pro and Business have the limits of their plan', () => {
    expect(PLAN_LIMITS).toEqual({
      free: { perMinute: 60, perDay: 1_000 },
      pro: { perMinute: 300, perDay: 10_000 },
      business: { perMinute: 1_000, perDay: 100_000 },
    })
  })

  test.each(['free', 'pro', 'business'] as const)(
    'a %s key gets the requests of its minute, then 429',
    async (plan) => {
      const { secret } = await service.createKey(plan)
      const { perMinute } = PLAN_LIMITS[plan]
      for (let remaining = perMinute - 1; remaining >= 0; remaining--) {
        const answer = await list(secret)
        expect(answer.status).toBe(200)
        expect(standingOf(answer)).toEqual({ limit: perMinute, remaining, reset: START / 1000 + 60 })
      }
      const over = await list(secret)
      expect(over.status).toBe(429)
      expect(standingOf(over)).toEqual({ limit: perMinute, remaining: 0, reset: START / 1000 + 60 })
    },
  )
})

describe('section 8: windows', () => {
  test('requests are admitted again as soon as the window ends, to the millisecond', async () => {
    const { secret } = await service.createKey('free')
    await send(secret, 60)
    service.now = START + MINUTE - 1
    const late = await list(secret)
    expect([late.status, late.headers.get('Retry-After')]).toEqual([429, '1'])
    service.now = START + MINUTE
    const fresh = await list(secret)
    expect(fresh.status).toBe(200)
    expect(standingOf(fresh)).toEqual({ limit: 60, remaining: 59, reset: START / 1000 + 120 })
  })

  test('a window starts with its first request', async () => {
    const { secret } = await service.createKey('free')
    await list(secret)
    service.now = START + 10 * MINUTE + 400
    const { reset } = standingOf(await list(secret))
    expect(reset).toBe(START / 1000 + 660)
    expect(reset - service.now / 1000).toBeLessThanOrEqual(60)
  })

  test('the headers switch to the day window when it has fewer requests left, and it rejects when used up', async () => {
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 10, perDay: 16 } })
    expect(standingOf(await send(secret, 5))).toEqual({ limit: 10, remaining: 5, reset: START / 1000 + 60 })
    service.now = START + MINUTE
    const next = standingOf(await list(secret))
    expect(next).toEqual({ limit: 10, remaining: 9, reset: START / 1000 + 120 })
    service.now = START + 2 * MINUTE
    const takenOver = standingOf(await list(secret))
    expect(takenOver).toEqual({ limit: 16, remaining: 9, reset: (START + DAY) / 1000 })
    expect(standingOf(await send(secret, 9)).remaining).toBe(0)
    const over = await list(secret)
    expect([over.status, over.headers.get('Retry-After')]).toEqual([429, String(86_400 - 120)])
    expect(standingOf(over)).toEqual({ limit: 16, remaining: 0, reset: (START + DAY) / 1000 })
    expect(over.error.message).toStartWith('the limit of 16 requests per day is exceeded; wait ')
    service.now = START + DAY
    expect((await list(secret)).status).toBe(200)
  })

  test('each key has its own windows, and rejected requests do not count', async () => {
    const { secret } = await service.createKey('enterprise', { limits: { perMinute: 20, perDay: 30 } })
    await send(secret, 30)
    const { secret: other } = await service.createKey('enterprise', { limits: { perMinute: 7, perDay: 500 } })
    expect(standingOf(await list(other))).toMatchObject({ limit: 7, remaining: 6 })
    service.now = START + MINUTE
    expect(standingOf(await list(secret)).remaining).toBe(9)
  })

  test('every admitted request counts once, even if it fails', async () => {
    const { secret } = await service.createKey('free')
    await service.setQuantity(404n, '{"quantity": 1}', { key: secret })
    await service.setQuantity(1n, 'broken', { key: secret })
    expect(standingOf(await list(secret)).remaining).toBe(57)
  })

  test('windows survive a restart', async () => {
    const { secret } = await service.createKey('free')
    await send(secret, 59)
    await service.restart()
    expect(standingOf(await list(secret))).toEqual({ limit: 60, remaining: 0, reset: START / 1000 + 60 })
    expect((await list(secret)).status).toBe(429)
  })
})

describe('section 8: bans', () => {
  const limits = { perMinute: 3, perDay: 10_000 }

  test('continuing after 429 leads to a ban of 5 minutes, which then ends', async () => {
    const { secret } = await service.createKey('enterprise', { limits })
    expect((await send(secret, 4)).error.code).toBe('rate_limit_exceeded')
    service.now = START + SECOND
    expect((await send(secret, 2)).error.code).toBe('rate_limit_exceeded')
    const banned = await list(secret)
    expect([banned.status, banned.error.code]).toEqual([429, 'key_banned'])
    expect(banned.headers.get('Retry-After')).toBe('300')
    expect(standingOf(banned)).toEqual({ limit: 3, remaining: 0, reset: START / 1000 + 301 })

    service.now = START + SECOND + 5 * MINUTE - 1
    const still = await list(secret)
    expect([still.error.code, still.headers.get('Retry-After')]).toEqual(['key_banned', '1'])
    service.now = START + SECOND + 5 * MINUTE
    expect((await list(secret)).status).toBe(200)
  })

  test('requests pipelined before the first 429 count as one burst', async () => {
    const { secret } = await service.createKey('enterprise', { limits })
    const connection = await RawConnection.open(service.address)
    const request = `GET /v1/inventory HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${secret}\r\n\r\n`
    connection.send(request.repeat(15))
    const codes: unknown[] = []
    for (let sent = 0; sent < 15; sent++) {
      const { status, body } = (await connection.answer()) ?? {}
      codes.push(status === 200 ? 200 : JSON.parse(body ?? '{}').code)
    }
    expect(codes).toEqual([200, 200, 200, ...Array(12).fill('rate_limit_exceeded')])
  })
})

describe('section 8: requests without a valid key', () => {
  const knock = (headers: Record<string, string> = {}): Promise<Answer> =>
    service.call('GET', '/inventory', { key: null, headers })

  test('are counted by address: 300 a minute, then 429 with Retry-After, never a ban', async () => {
    // A key that was never seen would have to wait as well: http/address-first.test.ts.
    expect((await list(service.key)).status).toBe(200)
    for (let remaining = 299; remaining >= 0; remaining--) {
      const answer = await knock()
      expect(answer.status).toBe(401)
      expect(standingOf(answer)).toEqual({ limit: 300, remaining, reset: START / 1000 + 60 })
    }
    for (let sent = 0; sent < 350; sent++) {
      const over = await knock()
      expect([over.status, over.error.code]).toEqual([429, 'rate_limit_exceeded'])
      expect(over.headers.get('Retry-After')).toBe('60')
      expect(over.error.message).toBe(
        'the limit of 300 requests per minute is exceeded; wait 60 s before the next request',
      )
    }
    expect((await list(service.key)).status).toBe(200)
    service.now = START + MINUTE
    expect((await knock()).status).toBe(401)
  })

  test('X-Forwarded-For is ignored unless TRUST_PROXY is set', async () => {
    await knock({ 'X-Forwarded-For': '203.0.113.1' })
    expect(standingOf(await knock({ 'X-Forwarded-For': '203.0.113.2' })).remaining).toBe(298)
  })

  test('with TRUST_PROXY the address written by the proxy counts, not the one the client sent', async () => {
    await service.stop()
    service = await TestService.start({ settings: { trustProxy: 'on' } })
    await knock({ 'X-Forwarded-For': '203.0.113.1' })
    expect(standingOf(await knock({ 'X-Forwarded-For': '203.0.113.2' })).remaining).toBe(299)
    expect(standingOf(await knock({ 'X-Forwarded-For': '198.51.100.7, 203.0.113.1' })).remaining).toBe(298)
  })
})
