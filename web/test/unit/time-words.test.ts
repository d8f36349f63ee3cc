import { expect, test } from 'bun:test'
import { agoWords, untilWords } from '../../src/staff-page/data/time-words.ts'

const NOW = new Date(2026, 10, 15, 6, 12).getTime()
const ago = (...moment: [number, number, number, number, number]) =>
  agoWords(new Date(...moment).getTime(), NOW)

test('a moment is told in the largest unit that fits, and days are those of the calendar', () => {
  expect(agoWords(NOW - 59_000, NOW)).toBe('just now')
  expect(ago(2026, 10, 15, 6, 8)).toBe('4 minutes ago')
  expect(ago(2026, 10, 14, 10, 17)).toBe('19 hours ago')
  expect(ago(2026, 10, 14, 6, 11)).toBe('yesterday')
  expect(ago(2026, 10, 13, 18, 34)).toBe('2 days ago')
  expect(ago(2026, 9, 20, 23, 0)).toBe('26 days ago')
  expect(ago(2026, 7, 1, 0, 0)).toBe('3 months ago')
  expect(ago(2024, 7, 1, 0, 0)).toBe('2 years ago')
  expect(agoWords(NOW + 5_000, NOW)).toBe('just now')
})

test('what is to come is told in seconds, then in minutes and hours with the time of day', () => {
  expect(untilWords(NOW + 34_001, NOW)).toBe('in 35 s')
  expect(untilWords(NOW + 10 * 60_000, NOW)).toBe('in 10 min, at 06:22')
  expect(untilWords(NOW + 3 * 3_600_000 + 60_000, NOW)).toBe('in 3 h 1 min, at 09:13')
  expect(untilWords(NOW - 1_000, NOW)).toBe('in 0 s')
})
