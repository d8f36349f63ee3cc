import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { LimitState } from '../../src/core/limits/limit-store.ts'
import { admit, newLimitState } from '../../src/core/limits/rate-windows.ts'
import { CASE_TIME, LIMIT_CASES } from './limit-cases.ts'

const START = Date.UTC(2026, 10, 15, 12)
const HOUR = 3_600_000
const DAY = 24 * HOUR
const limits = { perMinute: 2, perDay: 100 }

test.each(LIMIT_CASES)('the window rule: $name', ({ before, limits: given, told, isPlain }) => {
  const state = structuredClone(before ?? newLimitState())
  const admissions = told.map(() => admit(state, given, CASE_TIME))
  expect(admissions.map(({ refused }) => refused ?? 'accepted')).toEqual([...told])
  // A plain case is an addition, which is all that the SQL statement does.
  const sum = structuredClone(before ?? newLimitState())
  sum.minute.used += told.length
  sum.day.used += told.length
  sum.lastUsedAt = CASE_TIME
  expect(Bun.deepEquals(state, sum)).toBe(isPlain)
})

describe('a ban', () => {
  const refusals = (state: LimitState, at: number, count: number) =>
    Array.from({ length: count }, () => admit(state, limits, at).refused)

  test('follows as many rejections as the minute allows, a second after the first rejection or later', () => {
    const state = newLimitState()
    const burst = refusals(state, START, 100)
    expect(burst).toEqual([undefined, undefined, ...Array(98).fill('rate_limit_exceeded')])
    expect(refusals(state, START + 999, 10)).toEqual(Array(10).fill('rate_limit_exceeded'))
    expect(refusals(state, START + 1_000, 2)).toEqual(['rate_limit_exceeded', 'key_banned'])
  })

  test('lasts twice as long as the previous one, up to an hour; a day without a ban resets it', () => {
    const state = newLimitState()
    let now = START
    const banned = () => {
      refusals(state, now, 3)
      now += 1_000
      refusals(state, now, 2)
      return ((state.ban?.endsAt ?? 0) - now) / 60_000
    }
    for (const minutes of [5, 10, 20, 40, 60, 60]) {
      expect(banned()).toBe(minutes)
      now += minutes * 60_000
    }
    now += DAY
    expect(banned()).toBe(5)
  })

  test('does not follow from rejections of an earlier window', () => {
    const state = newLimitState()
    refusals(state, START, 3)
    refusals(state, START + 1_000, 1)
    expect(refusals(state, START + 60_000, 10)).not.toContain('key_banned')
    expect(refusals(state, START + 61_000, 2)).toEqual(['rate_limit_exceeded', 'key_banned'])
  })

  test('that ends while the day is exhausted is followed by a warning, then by the next ban', () => {
    const state = { ...newLimitState(), day: windowUsed(START - HOUR, 100) }
    refusals(state, START, 1)
    expect(refusals(state, START + 1_000, 2)).toContain('key_banned')
    expect(refusals(state, START + 301_000, 10)).toEqual(Array(10).fill('rate_limit_exceeded'))
    expect(refusals(state, START + 302_000, 2)).toEqual(['rate_limit_exceeded', 'key_banned'])
  })

  test('does not come later because the clock was set back', () => {
    const state = newLimitState()
    refusals(state, START, 3)
    expect(refusals(state, START - HOUR, 1)).toEqual(['rate_limit_exceeded'])
    expect(refusals(state, START - HOUR + 1_000, 2)).toEqual(['rate_limit_exceeded', 'key_banned'])
  })
})

describe('when the clock jumps', () => {
  test('back by an hour, a key is blocked for no longer than one window', () => {
    const state = newLimitState()
    admit(state, limits, START)
    admit(state, limits, START)
    const back = START - HOUR
    expect(admit(state, limits, back)).toMatchObject({
      refused: 'rate_limit_exceeded',
      resetAt: back + 60_000,
    })
    expect(admit(state, limits, back + 60_000).refused).toBeUndefined()
  })

  test('back by an hour, a ban lasts no longer than intended', () => {
    const state = newLimitState()
    for (let sent = 0; sent < 3; sent++) admit(state, limits, START - 1_000)
    for (let sent = 0; sent < 2; sent++) admit(state, limits, START)
    const back = START - HOUR
    expect(admit(state, limits, back)).toMatchObject({ refused: 'key_banned', resetAt: back + 300_000 })
    expect(admit(state, limits, back + 300_000).refused).toBeUndefined()
  })

  test('forward by an hour and back again, the count continues', () => {
    const state = newLimitState()
    admit(state, limits, START)
    admit(state, limits, START + HOUR)
    expect(admit(state, limits, START + 1).remaining).toBe(0)
    expect(admit(state, limits, START + 2).refused).toBe('rate_limit_exceeded')
  })
})

test('between whole seconds, the reset is a whole second and at most one window ahead', () => {
  const { resetAt } = admit(newLimitState(), limits, START + 999)
  expect(resetAt).toBe(START + 60_000)
})

test('if both windows are full, the reset is the end of the window that ends later', () => {
  const endOfDay = {
    ...newLimitState(),
    minute: windowUsed(START, 2),
    day: windowUsed(START - DAY + 10_000, 100),
  }
  expect(admit(endOfDay, limits, START)).toMatchObject({ limit: 2, resetAt: START + 60_000 })
  const middleOfDay = { ...newLimitState(), minute: windowUsed(START, 2), day: windowUsed(START - HOUR, 100) }
  expect(admit(middleOfDay, limits, START)).toMatchObject({ limit: 100, resetAt: START - HOUR + DAY })
})

const planned = { perMinute: 2, perDay: 3 }
const seconds = (max: number) => fc.integer({ min: 0, max }).map((count) => count * 1_000)

test('the reset of a refused request is the time from which a request is admitted', () => {
  const window = (length: number) =>
    fc.record({ age: seconds(length / 1_000), used: fc.integer({ min: 0, max: 3 }) })
  fc.assert(
    fc.property(
      window(60_000),
      window(DAY),
      fc.option(seconds(3_600)),
      fc.integer({ min: 0, max: 3 }),
      (minute, day, banLeft, rejected) => {
        const state: LimitState = {
          ...newLimitState(),
          minute: {
            startedAt: START - minute.age,
            used: minute.used,
            rejected,
            firstRejectedAt: START - 1_000,
          },
          day: { startedAt: START - day.age, used: day.used, rejected, firstRejectedAt: START - 1_000 },
        }
        if (banLeft !== null) state.ban = { beganAt: START, endsAt: START + banLeft }
        const { refused, remaining, resetAt } = admit(state, planned, START)
        if (refused === undefined) return
        expect(remaining).toBe(0)
        expect(admit(structuredClone(state), planned, resetAt - 1).refused).toBeDefined()
        expect(admit(structuredClone(state), planned, resetAt).refused).toBeUndefined()
      },
    ),
    { numRuns: 1_000 },
  )
})

test('during a ban, the window that is reported is the day if it is exhausted for longer', () => {
  const ban = { beganAt: START, endsAt: START + 300_000 }
  const ofDay = { ...newLimitState(), minute: windowUsed(START, 2), day: windowUsed(START, 100), ban }
  expect(admit(ofDay, limits, START)).toMatchObject({
    window: 'day',
    limit: 100,
    resetAt: START + DAY,
    refused: 'key_banned',
  })
  const ofMinute = { ...newLimitState(), minute: windowUsed(START, 2), day: windowUsed(START, 2), ban }
  expect(admit(ofMinute, limits, START)).toMatchObject({
    window: 'minute',
    limit: 2,
    resetAt: START + 300_000,
  })
})

function windowUsed(startedAt: number, used: number) {
  return { startedAt, used, rejected: 0 }
}
