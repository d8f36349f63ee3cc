import { expect, test } from 'bun:test'
import { ReadyHeaders } from '../../src/http/ready-headers.ts'

test('headers that are kept are those of the answer they are asked for, whoever had the one before', () => {
  const ready = new ReadyHeaders()
  const first = { ETag: '"1"' }
  const answers = [
    [first, { limit: 60, remaining: 59, resetAt: 60_000 }, 'a'],
    [first, { limit: 60, remaining: 58, resetAt: 60_000 }, 'b'],
    [first, { limit: 300, remaining: 58, resetAt: 60_000 }, 'c'],
    [{ ETag: '"2"' }, { limit: 60, remaining: 57, resetAt: 61_000 }, 'd'],
  ] as const
  for (const [own, standing, requestId] of answers) {
    const { headers } = new Response(null, { headers: ready.of(own, standing, requestId) })
    expect(Object.fromEntries(headers)).toEqual({
      etag: own.ETag,
      'x-ratelimit-limit': String(standing.limit),
      'x-ratelimit-remaining': String(standing.remaining),
      'x-ratelimit-reset': String(standing.resetAt / 1_000),
      'x-request-id': requestId,
      'x-content-type-options': 'nosniff',
    })
  }
})

test('an answer keeps its headers when the next one is made', () => {
  const ready = new ReadyHeaders()
  const standing = { limit: 60, remaining: 59, resetAt: 60_000 }
  const first = new Response(null, { headers: ready.of({}, standing, 'a') })
  ready.of({}, { ...standing, remaining: 58 }, 'b')
  expect(first.headers.get('X-RateLimit-Remaining')).toBe('59')
  expect(first.headers.get('X-Request-Id')).toBe('a')
})
