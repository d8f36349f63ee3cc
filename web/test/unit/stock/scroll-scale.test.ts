import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { MAX_HEIGHT_PX, ScrollScale } from '../../../src/staff-page/stock/scroll-scale.ts'

const ROOM = 700
const MILLION = 1_000_000 * 44
const START = { scrollTop: 0, shift: 0 }
const topOf = ({ scrollTop, shift }: { scrollTop: number; shift: number }) => scrollTop + shift

test('what a browser can hold is scrolled as it is', () => {
  const scale = new ScrollScale(20_000 * 44, ROOM)
  expect(scale.height).toBe(880_000)
  expect(scale.placeOf(123_456)).toEqual({ scrollTop: 123_456, shift: 0 })
  expect(scale.follow(START, 600_000)).toEqual({ scrollTop: 600_000, shift: 0 })
})

test('the bar pulled to its end shows the last of a million rows, to its top the first, to the middle the middle', () => {
  const scale = new ScrollScale(MILLION, ROOM)
  const end = scale.height - ROOM
  expect(scale.height).toBe(MAX_HEIGHT_PX)
  expect(topOf(scale.follow(START, end))).toBe(MILLION - ROOM)
  expect(topOf(scale.follow({ scrollTop: end, shift: MILLION - MAX_HEIGHT_PX }, 0))).toBe(0)
  const middle = topOf(scale.follow(START, end / 2))
  expect(Math.abs(middle - MILLION / 2)).toBeLessThan(MILLION / 100)
})

test('a wheel goes through all rows, each step as long as it should be, and back', () => {
  const scale = new ScrollScale(200_000 * 44, ROOM)
  let place = scale.placeOf(0)
  for (let top = 600; top <= 200_000 * 44 - ROOM; top += 600) {
    place = scale.follow(place, place.scrollTop + 600)
    expect(topOf(place)).toBe(top)
  }
  for (let top = topOf(place) - 600; top > 0; top -= 600) {
    place = scale.follow(place, place.scrollTop - 600)
    expect(topOf(place)).toBe(top)
  }
})

test('every place can be gone to, and is one that the browser can scroll to', () => {
  const totals = fc.integer({ min: 0, max: 500_000_000 })
  fc.assert(
    fc.property(totals, fc.double({ min: 0, max: 1, noNaN: true }), (total, share) => {
      const scale = new ScrollScale(total, ROOM)
      const top = Math.floor(share * Math.max(0, total - ROOM))
      const place = scale.placeOf(top)
      expect(topOf(place)).toBe(top)
      expect(place.scrollTop).toBeGreaterThanOrEqual(0)
      expect(place.scrollTop).toBeLessThanOrEqual(Math.max(0, scale.height - ROOM))
      // What the browser tells of the scrolling that it was asked for changes nothing.
      expect(scale.follow(place, place.scrollTop)).toEqual(place)
    }),
    { numRuns: 2_000, examples: [[42_625_001, 0.936996433091067]] },
  )
})
