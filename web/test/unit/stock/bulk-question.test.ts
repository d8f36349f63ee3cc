import { expect, test } from 'bun:test'
import { bulkQuestion } from '../../../src/staff-page/stock/bulk-question.ts'

const NOW = 1_000_000_000
const free = (minuteLeft: number, dayLeft: number) => ({
  minute: { limit: 60, remaining: minuteLeft, reset: NOW / 1_000 + 20 },
  day: { limit: 1_000, remaining: dayLeft, reset: NOW / 1_000 + 7_200 },
})
const SET = { kind: 'set', amount: 0, purpose: { reason: 'corrected' } } as const

test('says how many, what it costs of the limits of the key, and how long it takes', () => {
  expect(bulkQuestion(SET, 100_028, free(59, 940), NOW)).toEqual({
    title: 'Set 100,028 pets to 0?',
    text: [
      // 59 at once, the others once the next minute begins.
      'It takes 101 requests and about 33 seconds.',
      'This key may send 60 a minute and 1,000 a day: 59 and 940 are left.',
      'It can be stopped on the way, and undone.',
    ],
    yes: 'Change 100,028',
    no: 'Do not change them',
  })
})

test.each([
  [100, free(60, 1_000), 'It takes 1 request and about a second.'],
  [40_000, free(60, 1_000), 'It takes 40 requests and about 12 seconds.'],
  // 60 in each minute to come.
  [500_000, free(10, 1_000), 'It takes 500 requests and about 9 minutes.'],
  [500_000, free(60, 400), 'It takes 500 requests and about 3 hours.'],
  [500_000, undefined, 'It takes 500 requests and about 3 minutes.'],
])('%d pets: %p', (count, limits, expected) => {
  expect(bulkQuestion(SET, count, limits, NOW).text[0]).toBe(expected)
})

test('tells that there is more to send than is left for the day, and names what is done', () => {
  const add = { ...SET, kind: 'add', amount: 1_200 } as const
  const { title, text } = bulkQuestion(add, 500_000, free(60, 400), NOW)
  expect(title).toBe('Add 1,200 to 500,000 pets?')
  expect(text[2]).toMatch(/^That is more than is left for today/)
  expect(bulkQuestion({ ...SET, kind: 'subtract', amount: 2 }, 200, undefined, NOW).title).toBe(
    'Subtract 2 from 200 pets?',
  )
})
