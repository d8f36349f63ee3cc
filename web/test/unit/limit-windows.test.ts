import { expect, test } from 'bun:test'
import { windowsAt, withAnswer } from '../../src/staff-page/overview/limit-windows.ts'

const MINUTE = { limit: 60, remaining: 50, reset: 1_000 }
const DAY = { limit: 1_000, remaining: 700, reset: 80_000 }

test('what an answer shows as used of the minute was used of the day as well', () => {
  const { minute, day } = withAnswer({ minute: MINUTE, day: DAY }, { limit: 60, remaining: 47, reset: 1_000 })
  expect([minute.remaining, day.remaining]).toEqual([47, 697])
})

test('an answer that was overtaken by another one changes nothing', () => {
  const windows = { minute: MINUTE, day: DAY }
  expect(withAnswer(windows, { limit: 60, remaining: 52, reset: 1_000 })).toBe(windows)
  expect(withAnswer(windows, { limit: 60, remaining: 3, reset: 940 })).toBe(windows)
})

test('a new minute begins full, and its first requests count for the day', () => {
  const { minute, day } = withAnswer({ minute: MINUTE, day: DAY }, { limit: 60, remaining: 58, reset: 1_061 })
  expect([minute.remaining, minute.reset, day.remaining]).toEqual([58, 1_061, 698])
})

test('where the day is the tighter one, an answer tells of that', () => {
  const day = { ...DAY, remaining: 5 }
  const windows = withAnswer({ minute: MINUTE, day }, { ...day, remaining: 3 })
  expect([windows.minute.remaining, windows.day.remaining]).toEqual([50, 3])
})

test('a window that is over is full again', () => {
  const windows = { minute: MINUTE, day: DAY }
  expect(windowsAt(windows, 999_000)).toEqual(windows)
  expect(windowsAt(windows, 1_000_000).minute.remaining).toBe(60)
  expect(windowsAt(windows, 1_000_000).day.remaining).toBe(700)
})
