import { expect, test } from 'bun:test'
import { laterState, readLimitState, readRetryAfter } from '../src/limit-state.ts'

const NOON = Date.UTC(2026, 10, 15, 12)

test('Retry-After is read in seconds and as a date, and ignored if it is neither', () => {
  const wait = (headers: Record<string, string>) => readRetryAfter(new Headers(headers), NOON)
  expect(wait({ 'Retry-After': '7' })).toBe(7_000)
  expect(wait({ 'Retry-After': 'Sun, 15 Nov 2026 12:00:09 GMT' })).toBe(9_000)
  expect(wait({ 'Retry-After': 'Sun, 15 Nov 2026 11:00:00 GMT' })).toBe(0)
  const byServiceClock = {
    'Retry-After': 'Sun, 15 Nov 2026 13:00:09 GMT',
    Date: 'Sun, 15 Nov 2026 13:00:00 GMT',
  }
  expect(wait(byServiceClock)).toBe(9_000)
  expect(wait({ 'Retry-After': 'soon' })).toBeUndefined()
  expect(wait({})).toBeUndefined()
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
