import { describe, expect, test } from 'bun:test'
import { admit, freshState } from '../../src/core/limits/rate-windows.ts'

const START = Date.UTC(2026, 10, 15, 12)
const HOUR = 3_600_000
const limits = { perMinute: 2, perDay: 100 }

describe('when the clock jumps', () => {
  test('back by an hour, a key is locked out for no longer than one window', () => {
    const state = freshState()
    admit(state, limits, START)
    admit(state, limits, START)
    const back = START - HOUR
    expect(admit(state, limits, back)).toMatchObject({
      refused: 'rate_limit_exceeded',
      resetAt: back + 60_000,
    })
    expect(admit(state, limits, back + 60_000).refused).toBeUndefined()
  })

  test('back by an hour, a ban lasts no longer than it was meant to', () => {
    const state = freshState()
    for (let sent = 0; sent < 4; sent++) admit(state, limits, START)
    const back = START - HOUR
    expect(admit(state, limits, back)).toMatchObject({ refused: 'key_banned', resetAt: back + 300_000 })
    expect(admit(state, limits, back + 300_000).refused).toBeUndefined()
  })

  test('forward by an hour and back again, the count goes on', () => {
    const state = freshState()
    admit(state, limits, START)
    admit(state, limits, START + HOUR)
    expect(admit(state, limits, START + 1).remaining).toBe(0)
    expect(admit(state, limits, START + 2).refused).toBe('rate_limit_exceeded')
  })
})

test('between whole seconds, the reset is a whole second and no more than a window ahead', () => {
  const { resetAt } = admit(freshState(), limits, START + 999)
  expect(resetAt).toBe(START + 60_000)
})
