import { expect, test } from 'bun:test'
import { laterState, readLimitState, readRetryAfter, untilReset } from '../src/limit-state.ts'

const NOON = Date.UTC(2026, 10, 15, 12)

test('Retry-After is read in seconds and as a date, and ignored if it is neither', () => {
  const wait = (headers: Record<string, string>) => readRetryAfter(new Headers(headers), NOON)
  expect(wait({ 'Retry-After': '7' })).toBe(7_000)
  expect(wait({ 'Retry-After': 'Sun, 15 Nov 2026 12:00:09 GMT' })).toBe(9_000)
  expect(wait({ 'Retry-After': 'Sun, 15 Nov 2026 11:00:00 GMT' })).toBe(0)
  expect(wait({ 'Retry-After': 'soon' })).toBeUndefined()
  expect(wait({})).toBeUndefined()
})

test('the time until the reset uses the clock of the service, even if the local clock is wrong', () => {
  const reset = { limit: 60, remaining: 0, reset: NOON / 1000 + 30 }
  const headers = new Headers({ Date: 'Sun, 15 Nov 2026 12:00:10 GMT' })
  for (const now of [NOON - 86_400_000, NOON, NOON + 3_600_000]) {
    expect(untilReset(reset, headers, now)).toBe(20_000)
  }
  expect(untilReset(reset, new Headers(), NOON)).toBe(30_000)
})

test('a response without all three headers has no limit state', () => {
  const all = { 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1794744060' }
  expect(readLimitState(new Headers(all))).toEqual({ limit: 60, remaining: 0, reset: 1794744060 })
  expect(readLimitState(new Headers({ ...all, 'X-RateLimit-Reset': '' }))).toBeUndefined()
  expect(readLimitState(new Headers())).toBeUndefined()
})

test('a response that was overtaken does not bring back requests of the same window', () => {
  const later = { limit: 60, remaining: 53, reset: 100 }
  expect(laterState(later, { limit: 60, remaining: 54, reset: 100 })).toBe(later)
  const next = { limit: 60, remaining: 59, reset: 160 }
  expect(laterState(later, next)).toBe(next)
})
