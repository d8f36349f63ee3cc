import { afterEach, describe, expect, spyOn, test } from 'bun:test'
import { AddressWindows } from '../../src/core/limits/rate-windows.ts'

const START = Date.UTC(2026, 10, 15, 12)
const MINUTE = 60_000
const MANY_ADDRESSES = 100_000

let now = START
afterEach(() => {
  now = START
})

test('a flood of addresses is forgotten instead of growing without limit', () => {
  const windows = new AddressWindows(2, () => now)
  for (let index = 0; index < MANY_ADDRESSES; index++) windows.admit(`address ${index}`)
  windows.admit('address 99999')
  // All are live, so the oldest makes room; the newest is still counted.
  windows.admit('one more')
  expect(windows.status('address 0').remaining).toBe(2)
  expect(windows.admit('address 99999').refused).toBe('rate_limit_exceeded')
  now += MINUTE
  windows.admit('a minute later')
  expect(windows.status('one more').remaining).toBe(2)
})

test('a new address never scans the others, however many there are', () => {
  const windows = new AddressWindows(2, () => now)
  for (let index = 0; index < MANY_ADDRESSES; index++) windows.admit(`address ${index}`)
  let steps = 0
  const iterator = Object.getPrototypeOf(new Map().entries()) as Iterator<unknown>
  const next = iterator.next
  const step = spyOn(iterator, 'next').mockImplementation(function (this: Iterator<unknown>) {
    steps++
    return next.call(this)
  })
  const looks = spyOn(Map.prototype, 'forEach')
  try {
    for (let index = 0; index < 100; index++) {
      now += index
      windows.admit(`another ${index}`)
    }
  } finally {
    step.mockRestore()
    looks.mockRestore()
  }
  expect(looks).not.toHaveBeenCalled()
  // Two steps per address are constant as well.
  expect(steps).toBeLessThanOrEqual(200)
})

describe('an address is counted for a whole minute', () => {
  test('while others come and go', () => {
    const windows = new AddressWindows(2, () => now)
    for (let second = 0; second < 300; second++) {
      windows.admit(`passer-by ${second}`)
      const { remaining, refused } = windows.admit('address')
      const sent = second % 60
      expect([second, remaining, refused]).toEqual([
        second,
        Math.max(0, 1 - sent),
        sent < 2 ? undefined : 'rate_limit_exceeded',
      ])
      now += 1_000
    }
  })

  test('at any offset to the minute of others', () => {
    for (let offset = 0; offset < 120; offset += 7) {
      now = START
      const windows = new AddressWindows(1, () => now)
      windows.admit('first')
      now = START + offset * 1_000
      windows.admit('address')
      for (let second = 1; second < 60; second++) {
        now += 1_000
        windows.admit(`passer-by ${second}`)
        expect(windows.admit('address').refused).toBe('rate_limit_exceeded')
      }
      now += 1_000
      expect(windows.admit('address').refused).toBeUndefined()
    }
  })

  test('if the clock goes back by an hour, it keeps its count, for a minute at most', () => {
    const windows = new AddressWindows(1, () => now)
    windows.admit('address')
    now -= 60 * MINUTE
    expect(windows.admit('address').refused).toBe('rate_limit_exceeded')
    now += MINUTE
    expect(windows.admit('address').refused).toBeUndefined()
  })
})

test('if the clock goes back by an hour, rejected requests do not block an address for that hour', () => {
  const windows = new AddressWindows(1, () => now)
  windows.admit('address')
  now -= 60 * MINUTE
  expect(windows.admit('address')).toMatchObject({ refused: 'rate_limit_exceeded', resetAt: now + MINUTE })
  now += MINUTE / 2
  expect(windows.admit('address')).toMatchObject({
    refused: 'rate_limit_exceeded',
    resetAt: now + MINUTE / 2,
  })
  now += MINUTE / 2
  expect(windows.status('address').refused).toBeUndefined()
})

test('checking whether an address would be rejected counts nothing', () => {
  const windows = new AddressWindows(2, () => now)
  expect(windows.status('address').refused).toBeUndefined()
  expect(windows.admit('address').remaining).toBe(1)
  expect(windows.status('address').refused).toBeUndefined()
  expect(windows.admit('address').remaining).toBe(0)
  const refusal = { window: 'minute', limit: 2, remaining: 0, resetAt: START + MINUTE, at: START } as const
  expect(windows.status('address')).toEqual({ ...refusal, refused: 'rate_limit_exceeded' })
  expect(windows.status('another').refused).toBeUndefined()
  now += MINUTE
  expect(windows.status('address').refused).toBeUndefined()
})
