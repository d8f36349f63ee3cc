import { describe, expect, test } from 'bun:test'
import { dayOf, daysIn, timeZoneName } from '../../src/core/reports/days.ts'
import { DAY, HOUR } from '../../src/core/values/clock.ts'

const hoursOf = (time: string, timeZone: string) => {
  const { day, since, until } = dayOf(Date.parse(time), timeZone)
  return [day, new Date(since).toISOString(), (until - since) / HOUR]
}

describe('a day', () => {
  test.each([
    ['2026-11-15T12:00:00Z', 'UTC', ['2026-11-15', '2026-11-15T00:00:00.000Z', 24]],
    ['2026-11-14T23:00:00Z', 'Europe/Berlin', ['2026-11-15', '2026-11-14T23:00:00.000Z', 24]],
    ['2026-11-14T22:59:59.999Z', 'Europe/Berlin', ['2026-11-14', '2026-11-13T23:00:00.000Z', 24]],
    // The clocks go forward at 2:00, and back at 3:00.
    ['2026-03-29T12:00:00Z', 'Europe/Berlin', ['2026-03-29', '2026-03-28T23:00:00.000Z', 23]],
    ['2026-10-25T12:00:00Z', 'Europe/Berlin', ['2026-10-25', '2026-10-24T22:00:00.000Z', 25]],
    // The clocks went forward at midnight, so the day began at 1:00.
    ['2018-11-04T12:00:00Z', 'America/Sao_Paulo', ['2018-11-04', '2018-11-04T03:00:00.000Z', 23]],
    ['2026-11-15T12:00:00Z', 'Asia/Kathmandu', ['2026-11-15', '2026-11-14T18:15:00.000Z', 24]],
  ])('at %s in %s begins with the local date', (time, timeZone, expected) => {
    expect(hoursOf(time, timeZone)).toEqual(expected)
  })

  test.each(['Europe/Berlin', 'America/Sao_Paulo', 'Africa/Cairo', 'Australia/Lord_Howe', 'UTC'])(
    'in %s follows the day before without a gap, and has the date of every time in it',
    (timeZone) => {
      const range = { since: Date.UTC(2017, 11, 31, 20, 7), until: Date.UTC(2019, 0, 2, 3) }
      const local = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
      const days = [...daysIn(range, timeZone)]
      expect(days).toHaveLength(new Set(days.map(({ day }) => day)).size)
      expect(days[0]?.since).toBe(range.since)
      expect(days.at(-1)?.until).toBe(range.until)
      for (const [index, { day, since, until }] of days.entries()) {
        expect([local.format(since), local.format(until - 1)]).toEqual([day, day])
        expect(since).toBe(days[index - 1]?.until ?? range.since)
      }
    },
  )

  test('that a time zone skips is left out', () => {
    const range = { since: Date.UTC(2011, 11, 29), until: Date.UTC(2012, 0, 1) }
    const days = [...daysIn(range, 'Pacific/Apia')]
    expect(days.map(({ day }) => day)).toEqual(['2011-12-28', '2011-12-29', '2011-12-31', '2012-01-01'])
    expect(days.reduce((sum, { since, until }) => sum + until - since, 0)).toBe(3 * DAY)
  })
})

test('a time zone has the name that IANA gives it', () => {
  expect(timeZoneName('Europe/Berlin')).toBe('Europe/Berlin')
  expect(timeZoneName('europe/berlin')).toBe('Europe/Berlin')
  for (const text of ['', 'Berlin', '+01:00', 'Europe/Berlin ', 'Mars/Olympus'])
    expect(timeZoneName(text)).toBeUndefined()
})
