import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { quantityTicks } from '../../../src/staff-page/ui/charts/quantity-axis.ts'

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
