import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { quantityTicks } from '../../../src/staff-page/ui/charts/quantity-axis.ts'
import { stepGeometry } from '../../../src/staff-page/ui/charts/step-geometry.ts'
import { timeTicks } from '../../../src/staff-page/ui/charts/time-axis.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

test('the axis of a quantity has whole, round steps from 0 to the highest and hardly beyond', () => {
  expect(quantityTicks(0)).toEqual([0, 1])
  expect(quantityTicks(3)).toEqual([0, 1, 2, 3])
  expect(quantityTicks(7)).toEqual([0, 2, 4, 6, 8])
  expect(quantityTicks(240)).toEqual([0, 100, 200, 300])
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (highest) => {
      const ticks = quantityTicks(highest)
      const step = ticks[1] ?? 0
      expect(ticks.length).toBeGreaterThanOrEqual(2)
      expect(ticks.length).toBeLessThanOrEqual(5)
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(highest)
      expect((ticks.at(-1) ?? 0) - highest).toBeLessThanOrEqual(step)
      expect(String(step)).toMatch(/^(1|2|5)(0*|e\+\d+)$/)
    }),
  )
})

test('the axis of time has a handful of local calendar moments, whatever the span', () => {
  const from = new Date(2026, 9, 24, 22, 17, 5).getTime()
  const labelsOver = (span: number) => timeTicks(from, from + span, 6).map(({ label }) => label)
  expect(labelsOver(25 * MINUTE)).toHaveLength(5)
  expect(new Date(timeTicks(from, from + DAY, 6)[0]?.at ?? 0).getMinutes()).toBe(0)
  expect(timeTicks(from, from + 5 * DAY, 6).map(({ at }) => new Date(at).getHours())).toEqual([0, 0, 0, 0, 0])
  fc.assert(
    fc.property(
      fc.integer({ min: 5_000, max: 3_000 * DAY }),
      fc.integer({ min: 0, max: 400 * DAY }),
      (span, shift) => {
        const ticks = timeTicks(from + shift, from + shift + span, 6)
        expect(ticks.length).toBeGreaterThanOrEqual(1)
        expect(ticks.length).toBeLessThanOrEqual(8)
        for (const { at } of ticks) {
          expect(at).toBeGreaterThanOrEqual(from + shift)
          expect(at).toBeLessThanOrEqual(from + shift + span)
        }
        expect(ticks.map(({ at }) => at)).toEqual(
          [...new Set(ticks.map(({ at }) => at))].sort((a, b) => a - b),
        )
      },
    ),
  )
})

test('a step holds until the next one and the last one until the end', () => {
  const steps = [
    { at: 0, quantity: 4, note: '', mark: 'other' as const },
    { at: 50, quantity: 2, note: '', mark: 'other' as const },
  ]
  const { line, left, right, bottom, top, indexAt } = stepGeometry(steps, 100, { width: 400, height: 200 })
  const middle = (left + right) / 2
  expect(line).toBe(`M${left} ${top}H${middle}V${(top + bottom) / 2}H${right}`)
  expect([indexAt(left), indexAt(middle - 1), indexAt(middle + 1), indexAt(right), indexAt(-50)]).toEqual([
    0, 0, 1, 1, 0,
  ])
})
